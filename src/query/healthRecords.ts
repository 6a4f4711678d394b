import type { JsonRecordDefinition, JsonRecordOf } from './recordFields.js'

/** Health and sync status, each defined once. The front answers them from the status board; `health.ts` works their values out. */

export const healthDefinition = {
  title: 'HealthResponse',
  description: 'Health and version.',
  fields: {
    status: {
      kind: 'serviceStatus',
      description: 'HTTP 200 for healthy, syncing and degraded, else 503.',
    },
    version: { kind: 'version', description: 'Version of the API.' },
    network_id: { kind: 'networkId', description: 'Primary network.' },
    uptime: { kind: 'duration', description: 'Hours, minutes, seconds.' },
    last_processed_block: {
      kind: 'blockNumber',
      description: 'Latest indexed block of the primary network; 0 before the first.',
    },
    supported_networks: { kind: 'networkId', isList: true, description: 'Networks served.' },
    reasons: {
      kind: 'healthReason',
      isList: true,
      isOptional: true,
      description: 'Short codes; absent when there are none.',
    },
    build: { kind: 'text', description: 'Version of this software.' },
  },
} as const satisfies JsonRecordDefinition

export type HealthRecord = JsonRecordOf<typeof healthDefinition>

const chainSyncDefinition = {
  title: 'ChainSync',
  description: 'Synchronisation of one chain.',
  fields: {
    current_block: { kind: 'blockNumber', description: 'Head of the chain.' },
    synced_block: { kind: 'blockNumber', description: 'Last block indexed.' },
    is_synced: {
      kind: 'boolean',
      description:
        'False when lagging, when the head is unknown, when halted, and while claims may be missing, so that nothing is ready.',
    },
  },
} as const satisfies JsonRecordDefinition

export type ChainSyncRecord = JsonRecordOf<typeof chainSyncDefinition>

const endpointSyncDefinition = {
  title: 'EndpointSync',
  description: 'One JSON-RPC endpoint that the network is read from.',
  fields: {
    endpoint: {
      kind: 'text',
      description:
        'The network and a letter, `1-a` for the first of network 1: it says nothing of who runs it.',
    },
    in_use: { kind: 'boolean', description: 'Whether it served last.' },
    resting: {
      kind: 'text',
      isNullable: true,
      description:
        'Why it is not asked now, or asked last: the word that `bds_rpc_endpoint_resting` has; null while it works.',
    },
  },
} as const satisfies JsonRecordDefinition

const networkSyncDefinition = {
  title: 'NetworkSync',
  description: 'Synchronisation of one network.',
  fields: {
    network_id: { kind: 'networkId', description: 'The network.' },
    ...chainSyncDefinition.fields,
    finalized_block: {
      kind: 'blockNumber',
      isNullable: true,
      description: 'Newest final block; null while unknown.',
    },
    lag_seconds: {
      kind: 'seconds',
      isNullable: true,
      description: 'Seconds between the head and the last block indexed; null while unknown.',
    },
    head_age_seconds: {
      kind: 'seconds',
      isNullable: true,
      description: 'Seconds since the time that the newest block of the chain tells; null while unknown.',
    },
    halted: {
      kind: 'text',
      isNullable: true,
      description: 'Why indexing stands still; null while it runs.',
    },
    contract_deposit_count: {
      kind: 'uint32',
      isNullable: true,
      description: 'Deposit count that the contract tells; null while unknown.',
    },
    contracts_compared: {
      kind: 'boolean',
      isNullable: true,
      description:
        'Whether the last comparison with what the contracts hold was answered; false while no endpoint tells or what one tells is disputed, null before the first.',
    },
    indexed_deposit_count: { kind: 'uint32', description: 'Deposits indexed.' },
    indexed_claim_count: { kind: 'uint32', description: 'Claims in force indexed.' },
    unresolved_senders: {
      kind: 'count',
      description: 'Deposits and claims whose sender is not known yet.',
    },
    endpoints: { record: endpointSyncDefinition, isList: true },
    role: {
      kind: 'text',
      isOptional: true,
      description:
        'In a cluster: `leads`, this instance reads the chain for all, or `follows`. Absent, as the next six, from a service that is alone.',
    },
    log_sequence: {
      kind: 'count',
      isOptional: true,
      description: 'Message of the log up to which all is stored here; for `min_sequence`.',
    },
    log_lag: { kind: 'count', isOptional: true, description: 'Messages that the log has behind it.' },
    log_lag_ms: {
      kind: 'count',
      isOptional: true,
      description: 'Milliseconds that what is stored here is behind the log, at most.',
    },
    log_age_ms: {
      kind: 'count',
      isOptional: true,
      description:
        'Milliseconds since the servers last told the end of the log; absent before the first time, too.',
    },
    snapshot_sequence: {
      kind: 'count',
      isOptional: true,
      description: 'Message of the log up to which the newest snapshot has all; absent while there is none.',
    },
    snapshot_age_ms: {
      kind: 'count',
      isOptional: true,
      description: 'Milliseconds since it was made.',
    },
    reasons: {
      kind: 'healthReason',
      isList: true,
      isOptional: true,
      description: 'Those of the health record that hold for this network; absent when there are none.',
    },
  },
} as const satisfies JsonRecordDefinition

export type NetworkSyncRecord = JsonRecordOf<typeof networkSyncDefinition>

export const syncStatusDefinition = {
  title: 'SyncStatusResponse',
  description: 'How far every part has come.',
  fields: {
    l1_sync: { record: chainSyncDefinition },
    l2_sync: { record: chainSyncDefinition },
    bridge_sync: {
      record: {
        title: 'BridgeSync',
        description: 'The indexer.',
        fields: {
          l1_bridges_indexed: { kind: 'count', description: 'Deposits indexed on the L1.' },
          l2_bridges_indexed: { kind: 'count', description: 'Deposits indexed on all L2s.' },
          last_update: { kind: 'isoTime', description: 'ISO 8601, UTC.' },
        },
      },
    },
    networks: { record: networkSyncDefinition, isList: true },
  },
} as const satisfies JsonRecordDefinition

const networkDefinition = {
  title: 'Network',
  description: 'A network that is served, and its contracts.',
  fields: {
    network_id: { kind: 'networkId', description: 'Id of the network in the bridge; 0 = layer 1.' },
    chain_id: { kind: 'count', description: 'Chain id, by which wallets know it.' },
    bridge: { kind: 'address', description: 'Bridge contract.' },
    global_exit_root_manager: { kind: 'address', description: 'Global exit root manager.' },
    rollup_manager: {
      kind: 'address',
      isNullable: true,
      description: 'Rollup manager; null but for network 0.',
    },
    start_block: { kind: 'blockNumber', description: 'First block that is read.' },
    finality: {
      kind: 'text',
      description: 'What counts as final: a tag, maybe with blocks below it, like `finalized-64`.',
    },
  },
} as const satisfies JsonRecordDefinition

export const networksDefinition = {
  title: 'NetworksResponse',
  description: 'What is served here; the same for as long as the process runs.',
  fields: {
    primary_network: { kind: 'networkId', description: 'Network that the health record describes.' },
    networks: { record: networkDefinition, isList: true },
    capabilities: {
      kind: 'text',
      isList: true,
      description: 'Operations that are answered, by their ids in /openapi.json.',
    },
  },
} as const satisfies JsonRecordDefinition

export type NetworksRecord = JsonRecordOf<typeof networksDefinition>

export type SyncStatusRecord = JsonRecordOf<typeof syncStatusDefinition>
