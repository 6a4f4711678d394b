import { exitCodes } from '../../service/exitCodes.js'
import { visibleLines } from '../../telemetry/visibleText.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { configuredUrl } from '../input/configuredUrl.js'
import { UsageError, type Verb } from '../input/verb.js'

const LONGEST_WAIT_MS = 3_000

/** `bds health`: for the health check of a container, so that the image needs no curl. */
export const health: Verb = {
  help: [
    'Usage: bds health [--url URL | --config FILE] [flags]',
    '',
    'Asks a health or readiness URL, prints the answer, and ends with 0 for HTTP 200 and 5 for anything else.',
    '',
    '  --url URL      what to ask; default / at ops.host and ops.port of the configuration, or without one at',
    '                 127.0.0.1:9091',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values } = readArguments(args, { ...configOptions, url: { type: 'string' } })
    const url = values.url ?? `${configuredUrl('ops', values)}/`
    if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address`)
    let response: Response
    try {
      response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT_MS) })
    } catch {
      const { origin, pathname } = new URL(url)
      console.error(`bds: ${origin}${pathname} does not answer`)
      return exitCodes.unhealthy
    }
    console.log(visibleLines(await response.text()))
    return response.status === 200 ? exitCodes.ok : exitCodes.unhealthy
  },
}
