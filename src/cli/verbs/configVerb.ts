import { loadConfig } from '../../config/load.js'
import { renderDefault, renderLoaded } from '../../config/render.js'
import { exitCodes } from '../../service/exitCodes.js'
import { visibleLines } from '../../telemetry/visibleText.js'
import { configFlagsHelp, configOptions, readArguments } from '../input/arguments.js'
import { UsageError, type Verb } from '../input/verb.js'
import { assertPlausible } from './configCheck.js'

/** `bds config check|print|default`. */
export const config: Verb = {
  help: [
    'Usage: bds config check [--config FILE] [flags]     list every mistake, or say that there is none',
    '       bds config print [--config FILE] [flags]     the values in force with their sources; secrets are hidden',
    '       bds config default                           a file with every key, to start from',
    '',
    ...configFlagsHelp(),
  ].join('\n'),
  async run(args) {
    const { words, values } = readArguments(args, configOptions, 1)
    const [action] = words
    if (action === 'default') {
      process.stdout.write(renderDefault())
      return exitCodes.ok
    }
    if (action !== 'check' && action !== 'print')
      throw new UsageError('expected bds config check, bds config print or bds config default')
    const loaded = loadConfig({ file: values.config, flags: values })
    if (action === 'check') assertPlausible(loaded)
    const networks = loaded.config.networks.map(({ networkId }) => networkId).join(', ')
    process.stdout.write(
      action === 'print'
        ? visibleLines(renderLoaded(loaded))
        : `the configuration is fine: networks ${networks}; bds doctor checks the endpoints, too\n`,
    )
    return exitCodes.ok
  },
}
