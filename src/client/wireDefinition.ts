import type { CallOptions } from './call.types.js'

// Generated from the definitions of records, routes and errors: `npm run generate:client`. A test compares it with them.

/** 0x and hexadecimal digits. */
export type Hex = `0x${string}`

export const apiErrorCodes = [
  /** HTTP 400. The network id is well-formed but not served. `supported_networks` of the health check lists them. */
  'INVALID_NETWORK_ID',
  /** HTTP 400. A parameter is missing, malformed, repeated or out of range. The message names it, its value and the limit. */
  'INVALID_PARAMETER',
  /** HTTP 404. This deposit is not indexed (yet). Wait for indexing to complete. */
  'BRIDGE_NOT_FOUND',
  /** HTTP 404. Not covered, not final, not injected at the destination, or `leaf_index` is too small or beyond the tip. Wait for L1 confirmation where `Retry-After` is set. */
  'PROOF_NOT_AVAILABLE',
  /** HTTP 404. Unknown route. */
  'NOT_FOUND',
  /** HTTP 405. Only the methods in `Allow` are served. */
  'METHOD_NOT_ALLOWED',
  /** HTTP 410. Events behind this position are not kept any more, or the feed is another one. The message names the oldest and the current position. Read the lists, and go on from their `X-Feed-Position`. */
  'POSITION_GONE',
  /** HTTP 414. The URL is longer than `http.max_url_bytes`. */
  'URI_TOO_LONG',
  /** HTTP 426. Only WebSockets are served here, and the request asks for none, or not as RFC 6455 has it. The message names what is wrong. */
  'UPGRADE_REQUIRED',
  /** HTTP 429. Too many requests. Back off and retry after `Retry-After` seconds. */
  'RATE_LIMIT_EXCEEDED',
  /** HTTP 500. A bug of ours; logged with the id in `X-Request-Id`. */
  'INTERNAL_ERROR',
  /** HTTP 503. Overload, draining, or a halted network. Retry after `Retry-After` seconds. */
  'SERVICE_UNAVAILABLE',
  /** HTTP 504. The request took longer than its deadline. Retry. */
  'DEADLINE_EXCEEDED',
] as const

/** Every code of an error of the API. */
export type ApiErrorCode = (typeof apiErrorCodes)[number]

/** One deposit. `origin_network` and `deposit_count` name it. */
export interface Bridge {
  /** Transaction of the deposit. */
  readonly txHash: Hex
  /** 0-based leaf index in the exit tree of the source network. */
  readonly depositCount: number
  /** Source network: the one whose bridge emitted the event. Not the home network of the token. */
  readonly originNetwork: number
  /** Network where the deposit is claimed. */
  readonly destinationNetwork: number
  /** Sender: the account that called the bridge, EIP-55. Null until it is resolved. */
  readonly originAddress: Hex | null
  /** Receiver, EIP-55. */
  readonly destinationAddress: Hex
  /** Base units, decimal. */
  readonly amount: bigint
  /** Unix seconds. */
  readonly blockTimestamp: number
  /** True when executing the claim now passes. */
  readonly readyForClaim: boolean
  /** Block of the deposit on the source network. */
  readonly blockNumber: number
  /** Place of the deposit among the logs of its block. */
  readonly logIndex: number
  /** 0 asset, 1 message. */
  readonly leafType: number
  /** Home network of the token; for a message its origin network. */
  readonly tokenNetwork: number
  /** Token on its home network; for a message its origin address. */
  readonly tokenAddress: Hex
  /** As emitted, whole. Null above 4,096 bytes: then length and hash tell of it, unless exactly one `deposit_count` is asked for and 16 MiB hold it. */
  readonly metadata: Hex | null
  /** Bytes of it. Only where `metadata` is null. */
  readonly metadataLength?: number
  /** Its keccak-256. Only where `metadata` is null. */
  readonly metadataHash?: Hex
  /** Sender of the transaction, EIP-55. Null until it is resolved. */
  readonly txSender: Hex | null
  /** Canonical global index. */
  readonly globalIndex: bigint
  /** Transaction of the claim in force. */
  readonly claimTxHash: Hex | null
  /** Smallest L1 info tree index to use for the proof. */
  readonly l1InfoTreeIndex: number | null
  /** Only where the claim is of an older deposit with this count, which a cut took off the exit tree: this one can never be claimed. */
  readonly claimMatches?: false
}

/** Where a page stands in its list. */
export interface Pagination {
  /** Page number returned. */
  readonly page: number
  /** Page size applied. */
  readonly limit: number
  /** Number of matching records. */
  readonly total: number
  /** Value of `cursor` for the page behind this one; null on the last page. */
  readonly nextCursor: string | null
}

/** A page of bridges, newest first. */
export interface BridgesResponse {
  readonly bridges: readonly Bridge[]
  /** Where a page stands in its list. */
  readonly pagination: Pagination
}

/** One claim in force. */
export interface Claim {
  /** Transaction of the claim. */
  readonly txHash: Hex
  /** As emitted. */
  readonly globalIndex: bigint
  /** Base units, decimal. */
  readonly amount: bigint
  /** Unix seconds. */
  readonly blockTimestamp: number
  /** Transaction of the deposit whose content was claimed; null while none such is indexed here. */
  readonly bridgeTxHash: Hex | null
  /** Block of the claim. */
  readonly blockNumber: number
  /** Place of the claim among the logs of its block. */
  readonly logIndex: number
  /** Source network of the claimed deposit. */
  readonly originNetwork: number
  /** Deposit count of the claimed deposit. */
  readonly depositCount: number
  /** Network of the claim. */
  readonly destinationNetwork: number
  /** Receiver, EIP-55. */
  readonly destinationAddress: Hex
  /** Home network of the token; for a message its origin network. */
  readonly tokenNetwork: number
  /** Token on its home network; for a message its origin address. */
  readonly tokenAddress: Hex
  /** Claimer: the account that called the bridge. Null when not known. */
  readonly fromAddress: Hex | null
  /** Sender of the transaction. Null when not known. */
  readonly txSender: Hex | null
}

/** A page of claims in force, newest first. */
export interface ClaimsResponse {
  readonly claims: readonly Claim[]
  /** Where a page stands in its list. */
  readonly pagination: Pagination
}

