import { configOptions, readArguments, UsageError } from './arguments.js'
import { configFlagsHelp } from './config.js'
import { configuredUrl } from './configuredUrl.js'
import { exitCodes } from './exitCodes.js'
import type { Verb } from './verb.js'

const DEFAULT_URL = 'http://127.0.0.1:9091/'
const LONGEST_WAIT_MS = 3_000

/** `bds health`: for the health check of a container, which needs no curl in the image then. */
export const health: Verb = {
  help: [
    'Usage: bds health [--url URL | --config FILE] [flags]',
    '',
    'Asks a health or readiness URL, prints the answer, and ends with 0 for HTTP 200 and 5 for anything else.',
    '',
    '  --url URL  what to ask; else ops.host and ops.port of a configuration that is given by --config or flags,',
    `             else ${DEFAULT_URL}`,
    '',
    ...configFlagsHelp(),
  ].join('\n'),
  async run(args) {
    const { values } = readArguments(args, { ...configOptions, url: { type: 'string' } })
    const isConfigured = Object.keys(values).length > 0
    const url = values.url ?? (isConfigured ? `${configuredUrl('ops', values)}/` : DEFAULT_URL)
    if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address`)
    let response: Response
    try {
      response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT_MS) })
    } catch {
      console.error(`bds: ${url} does not answer`)
      return exitCodes.unhealthy
    }
    console.log(await response.text())
    return response.status === 200 ? exitCodes.ok : exitCodes.unhealthy
  },
}
