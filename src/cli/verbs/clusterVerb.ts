import type { ClusterServers } from '../../cluster/clusterServers.js'
import { findHead } from '../../cluster/headBoard.js'
import { findHolder, takeAway } from '../../cluster/lease.js'
import type { ClusterConfig, Config } from '../../config/config.types.js'
import { loadConfig } from '../../config/load.js'
import { OperatorError } from '../../errors/operatorError.js'
import { openServers } from '../../member/servers.js'
import { SnapshotSets } from '../../member/snapshotSets.js'
import { takeSnapshot, takeSnapshotLease } from '../../member/takeSnapshot.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import { exitCodes } from '../../service/exitCodes.js'
import { lockFolder } from '../../store/folder/folderLock.js'
import { systemClock } from '../../telemetry/clocks.js'
import { createLogger } from '../../telemetry/logger.js'
import { publicJson, publicLines, visibleText } from '../../telemetry/visibleText.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { ProgressLine } from '../input/progressBar.js'
import { readNumber } from '../input/readNumber.js'
import { UsageError, type Verb } from '../input/verb.js'

const MOST_ID = 2 ** 32 - 1
/** Longest time for all questions to the servers. */
const LONGEST_MS = 15_000
/** A snapshot of large stores takes minutes; an instance that was killed while it made one holds others up for five. */
const LONGEST_SNAPSHOT_MS = 3_600_000

/** `bds cluster`: what the servers of a cluster know, and a change of who leads. */
export const cluster: Verb = {
  help: [
    'Usage: bds cluster status --config FILE [--json] [flags]',
    '       bds cluster step-down --config FILE [--network N] [flags]',
    '       bds cluster snapshot --config FILE [flags]',
    '',
    'status     which instance leads each network, the length of its log, and the head that was told last',
    'step-down  takes the lease of a network, or of all, from the instance that leads: another one with role `any` goes on',
    '           within a second. Where there is none, the same one does',
    'snapshot   copies the stores of this instance, also while it runs, into the object store of the servers, network 0 last, reads',
    '           them back and verifies them: new instances begin with them. It needs free space for all stores in data_dir',
    '',
    'All ask the NATS servers of the configuration, and end with 5 when those do not answer. Like an instance that starts, they make',
    'the logs and buckets that are not there yet.',
    '',
    '  --network N    one network only',
    '  --json         one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run([action, ...args]) {
    if (action !== 'status' && action !== 'step-down' && action !== 'snapshot')
      throw new UsageError(`${action ?? 'nothing'} is not one of status, step-down, snapshot`)
    const { values, switches } = readArguments(args, {
      ...configOptions,
      network: { type: 'string' },
      json: { type: 'boolean' },
    })
    const { config } = loadConfig({ file: values.config, flags: values })
    if (config.cluster === undefined)
      throw new OperatorError('cluster.servers is empty: this configuration is of a service that is alone')
    const networkIds = chosen(config, values)
    const longestMs = action === 'snapshot' ? LONGEST_SNAPSHOT_MS : LONGEST_MS
    const signal = AbortSignal.timeout(longestMs)
    const logger = createLogger({ level: 'error', format: 'json' }, { component: 'cluster' })
    const servers = openServers(config.cluster, logger)
    try {
      const report = action === 'step-down' ? await stepDown(servers, networkIds, signal) : undefined
      if (action === 'snapshot') await makeSnapshot(config, config.cluster, servers, signal)
      const found = report ?? (await standings(servers, networkIds, signal))
      console.log(switches.has('json') ? publicJson(found) : publicLines(linesOf(found)))
      return exitCodes.ok
    } catch (error) {
      if (!signal.aborted) throw error
      console.error(`bds: no NATS server has answered for ${longestMs / 1000} s`)
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

interface Report {
  readonly networks: readonly Row[]
  /** Verified ones, newest first. */
  readonly snapshots?: readonly {
    readonly id: string
    readonly made_at: string
    readonly made_by: string
    /** By network. */
    readonly log_sequence: Readonly<Record<string, number>>
    /** In the object store, by network. */
    readonly bytes: Readonly<Record<string, number>>
  }[]
}

async function openSets(servers: ClusterServers, signal: AbortSignal): Promise<SnapshotSets> {
  const board = await servers.openKeyBoard('leases', signal)
  return new SnapshotSets(board, await servers.openObjectStore(signal), systemClock)
}

async function makeSnapshot(
  config: Config,
  { instance }: ClusterConfig,
  servers: ClusterServers,
  signal: AbortSignal,
): Promise<void> {
  const lock = lockFolder(config.dataDir, 'read')
  const progress = new ProgressLine()
  try {
    const lease = await takeSnapshotLease(await servers.openKeyBoard('leases', signal), instance, signal)
    try {
      await takeSnapshot({
        ...{ config, maker: instance, sets: await openSets(servers, signal) },
        hasher: createHasher(compileMerkleModule()),
        signal: AbortSignal.any([signal, lease.ended]),
        onProgress: (share, what) => progress.show(share, what),
      })
    } finally {
      await lease.release()
    }
  } finally {
    progress.clear()
    lock.release()
  }
}

async function standings(
  servers: ClusterServers,
  networkIds: readonly NetworkId[],
  signal: AbortSignal,
): Promise<Report> {
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
  const sets = await (await openSets(servers, signal)).list(signal)
  return {
    networks: rows,
    snapshots: sets.map(({ id, madeAtMs, maker, sequences, bytes }) => ({
      id,
      made_at: new Date(madeAtMs).toISOString(),
      made_by: maker,
      log_sequence: sequences,
      bytes,
    })),
  }
}

async function stepDown(
  servers: ClusterServers,
  networkIds: readonly NetworkId[],
  signal: AbortSignal,
): Promise<Report> {
  const leases = await servers.openKeyBoard('leases', signal)
  const rows: Row[] = []
  for (const networkId of networkIds) {
    const before = await takeAway(leases, String(networkId), systemClock, signal)
    rows.push({ network_id: networkId, leads: null, led_before: before ?? null })
  }
  return { networks: rows }
}

function linesOf({ networks, snapshots }: Report): string {
  const lines = networks.map(lineOf)
  for (const { id, made_at, made_by, log_sequence, bytes } of snapshots ?? []) {
    const places = Object.entries(log_sequence).map(([network, sequence]) => `${network}:${sequence}`)
    const total = Object.values(bytes).reduce((sum, each) => sum + each, 0)
    lines.push(
      `snapshot ${id}: of ${made_at} by ${visibleText(made_by)}, ${total} bytes, log ${places.join(' ')}`,
    )
  }
  if (snapshots?.length === 0) lines.push('no snapshot')
  return lines.join('\n')
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