/** Leaf of the L1 info tree. */
export interface L1InfoTreeLeaf {
  /** keccak256(mainnetExitRoot, rollupExitRoot). */
  readonly globalExitRoot: Hex
  /** Block of the leaf on the L1. */
  readonly blockNumber: number
  /** Unix seconds. */
  readonly timestamp: number
  /** Index of the leaf. */
  readonly l1InfoTreeIndex: number
  /** Mainnet exit root of the leaf. */
  readonly mainnetExitRoot: Hex
  /** Rollup exit root of the leaf. */
  readonly rollupExitRoot: Hex
  /** Hash of the parent of the block. */
  readonly previousBlockHash: Hex
  /** The leaf itself: keccak256(globalExitRoot, previousBlockHash, timestamp). */
  readonly hash: Hex
}

/** Everything that the claim contract function asks for. */
export interface ClaimProof {
  /** Siblings under the local exit root, leaf level first. */
  readonly smtProofLocalExitRoot: readonly Hex[]
  /** Siblings under the rollup exit root, leaf level first; zero words for network 0. */
  readonly smtProofRollupExitRoot: readonly Hex[]
  /** Leaf of the L1 info tree. */
  readonly l1InfoTreeLeaf: L1InfoTreeLeaf
  /** Canonical global index. */
  readonly globalIndex: bigint
  /** Leaf of the deposit in the local exit tree. */
  readonly leafHash: Hex
}

/** A proof that was checked before it was sent. */
export interface ClaimProofResponse {
  /** Everything that the claim contract function asks for. */
  readonly proof: ClaimProof
}

/** Which leaf to use for the proof. */
export interface L1InfoTreeIndexResponse {
  /** Value for `leaf_index` of the claim proof. */
  readonly l1InfoTreeIndex: number
  /** Block of that leaf on the L1. */
  readonly blockNumber: number
  /** Global exit root of that leaf. */
  readonly globalExitRoot: Hex
  /** First leaf that covers the deposit, whether usable at the destination or not. */
  readonly firstCoveringIndex: number
  /** Mainnet exit root of that leaf. */
  readonly mainnetExitRoot: Hex
  /** Rollup exit root of that leaf. */
  readonly rollupExitRoot: Hex
  /** Unix seconds of that leaf. */
  readonly timestamp: number
}

/** A leaf of the L1 info tree that a network accepts now. */
export interface InjectedL1InfoLeafResponse {
  /** Index of the leaf: a value for `leaf_index` of the claim proof. */
  readonly l1InfoTreeIndex: number
  /** Block of the leaf on the L1. */
  readonly blockNumber: number
  /** Unix seconds. */
  readonly timestamp: number
  /** keccak256(mainnet_exit_root, rollup_exit_root). */
  readonly globalExitRoot: Hex
  /** Mainnet exit root of the leaf. */
  readonly mainnetExitRoot: Hex
  /** Rollup exit root of the leaf. */
  readonly rollupExitRoot: Hex
  /** Hash of the parent of the block. */
  readonly previousBlockHash: Hex
  /** The leaf itself: keccak256(global_exit_root, previous_block_hash, timestamp). */
  readonly hash: Hex
}

/** A token and the token that stands for it elsewhere. */
export interface TokenMapping {
  /** Transaction that made the mapping. */
  readonly txHash: Hex
  /** Block of the mapping. */
  readonly blockNumber: number
  /** Place of the mapping among the logs of its block. */
  readonly logIndex: number
  /** Unix seconds. */
  readonly blockTimestamp: number
  /** Home network of the token. */
  readonly originNetwork: number
  /** Token on its home network. */
  readonly originTokenAddress: Hex
  /** Network that holds the wrapped token. */
  readonly wrappedNetwork: number
  /** Wrapped token. */
  readonly wrappedTokenAddress: Hex
  /** As emitted, whole. Null above 4,096 bytes: then length and hash tell of it. */
  readonly metadata: Hex | null
  /** Bytes of it. Only where `metadata` is null. */
  readonly metadataLength?: number
  /** Its keccak-256. Only where `metadata` is null. */
  readonly metadataHash?: Hex
  /** Decoded from metadata; null where it does not decode or has more than 256 characters. */
  readonly name: string | null
  /** Decoded from metadata; null where it does not decode or has more than 256 characters. */
  readonly symbol: string | null
  /** Decoded from metadata; null where it does not decode. */
  readonly decimals: number | null
  /** True for a sovereign token that the bridge may not mint. */
  readonly isNotMintable: boolean
  /** 0 wrapped, 1 sovereign. */
  readonly tokenType: number
  /** False once replaced or removed. */
  readonly isCurrent: boolean
}

/** A page of token mappings, newest first. */
export interface TokenMappingsResponse {
  readonly tokenMappings: readonly TokenMapping[]
  /** Where a page stands in its list. */
  readonly pagination: Pagination
}

/** The claim call, ready to sign. */
export interface ClaimTransactionResponse {
  /** Bridge contract on the destination network. */
  readonly to: Hex
  /** ABI-encoded claimAsset or claimMessage. */
  readonly data: Hex
  /** Always 0. */
  readonly value: bigint
  /** Chain id of the destination network. */
  readonly chainId: number
  /** 0 claimAsset, 1 claimMessage. */
  readonly leafType: number
  /** Source network of the deposit. */
  readonly originNetwork: number
  /** Network where the call is made. */
  readonly destinationNetwork: number
  /** Deposit count of the deposit. */
  readonly depositCount: number
  /** Canonical global index. */
  readonly globalIndex: bigint
  /** L1 info tree index that the proof uses. */
  readonly l1InfoTreeIndex: number
}

/** What has to happen for the bridge to go on. */
export interface AwaitedEvent {
  /** `finality` of `block_number`; `settlement` of the source on the L1; `global_exit_root`: an update of it on the L1; `injection`; `claim`; `sync`: this service compares the network with its chain; `recovery` of a halted network; `emergency_end` of the bridge. */
  readonly event:
    | 'finality'
    | 'settlement'
    | 'global_exit_root'
    | 'injection'
    | 'claim'
    | 'sync'
    | 'recovery'
    | 'emergency_end'
  /** Network on which it has to happen. */
  readonly networkId: number
  /** Block that has to become final. */
  readonly blockNumber?: number
}

