import type { ClusterServers } from '../../cluster/clusterServers.js'
import { findHead } from '../../cluster/headBoard.js'
import { findHolder, takeAway } from '../../cluster/lease.js'
import type { Config } from '../../config/config.types.js'
import { loadConfig } from '../../config/load.js'
import { OperatorError } from '../../errors/operatorError.js'
import { openServers } from '../../member/servers.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import { exitCodes } from '../../service/exitCodes.js'
import { systemClock } from '../../telemetry/clocks.js'
import { createLogger } from '../../telemetry/logger.js'
import { publicJson, publicLines, visibleText } from '../../telemetry/visibleText.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { readNumber } from '../input/readNumber.js'
import { UsageError, type Verb } from '../input/verb.js'

const MOST_ID = 2 ** 32 - 1
/** Longest time for all questions to the servers. */
const LONGEST_MS = 15_000

/** `bds cluster`: what the servers of a cluster know, and a change of who leads. */
export const cluster: Verb = {
  help: [
    'Usage: bds cluster status --config FILE [--json] [flags]',
    '       bds cluster step-down --config FILE [--network N] [flags]',
    '',
    'status     which instance leads each network, the length of its log, and the head that was told last',
    'step-down  takes the lease of a network, or of all, from the instance that leads: another one with role `any` goes on',
    '           within a second. Where there is none, the same one does',
    '',
    'Both ask the NATS servers of the configuration, and end with 5 when those do not answer. Like an instance that starts, they make',
    'the logs and buckets that are not there yet.',
    '',
    '  --network N    one network only',
    '  --json         one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run([action, ...args]) {
    if (action !== 'status' && action !== 'step-down')
      throw new UsageError(`${action ?? 'nothing'} is not one of status, step-down`)
    const { values, switches } = readArguments(args, {
      ...configOptions,
      network: { type: 'string' },
      json: { type: 'boolean' },
    })
    const { config } = loadConfig({ file: values.config, flags: values })
    if (config.cluster === undefined)
      throw new OperatorError('cluster.servers is empty: this configuration is of a service that is alone')
    const networkIds = chosen(config, values)
    const signal = AbortSignal.timeout(LONGEST_MS)
    const logger = createLogger({ level: 'error', format: 'json' }, { component: 'cluster' })
    const servers = openServers(config.cluster, logger)
    try {
      const report = action === 'status' ? standings : stepDown
      const rows = await report(servers, networkIds, signal)
      console.log(
        switches.has('json') ? publicJson({ networks: rows }) : publicLines(rows.map(lineOf).join('\n')),
      )
      return exitCodes.ok
    } catch (error) {
      if (!signal.aborted) throw error
      console.error(`bds: no NATS server has answered for ${LONGEST_MS / 1000} s`)
      return exitCodes.unhealthy
    } finally {
      await servers.close()
    }
  },
}

interface Row {
  readonly network_id: number
  /** Name of the instance that leads, and a part that each of its starts has of its own; null: nobody. */
  readonly leads: string | null
  readonly [field: string]: string | number | boolean | null
}

async function standings(
  servers: ClusterServers,
  networkIds: readonly NetworkId[],
  signal: AbortSignal,
): Promise<Row[]> {
  const leases = await servers.openKeyBoard('leases', signal)
  const heads = await servers.openKeyBoard('heads', signal)
  const rows: Row[] = []
  for (const networkId of networkIds) {
    const log = await servers.openLogStream(networkId, signal)
    const { first, last } = await log.bounds(signal)
    const note = await findHead(heads, networkId, signal)
    rows.push({
      network_id: networkId,
      leads: (await findHolder(leases, String(networkId), signal)) ?? null,
      log_first: first,
      log_last: last,
      holder_log_sequence: note?.sequence ?? null,
      head: note?.head ?? null,
      has_caught_up: note?.hasCaughtUp ?? null,
      is_rpc_down: note?.isRpcDown ?? null,
    })
  }
  return rows
}

async function stepDown(
  servers: ClusterServers,
  networkIds: readonly NetworkId[],
  signal: AbortSignal,
): Promise<Row[]> {
  const leases = await servers.openKeyBoard('leases', signal)
  const rows: Row[] = []
  for (const networkId of networkIds) {
    const before = await takeAway(leases, String(networkId), systemClock, signal)
    rows.push({ network_id: networkId, leads: null, led_before: before ?? null })
  }
  return rows
}

function lineOf({ network_id, leads, ...rest }: Row): string {
  const facts = Object.entries(rest).map(([name, value]) => `${name} ${visibleText(String(value ?? '-'))}`)
  const whom = 'led_before' in rest ? '' : ` leads ${visibleText(leads ?? 'nobody')},`
  return `network ${network_id}:${whom} ${facts.join(', ')}`
}

/** @throws UsageError for a network that is not configured. */
function chosen(config: Config, values: Readonly<Record<string, string | undefined>>): NetworkId[] {
  const all = config.networks.map(({ networkId }) => asNetworkId(networkId))
  if (values.network === undefined) return all
  const networkId = asNetworkId(readNumber(values, 'network', undefined, MOST_ID))
  if (!all.includes(networkId)) throw new UsageError(`network ${networkId} is not configured`)
  return [networkId]
}
