import { exitCodes } from '../../service/exitCodes.js'
import { publicJson, visibleLines } from '../../telemetry/visibleText.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { configuredUrl } from '../input/configuredUrl.js'
import { UsageError, type Verb } from '../input/verb.js'

const LONGEST_WAIT_MS = 3_000

/** `bds health`: for the health check of a container, so that the image needs no curl. */
export const health: Verb = {
  help: [
    'Usage: bds health [--url URL | --config FILE] [--json] [flags]',
    '',
    'Asks a health or readiness URL, prints the answer, and ends with 0 for HTTP 200 and 5 for anything else.',
    '',
    '  --url URL      what to ask; default / at ops.host and ops.port of the configuration, or without one at',
    '                 127.0.0.1:9091',
    '  --json         one JSON document: the HTTP status, null where nothing answers, and the answer',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, switches } = readArguments(args, {
      ...configOptions,
      url: { type: 'string' },
      json: { type: 'boolean' },
    })
    const url = values.url ?? `${configuredUrl('ops', values)}/`
    if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address`)
    const found = await ask(url)
    if (switches.has('json'))
      console.log(publicJson({ status: found?.status ?? null, answer: parsed(found?.text) }))
    else if (found !== undefined) console.log(visibleLines(found.text))
    if (found === undefined) {
      const { origin, pathname } = new URL(url)
      console.error(`bds: ${origin}${pathname} does not answer`)
    }
    return found?.status === 200 ? exitCodes.ok : exitCodes.unhealthy
  },
}

/** @returns undefined when nothing answers in time. */
async function ask(url: string): Promise<{ readonly status: number; readonly text: string } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT_MS) })
    return { status: response.status, text: await response.text() }
  } catch {
    return undefined
  }
}

/** JSON as what it says, any other text as it is. */
function parsed(text = 'null'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