/** How long the stage took for the newest 1,000 bridges of this source and destination that have come so far; absent where fewer than 20 tell it. */
export interface TypicalTime {
  /** The stage from whose end the time counts. */
  readonly since: 'bridged' | 'final' | 'settled' | 'in_l1_info_tree' | 'injected' | 'claimable' | 'claimed'
  /** Half of them took no longer. */
  readonly medianSeconds: number
  /** Nine of ten took no longer. */
  readonly p90Seconds: number
  /** Bridges that tell it. */
  readonly sampleSize: number
}

/** One stage of the way. Block, time and transaction are absent where there is none or none is stored. */
export interface BridgeStage {
  /** Its name. `settled` is only there for bridges from an L2, `injected` only for those to one. */
  readonly stage: 'bridged' | 'final' | 'settled' | 'in_l1_info_tree' | 'injected' | 'claimable' | 'claimed'
  /** `done`, `waiting`; `removed`: was injected and taken out again; `unset`: the claim was taken back; `blocked`: a claim of an older deposit with this count stands in the way for good; `unknown`: the destination is not indexed here. */
  readonly state: 'done' | 'waiting' | 'removed' | 'unset' | 'blocked' | 'unknown'
  /** Network on which it happens. */
  readonly networkId: number
  /** Block in which it happened, on that network. */
  readonly blockNumber?: number
  /** Unix seconds of that block. Absent for injections of which no event tells, once their block is no longer stored. */
  readonly blockTimestamp?: number
  /** Transaction in which it happened. Absent for injections of which no event tells, and for leaves, settlements and injections that an older build has stored. */
  readonly txHash?: Hex
  /** Leaf of the L1 info tree: the first that covers the deposit, the one that is injected. */
  readonly l1InfoTreeIndex?: number
  /** Global exit root of that leaf. */
  readonly globalExitRoot?: Hex
  /** How long the stage took for the newest 1,000 bridges of this source and destination that have come so far; absent where fewer than 20 tell it. */
  readonly typical?: TypicalTime
}

/** Where one bridge is on its way. Fields that `/bridges` has as well say the same. */
export interface BridgeStatus {
  /** Transaction of the deposit. */
  readonly txHash: Hex
  /** 0-based leaf index in the exit tree of the source network. */
  readonly depositCount: number
  /** Source network: the one whose bridge emitted the event. Not the home network of the token. */
  readonly originNetwork: number
  /** Network where the deposit is claimed. */
  readonly destinationNetwork: number
  /** Canonical global index. */
  readonly globalIndex: bigint
  /** True when executing the claim now passes. */
  readonly readyForClaim: boolean
  /** Transaction of the claim in force. */
  readonly claimTxHash: Hex | null
  /** Smallest L1 info tree index to use for the proof. */
  readonly l1InfoTreeIndex: number | null
  /** Only where the claim is of an older deposit with this count, which a cut took off the exit tree: this one can never be claimed. */
  readonly claimMatches?: false
  /** The stage that it has to reach next; `claimed` also once nothing is left to reach. */
  readonly currentStage:
    | 'bridged'
    | 'final'
    | 'settled'
    | 'in_l1_info_tree'
    | 'injected'
    | 'claimable'
    | 'claimed'
  /** What has to happen for the bridge to go on. */
  readonly waitsFor: AwaitedEvent | null
  /** One stage of the way. Block, time and transaction are absent where there is none or none is stored. */
  readonly stages: readonly BridgeStage[]
}

/** The way of one bridge, or of each bridge of a transaction. */
export interface BridgeStatusResponse {
  /** Where one bridge is on its way. Fields that `/bridges` has as well say the same. */
  readonly statuses: readonly BridgeStatus[]
  /** Bridges that were asked for; the first 100 of a transaction are shown. */
  readonly total: number
}

/** One thing that the text names, and where it is. Which fields it has depends on its type. */
export interface SearchResult {
  /** `archived_bridge`: a deposit that a cut took off the exit tree, so that no list has it any more. */
  readonly type: 'bridge' | 'archived_bridge' | 'claim' | 'address' | 'token'
  /** Network on which it is: `network_id` of the endpoint that tells more of it. */
  readonly networkId: number
  /** Of bridges and claims: source network of the deposit. */
  readonly originNetwork?: number
  /** 0-based leaf index in the exit tree of the source network. */
  readonly depositCount?: number
  /** Transaction of the bridge or of the claim. */
  readonly txHash?: Hex
  /** The address, EIP-55; of a token the wrapped one on `network_id`. */
  readonly address?: Hex
  /** Bridges from this address: `total` of `/bridges` with `from_address`. */
  readonly bridgesSent?: number
  /** Bridges to it: the same with `to_address`. */
  readonly bridgesReceived?: number
  /** Claims by it: `total` of `/claims` with `from_address`. */
  readonly claimsMade?: number
  /** Claims to it: the same with `to_address`. */
  readonly claimsReceived?: number
  /** Home network of the token. */
  readonly tokenNetwork?: number
  /** Token on its home network. */
  readonly tokenAddress?: Hex
  /** Decoded from metadata; null where it does not decode or has more than 256 characters. */
  readonly name?: string | null
  /** Decoded from metadata; null where it does not decode or has more than 256 characters. */
  readonly symbol?: string | null
  /** Decoded from metadata; null where it does not decode. */
  readonly decimals?: number | null
  /** False once replaced or removed. */
  readonly isCurrent?: boolean
}

/** All that the text names; nothing for what is not indexed here. */
export interface SearchResponse {
  /** One thing that the text names, and where it is. Which fields it has depends on its type. */
  readonly results: readonly SearchResult[]
  /** False where there are more than 100 results: `/bridges`, `/claims` and `/token-mappings` have all. */
  readonly isComplete: boolean
}

