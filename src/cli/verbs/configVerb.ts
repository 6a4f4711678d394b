import { writeFileSync } from 'node:fs'
import { ConfigError } from '../../config/configError.js'
import { fileSchema } from '../../config/fileSchema.js'
import { importConfig, importers } from '../../config/importConfig.js'
import { type LoadedConfig, loadConfig } from '../../config/load.js'
import {
  describeLoaded,
  endpointVariable,
  renderDefault,
  renderImported,
  renderLoaded,
} from '../../config/render.js'
import { OperatorError } from '../../errors/operatorError.js'
import { type ExitCode, exitCodes } from '../../service/exitCodes.js'
import { publicJson, visibleLines, visibleText } from '../../telemetry/visibleText.js'
import { type Arguments, configFlagsHelp, configOptions, readArguments } from '../input/arguments.js'
import { UsageError, type Verb } from '../input/verb.js'
import { implausible } from './configCheck.js'

/** `bds config check|print|default|schema|import`. */
export const config: Verb = {
  help: [
    'Usage: bds config check [--config FILE] [--json] [flags]   list every mistake, or say that there is none',
    '       bds config print [--config FILE] [--json] [flags]   the values in force with their sources; secrets are hidden',
    '       bds config default                           a file with every key, to start from',
    '       bds config schema                            JSON Schema of the file, for editors',
    '       bds config import FILE --from aggkit|zkevm-bridge [--to FILE]',
    "                                                    our file from another service's. With --to, the addresses of its",
    '                                                    endpoints are written into that new file, which only you can read;',
    '                                                    without, variables stand in their place',
    '',
    ...configFlagsHelp(),
  ].join('\n'),
  async run(args) {
    const options = {
      ...configOptions,
      from: { type: 'string' },
      to: { type: 'string' },
      json: { type: 'boolean' },
    } as const
    const { words, values, switches } = readArguments(args, options, 2)
    const [action, file] = words
    if (file !== undefined && action !== 'import') throw new UsageError(`unexpected argument ${file}`)
    switch (action) {
      case 'default':
        process.stdout.write(renderDefault())
        return exitCodes.ok
      case 'schema':
        process.stdout.write(`${JSON.stringify(fileSchema(), null, 2)}\n`)
        return exitCodes.ok
      case 'import':
        return importFile(file, values)
      case 'check':
        return check(values, switches.has('json'))
      case 'print':
        print(loadConfig({ file: values.config, flags: values }), switches.has('json'))
        return exitCodes.ok
      default:
        throw new UsageError('expected bds config check, print, default, schema or import')
    }
  },
}

function print(loaded: LoadedConfig, isJson: boolean): void {
  process.stdout.write(
    isJson ? `${publicJson(describeLoaded(loaded))}\n` : visibleLines(renderLoaded(loaded)),
  )
}

function check(values: Arguments['values'], isJson: boolean): ExitCode {
  try {
    const { config } = loadConfig({ file: values.config, flags: values, alsoCheck: implausible })
    const networks = config.networks.map(({ networkId }) => networkId)
    const told = `the configuration is fine: networks ${networks.join(', ')}; bds doctor checks the endpoints, too`
    console.log(isJson ? publicJson({ is_valid: true, mistakes: [], networks }) : told)
    return exitCodes.ok
  } catch (error) {
    if (!isJson || !(error instanceof ConfigError)) throw error
    console.log(publicJson({ is_valid: false, mistakes: error.mistakes, networks: [] }))
    return exitCodes.config
  }
}

function importFile(file: string | undefined, { from, to }: Arguments['values']): ExitCode {
  if (file === undefined || from === undefined || !isImporter(from))
    throw new UsageError(`expected bds config import FILE --from ${Object.keys(importers).join('|')}`)
  const imported = importConfig(from, file)
  if (to === undefined) {
    process.stdout.write(visibleLines(renderImported(imported, false)))
    const variables = imported.table.networks.map((_, position) => endpointVariable(position))
    console.error(
      `bds: set ${variables.join(' and ')} in the environment, or use --to FILE to have the addresses in the file`,
    )
    return exitCodes.ok
  }
  try {
    writeFileSync(to, visibleLines(renderImported(imported, true)), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new OperatorError(`${to} can't be written (${(error as NodeJS.ErrnoException).code})`)
  }
  for (const note of imported.notes) console.error(visibleText(`bds: ${note}`))
  console.log(visibleText(`wrote ${to}; next: bds config check --config ${to}`))
  return exitCodes.ok
}

function isImporter(name: string): name is keyof typeof importers {
  return Object.hasOwn(importers, name)
}
