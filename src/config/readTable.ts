import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { LineCounter, parseDocument } from 'yaml'
import { ConfigError } from './configError.js'
import { isTable, type RawTable } from './layers.js'

/**
 * Reads a configuration file: YAML for `.yaml` and `.yml`, JSON for `.json`, else TOML.
 * @throws ConfigError when it can't be read or parsed. The message never quotes the file, which may hold secrets.
 */
export function readTable(file: string): RawTable {
  return parseTable(readText(file), file)
}

/** The text of a file, without a byte order mark. @throws ConfigError when it can't be read, or is not UTF-8. */
export function readText(file: string): string {
  const bytes = readBytes(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // Latin letters in UTF-16 are UTF-8, too, with a zero byte beside each.
    if (!text.includes('\0')) return text
  } catch {
    // Told below. A wrong letter would otherwise become another folder or address without a word.
  }
  throw new ConfigError([`the file ${file} is not UTF-8`])
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new ConfigError([`the file ${file} can't be read (${(error as NodeJS.ErrnoException).code})`])
  }
}

/** @param file tells the format by its extension, and is named in the mistake. @throws ConfigError. */
export function parseTable(text: string, file: string): RawTable {
  switch (extname(file).toLowerCase()) {
    case '.yaml':
    case '.yml':
      return tableOf(parseYaml(text, file), file)
    case '.json':
      return withoutSchemaKey(tableOf(parseJson(text, file), file))
    default:
      return parseToml(text, file)
  }
}

function parseToml(text: string, file: string): RawTable {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // Only the first line of the message: the rest quotes the file.
    const fault = error.message.split('\n')[0]
    throw new ConfigError([`${file}, line ${error.line}, column ${error.column}: ${fault}`])
  }
}

function parseYaml(text: string, file: string): unknown {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    // What is strange but allowed is refused by the schema, which says it in our words.
    logLevel: 'error',
    // An address without quotes is a text, not a hexadecimal number.
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'HEX' && tag.format !== 'OCT')),
  })
  const [error] = document.errors
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    const fault = error.code.toLowerCase().replaceAll('_', ' ')
    throw new ConfigError([`${file}, line ${line}, column ${col}: not YAML (${fault})`])
  }
  try {
    const value: unknown = document.toJS()
    // Throws where an alias stands in what it is an alias of: whoever walks through that never ends.
    JSON.stringify(value)
    return value
  } catch {
    throw new ConfigError([`${file}: its YAML aliases can't be resolved`])
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    assertKeysOnce(text, file)
    return value
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const position = /at position (\d+)/.exec((error as Error).message)?.[1]
    const before = position === undefined ? undefined : text.slice(0, Number(position)).split('\n')
    const at = before === undefined ? '' : `, line ${before.length}, column ${before.at(-1)!.length + 1}`
    throw new ConfigError([`${file}${at}: not JSON`])
  }
}

/** JSON lets a key stand twice and takes the last one; TOML and YAML refuse it, and so do we. */
function assertKeysOnce(text: string, file: string): void {
  const lineCounter = new LineCounter()
  const { errors } = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' })
  const double = errors.find(({ code }) => code === 'DUPLICATE_KEY')
  if (double === undefined) return
  const { line, col } = lineCounter.linePos(double.pos[0])
  throw new ConfigError([`${file}, line ${line}, column ${col}: this key stands twice`])
}

function tableOf(value: unknown, file: string): RawTable {
  // An empty YAML file, as an empty TOML file, sets nothing.
  if (value === null) return {}
  if (!isTable(value)) throw new ConfigError([`${file} does not hold a table of keys`])
  return value
}

/** Editors find the schema of a JSON file by a key in it. */
function withoutSchemaKey({ $schema: _, ...table }: RawTable): RawTable {
  return table
}