/** Health and version. */
export interface HealthResponse {
  /** HTTP 200 for healthy, syncing and degraded, else 503. */
  readonly status: 'healthy' | 'syncing' | 'degraded' | 'unhealthy' | 'starting' | 'draining'
  /** Version of the API. */
  readonly version: string
  /** Primary network. */
  readonly networkId: number
  /** Hours, minutes, seconds. */
  readonly uptime: string
  /** Latest indexed block of the primary network; 0 before the first. */
  readonly lastProcessedBlock: number
  /** Networks served. */
  readonly supportedNetworks: readonly number[]
  /** Short codes; absent when there are none. */
  readonly reasons?: readonly string[]
  /** Version of this software. */
  readonly build: string
}

/** Synchronisation of one chain. */
export interface ChainSync {
  /** Head of the chain. */
  readonly currentBlock: number
  /** Last block indexed. */
  readonly syncedBlock: number
  /** False when lagging, when the head is unknown, when halted, and while claims may be missing, so that nothing is ready. */
  readonly isSynced: boolean
}

/** The indexer. */
export interface BridgeSync {
  /** Deposits indexed on the L1. */
  readonly l1BridgesIndexed: number
  /** Deposits indexed on all L2s. */
  readonly l2BridgesIndexed: number
  /** ISO 8601, UTC. */
  readonly lastUpdate: string
}

/** One JSON-RPC endpoint that the network is read from. */
export interface EndpointSync {
  /** The network and a letter, `1-a` for the first of network 1: it says nothing of who runs it. */
  readonly endpoint: string
  /** Whether it served last. */
  readonly inUse: boolean
  /** Why it is not asked now, or asked last: the word that `bds_rpc_endpoint_resting` has; null while it works. */
  readonly resting: string | null
}

/** Synchronisation of one network. */
export interface NetworkSync {
  /** The network. */
  readonly networkId: number
  /** Head of the chain. */
  readonly currentBlock: number
  /** Last block indexed. */
  readonly syncedBlock: number
  /** False when lagging, when the head is unknown, when halted, and while claims may be missing, so that nothing is ready. */
  readonly isSynced: boolean
  /** Newest final block; null while unknown. */
  readonly finalizedBlock: number | null
  /** Seconds between the head and the last block indexed; null while unknown. */
  readonly lagSeconds: number | null
  /** Seconds since the time that the newest block of the chain tells; null while unknown. */
  readonly headAgeSeconds: number | null
  /** Why indexing stands still; null while it runs. */
  readonly halted: string | null
  /** Deposit count that the contract tells; null while unknown. */
  readonly contractDepositCount: number | null
  /** Whether the last comparison with what the contracts hold was answered; false while no endpoint tells or what one tells is disputed, null before the first. */
  readonly contractsCompared: boolean | null
  /** Deposits indexed. */
  readonly indexedDepositCount: number
  /** Claims in force indexed. */
  readonly indexedClaimCount: number
  /** Deposits and claims whose sender is not known yet. */
  readonly unresolvedSenders: number
  readonly endpoints: readonly EndpointSync[]
  /** In a cluster: `leads`, this instance reads the chain for all, or `follows`. Absent, as the next six, from a service that is alone. */
  readonly role?: string
  /** Message of the log up to which all is stored here; for `min_sequence`. */
  readonly logSequence?: number
  /** Messages that the log has behind it. */
  readonly logLag?: number
  /** Milliseconds that what is stored here is behind the log, at most. */
  readonly logLagMs?: number
  /** Milliseconds since the servers last told the end of the log; absent before the first time, too. */
  readonly logAgeMs?: number
  /** Message of the log up to which the newest snapshot has all; absent while there is none. */
  readonly snapshotSequence?: number
  /** Milliseconds since it was made. */
  readonly snapshotAgeMs?: number
  /** Those of the health record that hold for this network; absent when there are none. */
  readonly reasons?: readonly string[]
}

/** How far every part has come. */
export interface SyncStatusResponse {
  /** Synchronisation of one chain. */
  readonly l1Sync: ChainSync
  /** Synchronisation of one chain. */
  readonly l2Sync: ChainSync
  /** The indexer. */
  readonly bridgeSync: BridgeSync
  readonly networks: readonly NetworkSync[]
}

/** A network that is served, and its contracts. */
export interface Network {
  /** Id of the network in the bridge; 0 = layer 1. */
  readonly networkId: number
  /** Chain id, by which wallets know it. */
  readonly chainId: number
  /** Bridge contract. */
  readonly bridge: string
  /** Global exit root manager. */
  readonly globalExitRootManager: string
  /** Rollup manager; null but for network 0. */
  readonly rollupManager: string | null
  /** First block that is read. */
  readonly startBlock: number
  /** What counts as final: a tag, maybe with blocks below it, like `finalized-64`. */
  readonly finality: string
}

/** What is served here; the same for as long as the process runs. */
export interface NetworksResponse {
  /** Network that the health record describes. */
  readonly primaryNetwork: number
  readonly networks: readonly Network[]
  /** Operations that are answered, by their ids in /openapi.json. */
  readonly capabilities: readonly string[]
}

/** The process answers. */
export interface LivenessResponse {
  readonly status: 'alive'
}

/** A balancer should send requests here. */
export interface ReadinessResponse {
  readonly status: 'ready'
}

/** A deposit was made, or a reorg has brought it back. */
export interface BridgeEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'bridge'
  /** Source network. */
  readonly networkId: number
  /** Deposit count at the source network. */
  readonly depositCount: number
  /** Network where the deposit is claimed. */
  readonly destinationNetwork: number
  /** Transaction of the deposit. */
  readonly txHash: Hex
  /** Block of it. */
  readonly blockNumber: number
  /** Place among the logs of the block. */
  readonly logIndex: number
  /** Unix seconds. */
  readonly blockTimestamp: number
  /** Sender, EIP-55. Null where it is not known yet. */
  readonly originAddress: Hex | null
  /** Receiver, EIP-55. */
  readonly destinationAddress: Hex
  /** Base units, decimal. */
  readonly amount: bigint
  /** 0 asset, 1 message. */
  readonly leafType: number
  /** Home network of the token; for a message its origin network. */
  readonly tokenNetwork: number
  /** Token on its home network; for a message its origin address. */
  readonly tokenAddress: Hex
  /** As emitted, whole. Null above 4,096 bytes: then length and hash tell of it. */
  readonly metadata: Hex | null
  /** Bytes of it. Only where `metadata` is null. */
  readonly metadataLength?: number
  /** Its keccak-256. Only where `metadata` is null. */
  readonly metadataHash?: Hex
  /** Sender of the transaction. Null where it is not known yet. */
  readonly txSender: Hex | null
  /** Canonical global index. */
  readonly globalIndex: bigint
}

