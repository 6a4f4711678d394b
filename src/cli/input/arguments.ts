import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type ConfigKey, configKeys } from '../../config/configKeys.js'
import { flagName } from '../../config/layers.js'
import { nearestName } from '../../errors/nearestName.js'
import { UsageError } from './verb.js'

type Options = NonNullable<ParseArgsConfig['options']>

/** Flags of the configuration: `--config`, and one per key that is not a network's. */
export const configOptions: Options = {
  config: { type: 'string', short: 'c' },
  ...Object.fromEntries(
    configKeys.flatMap((key) => {
      const name = flagName(key)
      return name === undefined ? [] : [[name, { type: 'string' }]]
    }),
  ),
}

const CONFIG_HELP = 'the configuration: TOML, or YAML or JSON by its extension; also BDS_CONFIG'

/** Help lines for verbs with flags of their own, whose descriptions must start at the same column. */
export const otherFlagsHelp: readonly string[] = [
  `  --config FILE  ${CONFIG_HELP}`,
  '  and every configuration flag of `bds run --help`',
]

/** Help lines of every flag of the configuration. */
export function configFlagsHelp(): string[] {
  const flags: [name: string, description: string][] = [['config FILE', CONFIG_HELP]]
  for (const key of configKeys) {
    const name = flagName(key)
    if (name !== undefined) flags.push([`${name} ${placeholder(key)}`, key.schema.description ?? ''])
  }
  const width = Math.max(...flags.map(([name]) => name.length))
  return [
    'Flags override the environment (BDS_SECTION__KEY, BDS_NETWORKS__<network_id>__KEY), which overrides the file:',
    ...flags.map(([name, description]) => `  --${name.padEnd(width)}  ${description}`),
  ]
}

/** What help shows in place of a value. */
function placeholder({ path, schema }: ConfigKey): string {
  if (schema.enum !== undefined) return schema.enum.join('|')
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'N'
    case 'boolean':
      return 'true|false'
    case 'array':
      return 'A,B,…'
    default:
      return path.at(-1) === 'host' ? 'HOST' : path.at(-1) === 'data_dir' ? 'PATH' : 'TEXT'
  }
}

export interface Arguments {
  readonly values: Readonly<Record<string, string | undefined>>
  readonly switches: ReadonlySet<string>
  readonly words: readonly string[]
}

/**
 * Reads a verb's arguments.
 * @param mostWords how many arguments may be words instead of flags.
 * @throws UsageError for an unknown flag (naming the nearest), a flag without its value, or too many words.
 */
export function readArguments(args: readonly string[], options: Options, mostWords = 0): Arguments {
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(parseFault(error, Object.keys(options)))
  }
  const { values, positionals } = parsed
  const extra = positionals[mostWords]
  if (extra !== undefined) throw new UsageError(`unexpected argument ${extra}`)
  const entries = Object.entries(values)
  return {
    values: Object.fromEntries(entries.filter(([, value]) => typeof value === 'string')) as Record<
      string,
      string
    >,
    switches: new Set(entries.filter(([, value]) => value === true).map(([name]) => name)),
    words: positionals,
  }
}

function parseFault(error: unknown, known: readonly string[]): string {
  const { message, code } = error as NodeJS.ErrnoException
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    // For a value that looks like a flag, Node's own message takes three lines.
    const spelled = /'(--[^'=]+)=-XYZ'/.exec(message)?.[1]
    if (spelled !== undefined) return `${spelled} has no value; write one that begins with - as ${spelled}=-…`
    const last = /(--\S+) <value>' argument missing/.exec(message)?.[1]
    return last === undefined ? message : `${last} has no value`
  }
  const flag = /'(--[^'=]+)/.exec(message)?.[1]
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || flag === undefined) return message
  const nearest = nearestName(flag.slice(2), known)
  return `unknown flag ${flag}${nearest === undefined ? '' : `: did you mean --${nearest}?`}`
}
