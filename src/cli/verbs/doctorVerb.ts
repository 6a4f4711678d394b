import type { Config } from '../../config/config.types.js'
import { ConfigError } from '../../config/configError.js'
import { type ConfigInputs, isConfigured, loadConfig } from '../../config/load.js'
import { exitCodes } from '../../service/exitCodes.js'
import type { Logger } from '../../telemetry/logger.js'
import { publicJson, publicLines } from '../../telemetry/visibleText.js'
import { type Arguments, configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { configuredUrl } from '../input/configuredUrl.js'
import { UsageError, type Verb } from '../input/verb.js'
import { implausible } from './configCheck.js'
import {
  type Check,
  clusterChecks,
  folderChecks,
  limitChecks,
  machineChecks,
  portChecks,
} from './doctorChecks.js'

/** Longest time for all checks of one endpoint. */
const PROBE_TIMEOUT_MS = 60_000

interface Line {
  readonly what: string
  readonly outcome: 'ok' | 'warn' | 'fail'
  readonly detail: string
}

/** `bds doctor`: checks whether this machine can run the service and what the endpoints can do, one line per check. */
export const doctor: Verb = {
  help: [
    'Usage: bds doctor [--config FILE] [--offline] [--e2e] [--url URL] [--json] [flags]',
    '',
    'Checks Node, the native addons, the wasm module and limits; with a configuration also the data folder, its disk and stores, the ports,',
    'and every RPC endpoint: chain, contracts and whether they name each other, state at a block, finality tag, logs by block',
    "hash, how logs are numbered, range of logs, batches, call traces, new heads where it has a ws_url, this machine's clock, old state; in",
    'a cluster each NATS server. Endpoints are named by their alias. Ends with 1 when a check fails; a warning is about something that the service can do without.',
    '',
    '  --offline      ask no endpoint and no NATS server',
    '  --e2e          besides, with the running service: have the bridge of its destination check the proof of the newest deposit of',
    '                 each network, by a call that changes nothing',
    '  --url URL      address of the API for --e2e; default http.host and http.port of the configuration',
    '  --json         one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, switches } = readArguments(args, {
      ...configOptions,
      offline: { type: 'boolean' },
      e2e: { type: 'boolean' },
      url: { type: 'string' },
      json: { type: 'boolean' },
    })
    if (switches.has('e2e') && !isConfigured(values.config))
      throw new UsageError('--e2e needs a configuration: it asks the endpoints')
    const lines: Line[] = []
    const report = (line: Line): void => {
      lines.push(line)
      if (!switches.has('json'))
        console.log(publicLines(`${words[line.outcome].padEnd(6)}${line.what}: ${line.detail}`))
    }
    const runAll = async (checks: readonly Check[]): Promise<void> => {
      for (const check of checks) report(await lineOf(check))
    }
    if (isConfigured(values.config)) {
      let config: Config | undefined
      const configuration = (): Awaited<ReturnType<Check['run']>> => {
        const inputs = { file: values.config, flags: values }
        // An example or a mistyped address is a fault that the other checks go on under.
        config = loadIfPossible(inputs)
        const checked = loadConfig({ ...inputs, alsoCheck: implausible })
        const networks = checked.config.networks.map(({ networkId }) => networkId).join(', ')
        return { outcome: 'ok', detail: `networks ${networks}` }
      }
      // First, since it says which HTTP server is checked.
      await runAll([{ what: 'configuration', run: configuration }])
      await runAll(machineChecks(config))
      await runAll(limitChecks(config))
      if (config !== undefined) {
        await runAll(folderChecks(config))
        await runAll(portChecks(config))
        if (!switches.has('offline')) {
          await runAll(clusterChecks(config))
          await probeAll(config, report)
        }
        if (switches.has('e2e')) await runAll(await endToEnd(config, values))
      }
    } else await runAll([...machineChecks(undefined), ...limitChecks(undefined)])
    const isWell = lines.every(({ outcome }) => outcome !== 'fail')
    if (switches.has('json')) console.log(publicJson({ is_well: isWell, checks: lines }))
    return isWell ? exitCodes.ok : exitCodes.failure
  },
}

const words: Readonly<Record<Line['outcome'], string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL' }

async function lineOf({ what, run }: Check): Promise<Line> {
  try {
    return { what, ...(await run()) }
  } catch (error) {
    return { what, outcome: 'fail', detail: faultText(error) }
  }
}

function loadIfPossible(inputs: ConfigInputs): Config | undefined {
  try {
    return loadConfig(inputs).config
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

async function endToEnd(config: Config, values: Arguments['values']): Promise<Check[]> {
  const { endToEndChecks } = await import('./endToEndCheck.js')
  const url = values.url ?? configuredUrl('http', values)
  if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address`)
  return endToEndChecks({ config, url, logger: await quietLogger() })
}

async function quietLogger(): Promise<Logger> {
  const { createLogger } = await import('../../telemetry/logger.js')
  return createLogger({ level: 'error', format: 'json' }, { component: 'doctor' })
}

async function probeAll(config: Config, report: (line: Line) => void): Promise<void> {
  const { openEndpoint } = await import('../../chain/probe/openEndpoint.js')
  const { probeEndpoint } = await import('../../chain/probe/probeEndpoint.js')
  const { endpointChecks } = await import('./endpointChecks.js')
  const logger = await quietLogger()
  for (const network of config.networks)
    for (const [position, { alias }] of network.rpc.entries()) {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
      try {
        const endpoint = openEndpoint(network, position, logger)
        const findings = await probeEndpoint(network, position, endpoint, signal)
        for (const { what, ...finding } of findings) report({ what: `${alias}, ${what}`, ...finding })
        const showsHead = findings.some(({ what, outcome }) => what === 'head' && outcome === 'ok')
        if (!showsHead) continue
        for (const check of endpointChecks(network, endpoint, signal)) report(await lineOf(check))
      } catch (error) {
        const detail = signal.aborted ? `not finished after ${PROBE_TIMEOUT_MS / 1000} s` : faultText(error)
        report({ what: alias, outcome: 'fail', detail })
      }
    }
}

function faultText(error: unknown): string {
  if (error instanceof ConfigError && error.mistakes.length > 1)
    return [error.message, ...error.mistakes].join('\n        - ')
  if (error instanceof ConfigError) return error.mistakes.join()
  return error instanceof Error ? error.message : String(error)
}