/** A claim came into force, or, with `in_force` false, was unset. Of several for one deposit the newest counts. */
export interface ClaimEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'claim'
  /** Network of the claim. */
  readonly networkId: number
  /** Source network of the deposit. */
  readonly originNetwork: number
  /** Deposit count at the source network. */
  readonly depositCount: number
  /** As emitted. */
  readonly globalIndex: bigint
  /** False: the claim was unset. */
  readonly inForce: boolean
  /** Transaction that did it. */
  readonly txHash: Hex
  /** Block of it. */
  readonly blockNumber: number
  /** Place among the logs of the block. */
  readonly logIndex: number
  /** Unix seconds. */
  readonly blockTimestamp: number
  /** Base units, decimal. Null where it was set or unset. */
  readonly amount: bigint | null
  /** Receiver, EIP-55. */
  readonly destinationAddress: Hex | null
  /** Home network of the token; for a message its origin network. */
  readonly tokenNetwork: number | null
  /** Token on its home network; for a message its origin address. */
  readonly tokenAddress: Hex | null
  /** Claimer: the account that called the bridge. Null when not known. */
  readonly fromAddress: Hex | null
  /** Sender of the transaction. Null when not known. */
  readonly txSender: Hex | null
}

/** A deposit to this network can be claimed now, as far as contracts tell: what stands in the way of all of them is told by `halted`. */
export interface ClaimableEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'claimable'
  /** Destination network. */
  readonly networkId: number
  /** Source network of the deposit. */
  readonly originNetwork: number
  /** Deposit count at the source network. */
  readonly depositCount: number
  /** Transaction of the deposit. */
  readonly bridgeTxHash: Hex
  /** Receiver, EIP-55. */
  readonly destinationAddress: Hex
  /** 0 asset, 1 message. */
  readonly leafType: number
  /** Canonical global index. */
  readonly globalIndex: bigint
  /** L1 info tree index to use for the proof. */
  readonly l1InfoTreeIndex: number
}

/** A deposit that could be claimed cannot be any more, although nobody has claimed it. */
export interface UnclaimableEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'unclaimable'
  /** Destination network. */
  readonly networkId: number
  /** Source network of the deposit. */
  readonly originNetwork: number
  /** Deposit count at the source network. */
  readonly depositCount: number
  /** Receiver, EIP-55. */
  readonly destinationAddress: Hex
  /** Canonical global index. */
  readonly globalIndex: bigint
}

/** A token mapping was made or changed. */
export interface TokenMappingEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'token_mapping'
  /** Network that holds the wrapped token. */
  readonly networkId: number
  /** Transaction that made the mapping. */
  readonly txHash: Hex
  /** Block of it. */
  readonly blockNumber: number
  /** Place among the logs of the block. */
  readonly logIndex: number
  /** Unix seconds. */
  readonly blockTimestamp: number
  /** Home network of the token. */
  readonly originNetwork: number
  /** Token on its home network. */
  readonly originTokenAddress: Hex
  /** Wrapped token. */
  readonly wrappedTokenAddress: Hex
  /** As emitted, whole. Null above 4,096 bytes: then length and hash tell of it. */
  readonly metadata: Hex | null
  /** Bytes of it. Only where `metadata` is null. */
  readonly metadataLength?: number
  /** Its keccak-256. Only where `metadata` is null. */
  readonly metadataHash?: Hex
  /** True for a sovereign token that the bridge may not mint. */
  readonly isNotMintable: boolean
  /** 0 wrapped, 1 sovereign. */
  readonly tokenType: number
  /** False once replaced or removed. */
  readonly isCurrent: boolean
  /** True once it was removed. */
  readonly isRemoved: boolean
}

/** How far the network is indexed. */
export interface SyncEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'sync'
  /** Network whose feed this is. */
  readonly networkId: number
  /** Last indexed block. */
  readonly blockNumber: number
  /** Unix seconds. */
  readonly blockTimestamp: number
  /** Newest final block; null while there is none. */
  readonly finalizedBlock: number | null
  /** True: history was read, or what can be claimed was worked out anew, without an event for each thing. Read the lists again. */
  readonly isHistory: boolean
}

/** Gone are the bridges of this network from `deposit_count` on and, unless `is_cut`, its claims and token mappings above `ancestor_block`. What has come back follows. */
export interface ReorgEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'reorg'
  /** Network whose feed this is. */
  readonly networkId: number
  /** Last block that stays; null: none does. Where `is_cut`, the block of the cut. */
  readonly ancestorBlock: number | null
  /** First deposit count that is gone. */
  readonly depositCount: number
  /** True: the bridge took deposits off its exit tree (BackwardLET), and no block is gone. */
  readonly isCut: boolean
}

/** The network is read again from its first block: all that was told of it is void. */
export interface StartOverEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'start_over'
  /** Network whose feed this is. */
  readonly networkId: number
}

/** Nothing on this network may be relied on until `resumed` names the same reason. */
export interface HaltedEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'halted'
  /** Network whose feed this is. */
  readonly networkId: number
  /** `catching_up`, `behind`, `emergency_state`, or why the network is halted. */
  readonly reason: string
}

/** A reason of `halted` holds no more. */
export interface ResumedEvent {
  /** Its place in the feeds: `network.feed:sequence`. */
  readonly id: string
  /** What happened. */
  readonly type: 'resumed'
  /** Network whose feed this is. */
  readonly networkId: number
  /** As `halted` has named it. */
  readonly reason: string
}

/** One event of a feed. Other types may come with newer services. */
export type FeedEvent =
  | BridgeEvent
  | ClaimEvent
  | ClaimableEvent
  | UnclaimableEvent
  | TokenMappingEvent
  | SyncEvent
  | ReorgEvent
  | StartOverEvent
  | HaltedEvent
  | ResumedEvent

