import { loadConfig } from '../../config/load.js'
import { runService } from '../../service/main.js'
import { configFlagsHelp, configOptions, readArguments } from '../input/arguments.js'
import type { Verb } from '../input/verb.js'

/** `bds run`: indexes the configured networks and serves the API until a signal comes. */
export const run: Verb = {
  help: [
    'Usage: bds run --config FILE [flags]',
    '',
    'Prints one line when it listens, one for each network that has caught up, and "network N waits: …" when an endpoint serves',
    'another chain or does not know the contract (yet). Log lines go to standard error.',
    'SIGTERM: readiness fails, the port closes after http.drain_delay_ms, then everything closes in order; exit code 0.',
    'SIGHUP: log level, rate limits, API keys and endpoints are read again; where standard input is a terminal: as SIGTERM.',
    'Ctrl-C does the same without the delay; a second signal ends the process at once.',
    '',
    ...configFlagsHelp(),
  ].join('\n'),
  async run(args) {
    const { values } = readArguments(args, configOptions)
    const load = () => loadConfig({ file: values.config, flags: values })
    return runService(load(), load)
  },
}
