import { Counter, Gauge, type Registry } from 'prom-client'
import { haltReasons } from '../board/haltReason.js'
import { type StatusBoardHandle, type StatusRow, statusRow } from '../board/statusBoard.js'
import { monotonicMs, unixMs } from '../telemetry/clocks.js'
import { headAgeSeconds, lagBlocks, lagSeconds, logAgeMs, snapshotAgeMs } from './healthSample.js'

interface NetworkGauge {
  readonly name: string
  readonly help: string
  /** undefined = not known yet: then the series is left out. */
  read(row: StatusRow, nowMs: number, startedAtMs: number): number | undefined
}

/** One number of the status board each, with the label `network_id`. */
const networkGauges: readonly NetworkGauge[] = [
  {
    name: 'bds_chain_head_block',
    help: 'Newest block that an endpoint has reported',
    read: (row) => row.get('headBlock'),
  },
  {
    name: 'bds_indexed_block',
    help: 'Last block whose data is stored',
    read: (row) => row.get('syncedBlock'),
  },
  {
    name: 'bds_finalized_block',
    help: 'Newest block that counts as final',
    read: (row) => row.get('finalizedBlock'),
  },
  { name: 'bds_lag_blocks', help: 'Blocks behind the head', read: lagBlocks },
  {
    name: 'bds_lag_seconds',
    help: 'Chain time between the head and the last stored block',
    read: lagSeconds,
  },
  {
    name: 'bds_seconds_since_progress',
    help: 'Seconds since the last commit, or since the start',
    read: (row, nowMs, startedAtMs) => Math.max(0, (nowMs - (row.get('progressMs') ?? startedAtMs)) / 1000),
  },
  {
    name: 'bds_head_age_seconds',
    help: 'Seconds since the timestamp of the newest block',
    read: (row) => headAgeSeconds(row, unixMs()),
  },
  {
    name: 'bds_caught_up',
    help: '1 once the network has been in sync with its head',
    read: (row) => row.get('caughtUp'),
  },
  { name: 'bds_deposits_indexed', help: 'Deposits stored', read: (row) => row.get('depositCount') },
  {
    name: 'bds_contract_deposits',
    help: 'Deposits that the bridge contract counts',
    read: (row) => row.get('contractDepositCount'),
  },
  {
    name: 'bds_contracts_compared',
    help: '1 while what is stored is compared with the contracts, 0 while no endpoint answers such calls or its answers are disputed',
    read: (row) => row.get('contractsCompared'),
  },
  { name: 'bds_claims_indexed', help: 'Claims stored', read: (row) => row.get('claimCount') },
  {
    name: 'bds_unresolved_senders',
    help: 'Deposits and claims whose sender is not known yet',
    read: (row) => row.get('unresolvedSenders'),
  },
  {
    name: 'bds_provisional_senders',
    help: 'Deposits and claims that show tx.from as their caller until a call trace is available',
    read: (row) => row.get('provisionalSenders'),
  },
  {
    name: 'bds_unknown_senders',
    help: 'Deposits and claims whose senders are null because no endpoint knows their transaction',
    read: (row) => row.get('unknownSenders'),
  },
  {
    name: 'bds_info_tree_leaves',
    help: 'Leaves of the L1 info tree',
    read: (row) => row.get('l1InfoLeafCount'),
  },
  { name: 'bds_rpc_down', help: '1 while no endpoint answers', read: (row) => row.get('rpcDown') },
  {
    name: 'bds_bridge_emergency_state',
    help: '1 while the bridge is in emergency state',
    read: (row) => row.get('emergencyState'),
  },
  {
    name: 'bds_lmdb_bytes',
    help: 'Bytes of the store that are in use',
    read: (row) => row.get('storeBytes'),
  },
]

/** The same for a service in a cluster. */
const clusterGauges: readonly NetworkGauge[] = [
  {
    name: 'bds_cluster_leads',
    help: '1 while this instance reads the chain for its cluster',
    read: (row) => row.get('leads'),
  },
  {
    name: 'bds_cluster_log_sequence',
    help: 'Message of the log up to which all is stored here',
    read: (row) => row.get('logSequence'),
  },
  {
    name: 'bds_cluster_log_end',
    help: 'Last message that the log is known to have',
    read: (row) => row.get('logEnd'),
  },
  {
    name: 'bds_cluster_lag_seconds',
    help: 'Time that what is stored here is behind the log, at most',
    read: (row) => row.get('logLagMs') / 1000,
  },
  {
    name: 'bds_cluster_seconds_since_answer',
    help: 'Seconds since the servers last told the end of the log',
    read: (row, nowMs) => {
      const ageMs = logAgeMs(row, nowMs)
      return ageMs === undefined ? undefined : ageMs / 1000
    },
  },
  {
    name: 'bds_cluster_snapshots',
    help: 'Verified snapshots that the servers have',
    read: (row) => row.get('snapshots'),
  },
  {
    name: 'bds_cluster_snapshot_age_seconds',
    help: 'Seconds since the newest snapshot was made',
    read: (row) => {
      const ageMs = snapshotAgeMs(row, unixMs())
      return ageMs === undefined ? undefined : ageMs / 1000
    },
  },
  {
    name: 'bds_cluster_snapshot_bytes',
    help: 'Bytes of the newest snapshot in the object store',
    read: (row) => row.get('snapshotBytes'),
  },
]

/** Registers metrics of every network, which are read from the status board when Prometheus asks. */
export function registerNetworkMetrics(
  registry: Registry,
  status: StatusBoardHandle,
  isInCluster: boolean,
  now: () => number = monotonicMs,
): void {
  const rows = status.networkIds.map((networkId) => ({ networkId, row: statusRow(status, networkId) }))
  const startedAtMs = now()
  for (const { name, help, read } of isInCluster ? [...networkGauges, ...clusterGauges] : networkGauges) {
    new Gauge({
      name,
      help,
      labelNames: ['network_id'],
      registers: [registry],
      collect() {
        this.reset()
        for (const { networkId, row } of rows) {
          const value = read(row, now(), startedAtMs)
          if (value !== undefined) this.set({ network_id: networkId }, value)
        }
      },
    })
  }
  new Gauge({
    name: 'bds_sync_halted',
    help: '1 for the reason why a network is halted',
    labelNames: ['network_id', 'reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { networkId, row } of rows) {
        const reason = row.haltReason()
        if (reason !== haltReasons[0]) this.set({ network_id: networkId, reason }, 1)
      }
    },
  })
  if (isInCluster)
    new Counter({
      name: 'bds_cluster_snapshot_failures_total',
      help: 'Snapshots that this instance could not make, or not take over, since the process started',
      labelNames: ['network_id'],
      registers: [registry],
      collect() {
        this.reset()
        for (const { networkId, row } of rows)
          this.inc({ network_id: networkId }, row.get('snapshotFailures'))
      },
    })
  new Counter({
    name: 'bds_reorgs_total',
    help: 'Reorgs followed since the process started',
    labelNames: ['network_id'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { networkId, row } of rows) this.inc({ network_id: networkId }, row.get('reorgs'))
    },
  })
  new Counter({
    name: 'bds_start_overs_total',
    help: 'Times since the process started that the store was emptied and read again, because the contract contradicted it at a block that undo does not reach',
    labelNames: ['network_id'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { networkId, row } of rows) this.inc({ network_id: networkId }, row.get('startOvers'))
    },
  })
}