export interface BridgesParameters {
  /** Source network. */
  readonly networkId: number
  /** Page to return. Default: 1. */
  readonly pageNumber?: number | undefined
  /** Records per page. Default: 100. */
  readonly pageSize?: number | undefined
  /** Only the bridges with these deposit counts; comma-separated or repeated. */
  readonly depositCount?: number | readonly number[] | undefined
  /** Only bridges whose origin_address or tx_sender this is; any letter case. */
  readonly fromAddress?: string | undefined
  /** Only bridges to this destination_address; any letter case. */
  readonly toAddress?: string | undefined
  /** Only bridges of this transaction; any letter case. */
  readonly txHash?: string | undefined
  /** Only bridges whose leaf of the local exit tree this is: the hash of their content; any letter case. */
  readonly bridgeHash?: string | undefined
  /** Only bridges to one of these networks; comma-separated or repeated. */
  readonly networkIds?: number | readonly number[] | undefined
  /** Only assets (0) or messages (1). */
  readonly leafType?: number | undefined
  /** Only bridges with, or without, a claim in force that is indexed here. */
  readonly claimed?: boolean | undefined
  /** Only bridges that can, or cannot, be claimed now. */
  readonly readyForClaim?: boolean | undefined
  /** Only bridges of this block or a later one. */
  readonly fromBlock?: number | undefined
  /** Only bridges of this block or an earlier one. */
  readonly toBlock?: number | undefined
  /** Only bridges of this time, in Unix seconds, or later. */
  readonly fromTimestamp?: number | undefined
  /** Only bridges of this time, in Unix seconds, or earlier. */
  readonly toTimestamp?: number | undefined
  /** `desc`, newest first, unless `asc` is asked for. */
  readonly order?: 'asc' | 'desc' | undefined
  /** `pagination.next_cursor` of the page before, with the same filters, in the place of `page_number`: no row is missed or given twice while data arrive. */
  readonly cursor?: string | undefined
}

export interface ClaimsParameters {
  /** Network on which the claims occurred. */
  readonly networkId: number
  /** Page to return. Default: 1. */
  readonly pageNumber?: number | undefined
  /** Records per page. Default: 100. */
  readonly pageSize?: number | undefined
  /** Only claims whose from_address or tx_sender this is; any letter case. */
  readonly fromAddress?: string | undefined
  /** Only claims to this destination_address; any letter case. */
  readonly toAddress?: string | undefined
  /** Only claims of this transaction; any letter case. */
  readonly txHash?: string | undefined
  /** Only claims of bridges from one of these networks; comma-separated or repeated. */
  readonly networkIds?: number | readonly number[] | undefined
  /** Only the claim of the bridge that this global index names; decimal or hexadecimal. */
  readonly globalIndex?: bigint | undefined
  /** `desc`, newest first, unless `asc` is asked for. */
  readonly order?: 'asc' | 'desc' | undefined
  /** `pagination.next_cursor` of the page before, with the same filters, in the place of `page_number`: no row is missed or given twice while data arrive. */
  readonly cursor?: string | undefined
}

export interface ClaimProofParameters {
  /** Source network. */
  readonly networkId: number
  /** Deposit count of the bridge. */
  readonly depositCount: number
  /** L1 info tree index to prove with; any whose leaf covers the deposit. */
  readonly leafIndex: number
}

export interface L1InfoTreeIndexParameters {
  /** Source network. */
  readonly networkId: number
  /** Deposit count of the bridge. */
  readonly depositCount: number
}

export interface InjectedL1InfoLeafParameters {
  /** Network that accepts the leaf: the destination of a bridge. */
  readonly networkId: number
  /** L1 info tree index to look from; on network 0, the index of the leaf. */
  readonly leafIndex: number
}

export interface TokenMappingsParameters {
  /** Network that holds the wrapped token; absent: all served networks. */
  readonly networkId?: number | undefined
  /** Page to return. Default: 1. */
  readonly pageNumber?: number | undefined
  /** Records per page. Default: 100. */
  readonly pageSize?: number | undefined
  /** Only mappings with this token on either side; any letter case. */
  readonly tokenAddress?: string | undefined
  /** Only tokens whose home network this is. */
  readonly tokenNetwork?: number | undefined
  /** `desc`, newest first, unless `asc` is asked for. */
  readonly order?: 'asc' | 'desc' | undefined
  /** `pagination.next_cursor` of the page before, with the same filters, in the place of `page_number`: no row is missed or given twice while data arrive. */
  readonly cursor?: string | undefined
}

export interface ClaimTransactionParameters {
  /** Source network. */
  readonly networkId: number
  /** Deposit count of the bridge. */
  readonly depositCount: number
  /** L1 info tree index to prove with; default: the smallest usable one. */
  readonly leafIndex?: number | undefined
}

export interface BridgeStatusParameters {
  /** Source network. Needed with `deposit_count`; not with `global_index`. */
  readonly networkId?: number | undefined
  /** Deposit count of the bridge. */
  readonly depositCount?: number | undefined
  /** Instead of both: global index of the bridge; decimal or hexadecimal. */
  readonly globalIndex?: bigint | undefined
  /** Instead of `deposit_count`: all bridges of this transaction, on any served network unless `network_id` names one. */
  readonly txHash?: string | undefined
}

export interface SearchParameters {
  /** A transaction hash; an address, of an account or a token; a global index, decimal or hexadecimal; or `network:deposit_count`, like `1:25`. */
  readonly q: string
}

export interface EventsParameters {
  /** Networks whose events are wanted, all that are served by default; comma-separated or repeated. */
  readonly networkIds?: number | readonly number[] | undefined
  /** Only events of these types; comma-separated. */
  readonly types?: FeedEvent['type'] | readonly FeedEvent['type'][] | undefined
  /** Only bridges, claims and tokens of these networks of destination; comma-separated or repeated. */
  readonly destinationNetworks?: number | readonly number[] | undefined
  /** Only bridges, claims and tokens that name one of these addresses, as sender, receiver, claimer or token; comma-separated, any letter case. */
  readonly addresses?: string | readonly string[] | undefined
  /** Only events of one bridge: its source network. */
  readonly originNetwork?: number | undefined
  /** Only events of one bridge: its deposit count. */
  readonly depositCount?: number | undefined
  /** Only events behind this position: `X-Feed-Position` of a list, or the last id that was read. The header `Last-Event-ID` says the same, and counts where both are given. */
  readonly after?: string | undefined
}

/** One method for each endpoint. Each throws BridgeApiError, BridgeResponseError or BridgeNetworkError. */
export interface Endpoints {
  /** Bridge transactions of one source network. `GET /bridge/v1/bridges` */
  getBridges(parameters: BridgesParameters, options?: CallOptions): Promise<BridgesResponse>
  /** Claim transactions on one network. `GET /bridge/v1/claims` */
  getClaims(parameters: ClaimsParameters, options?: CallOptions): Promise<ClaimsResponse>
  /** Proof for a claim under one leaf of the L1 info tree. `GET /bridge/v1/claim-proof` */
  getClaimProof(parameters: ClaimProofParameters, options?: CallOptions): Promise<ClaimProofResponse>
  /** Smallest L1 info tree index to use for the proof of a bridge. `GET /bridge/v1/l1-info-tree-index` */
  getL1InfoTreeIndex(
    parameters: L1InfoTreeIndexParameters,
    options?: CallOptions,
  ): Promise<L1InfoTreeIndexResponse>
  /** First L1 info leaf from an index on that a network accepts. `GET /bridge/v1/injected-l1-info-leaf` */
  getInjectedL1InfoLeaf(
    parameters: InjectedL1InfoLeafParameters,
    options?: CallOptions,
  ): Promise<InjectedL1InfoLeafResponse>
  /** Wrapped and sovereign tokens with their homes. `GET /bridge/v1/token-mappings` */
  getTokenMappings(
    parameters?: TokenMappingsParameters,
    options?: CallOptions,
  ): Promise<TokenMappingsResponse>
  /** The claim call of a bridge, ABI-encoded and ready to sign. `GET /bridge/v1/claim-transaction` */
  getClaimTransaction(
    parameters: ClaimTransactionParameters,
    options?: CallOptions,
  ): Promise<ClaimTransactionResponse>
  /** The way of a bridge from the deposit to the claim: stages, the current one, what it waits for. `GET /bridge/v1/bridge-status` */
  getBridgeStatus(parameters?: BridgeStatusParameters, options?: CallOptions): Promise<BridgeStatusResponse>
  /** What a transaction hash, an address, a global index or a deposit is, and where. `GET /bridge/v1/search` */
  getSearch(parameters: SearchParameters, options?: CallOptions): Promise<SearchResponse>
  /** Health check, version and supported networks. `GET /bridge/v1` */
  getHealth(options?: CallOptions): Promise<HealthResponse>
  /** Synchronisation of the chains and of the bridge indexer. `GET /bridge/v1/sync-status` */
  getSyncStatus(options?: CallOptions): Promise<SyncStatusResponse>
  /** Networks that are served, with their chain ids and contracts. `GET /bridge/v1/networks` */
  getNetworks(options?: CallOptions): Promise<NetworksResponse>
  /** The process answers. `GET /livez` */
  getLiveness(options?: CallOptions): Promise<LivenessResponse>
  /** Whether a balancer should send requests here. `GET /readyz` */
  getReadiness(options?: CallOptions): Promise<ReadinessResponse>
}

/** Where an operation is asked for, what answers, and which statuses besides 200 are its answer. */
export const operations = {
  getBridges: { path: '/bridge/v1/bridges', shape: 'BridgesResponse', hasParameters: true },
  getClaims: { path: '/bridge/v1/claims', shape: 'ClaimsResponse', hasParameters: true },
  getClaimProof: { path: '/bridge/v1/claim-proof', shape: 'ClaimProofResponse', hasParameters: true },
  getL1InfoTreeIndex: {
    path: '/bridge/v1/l1-info-tree-index',
    shape: 'L1InfoTreeIndexResponse',
    hasParameters: true,
  },
  getInjectedL1InfoLeaf: {
    path: '/bridge/v1/injected-l1-info-leaf',
    shape: 'InjectedL1InfoLeafResponse',
    hasParameters: true,
  },
  getTokenMappings: {
    path: '/bridge/v1/token-mappings',
    shape: 'TokenMappingsResponse',
    hasParameters: true,
  },
  getClaimTransaction: {
    path: '/bridge/v1/claim-transaction',
    shape: 'ClaimTransactionResponse',
    hasParameters: true,
  },
  getBridgeStatus: { path: '/bridge/v1/bridge-status', shape: 'BridgeStatusResponse', hasParameters: true },
  getSearch: { path: '/bridge/v1/search', shape: 'SearchResponse', hasParameters: true },
  getHealth: { path: '/bridge/v1', shape: 'HealthResponse', hasParameters: false, own: [503] },
  getSyncStatus: { path: '/bridge/v1/sync-status', shape: 'SyncStatusResponse', hasParameters: false },
  getNetworks: { path: '/bridge/v1/networks', shape: 'NetworksResponse', hasParameters: false },
  getLiveness: { path: '/livez', shape: 'LivenessResponse', hasParameters: false },
  getReadiness: { path: '/readyz', shape: 'ReadinessResponse', hasParameters: false, own: [503] },
} as const

export type OperationId = keyof typeof operations

/** Where events are asked for, and the shape of each type of them. */
export const eventsPath = '/bridge/v1/events'

export const eventShapes = {
  bridge: 'BridgeEvent',
  claim: 'ClaimEvent',
  claimable: 'ClaimableEvent',
  unclaimable: 'UnclaimableEvent',
  token_mapping: 'TokenMappingEvent',
  sync: 'SyncEvent',
  reorg: 'ReorgEvent',
  start_over: 'StartOverEvent',
  halted: 'HaltedEvent',
  resumed: 'ResumedEvent',
} as const

/** Fields of each object: name, kind, then `*` for a list, `~` where null may stand, `?` where it may be absent. */
export const shapes = {
  Bridge:
    'tx_hash:h deposit_count:n origin_network:n destination_network:n origin_address:a~ destination_address:a amount:d block_timestamp:n ready_for_claim:b block_number:n log_index:n leaf_type:n token_network:n token_address:a metadata:x~ metadata_length:n? metadata_hash:h? tx_sender:a~ global_index:g claim_tx_hash:h~ l1_info_tree_index:n~ claim_matches:b?',
  Pagination: 'page:n limit:n total:n next_cursor:t~',
  BridgesResponse: 'bridges:Bridge* pagination:Pagination',
  Claim:
    'tx_hash:h global_index:g amount:d block_timestamp:n bridge_tx_hash:h~ block_number:n log_index:n origin_network:n deposit_count:n destination_network:n destination_address:a token_network:n token_address:a from_address:a~ tx_sender:a~',
  ClaimsResponse: 'claims:Claim* pagination:Pagination',
  L1InfoTreeLeaf:
    'globalExitRoot:h blockNumber:n timestamp:n l1InfoTreeIndex:n mainnetExitRoot:h rollupExitRoot:h previousBlockHash:h hash:h',
  ClaimProof:
    'smtProofLocalExitRoot:h* smtProofRollupExitRoot:h* l1InfoTreeLeaf:L1InfoTreeLeaf globalIndex:g leafHash:h',
  ClaimProofResponse: 'proof:ClaimProof',
  L1InfoTreeIndexResponse:
    'l1_info_tree_index:n block_number:n global_exit_root:h first_covering_index:n mainnet_exit_root:h rollup_exit_root:h timestamp:n',
  InjectedL1InfoLeafResponse:
    'l1_info_tree_index:n block_number:n timestamp:n global_exit_root:h mainnet_exit_root:h rollup_exit_root:h previous_block_hash:h hash:h',
  TokenMapping:
    'tx_hash:h block_number:n log_index:n block_timestamp:n origin_network:n origin_token_address:a wrapped_network:n wrapped_token_address:a metadata:x~ metadata_length:n? metadata_hash:h? name:t~ symbol:t~ decimals:n~ is_not_mintable:b token_type:n is_current:b',
  TokenMappingsResponse: 'token_mappings:TokenMapping* pagination:Pagination',
  ClaimTransactionResponse:
    'to:a data:x value:d chain_id:n leaf_type:n origin_network:n destination_network:n deposit_count:n global_index:g l1_info_tree_index:n',
  AwaitedEvent: 'event:t network_id:n block_number:n?',
  TypicalTime: 'since:t median_seconds:n p90_seconds:n sample_size:n',
  BridgeStage:
    'stage:t state:t network_id:n block_number:n? block_timestamp:n? tx_hash:h? l1_info_tree_index:n? global_exit_root:h? typical:TypicalTime?',
  BridgeStatus:
    'tx_hash:h deposit_count:n origin_network:n destination_network:n global_index:g ready_for_claim:b claim_tx_hash:h~ l1_info_tree_index:n~ claim_matches:b? current_stage:t waits_for:AwaitedEvent~ stages:BridgeStage*',
  BridgeStatusResponse: 'statuses:BridgeStatus* total:n',
  SearchResult:
    'type:t network_id:n origin_network:n? deposit_count:n? tx_hash:h? address:a? bridges_sent:n? bridges_received:n? claims_made:n? claims_received:n? token_network:n? token_address:a? name:t~? symbol:t~? decimals:n~? is_current:b?',
  SearchResponse: 'results:SearchResult* is_complete:b',
  HealthResponse:
    'status:t version:t network_id:n uptime:t last_processed_block:n supported_networks:n* reasons:t*? build:t',
  ChainSync: 'current_block:n synced_block:n is_synced:b',
  BridgeSync: 'l1_bridges_indexed:n l2_bridges_indexed:n last_update:t',
  EndpointSync: 'endpoint:t in_use:b resting:t~',
  NetworkSync:
    'network_id:n current_block:n synced_block:n is_synced:b finalized_block:n~ lag_seconds:n~ head_age_seconds:n~ halted:t~ contract_deposit_count:n~ contracts_compared:b~ indexed_deposit_count:n indexed_claim_count:n unresolved_senders:n endpoints:EndpointSync* role:t? log_sequence:n? log_lag:n? log_lag_ms:n? log_age_ms:n? snapshot_sequence:n? snapshot_age_ms:n? reasons:t*?',
  SyncStatusResponse: 'l1_sync:ChainSync l2_sync:ChainSync bridge_sync:BridgeSync networks:NetworkSync*',
  Network:
    'network_id:n chain_id:n bridge:t global_exit_root_manager:t rollup_manager:t~ start_block:n finality:t',
  NetworksResponse: 'primary_network:n networks:Network* capabilities:t*',
  LivenessResponse: 'status:t',
  ReadinessResponse: 'status:t',
  BridgeEvent:
    'id:t type:t network_id:n deposit_count:n destination_network:n tx_hash:h block_number:n log_index:n block_timestamp:n origin_address:a~ destination_address:a amount:d leaf_type:n token_network:n token_address:a metadata:x~ metadata_length:n? metadata_hash:h? tx_sender:a~ global_index:g',
  ClaimEvent:
    'id:t type:t network_id:n origin_network:n deposit_count:n global_index:g in_force:b tx_hash:h block_number:n log_index:n block_timestamp:n amount:d~ destination_address:a~ token_network:n~ token_address:a~ from_address:a~ tx_sender:a~',
  ClaimableEvent:
    'id:t type:t network_id:n origin_network:n deposit_count:n bridge_tx_hash:h destination_address:a leaf_type:n global_index:g l1_info_tree_index:n',
  UnclaimableEvent:
    'id:t type:t network_id:n origin_network:n deposit_count:n destination_address:a global_index:g',
  TokenMappingEvent:
    'id:t type:t network_id:n tx_hash:h block_number:n log_index:n block_timestamp:n origin_network:n origin_token_address:a wrapped_token_address:a metadata:x~ metadata_length:n? metadata_hash:h? is_not_mintable:b token_type:n is_current:b is_removed:b',
  SyncEvent: 'id:t type:t network_id:n block_number:n block_timestamp:n finalized_block:n~ is_history:b',
  ReorgEvent: 'id:t type:t network_id:n ancestor_block:n~ deposit_count:n is_cut:b',
  StartOverEvent: 'id:t type:t network_id:n',
  HaltedEvent: 'id:t type:t network_id:n reason:t',
  ResumedEvent: 'id:t type:t network_id:n reason:t',
} as const
