import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { LISTED_METADATA_BYTES, WHOLE_METADATA_BYTES } from '../protocol/metadata.js'
import type { AnswerCode } from '../query/answers.js'
import type { Cursor } from '../query/cursor.js'
import type { EventsQuery } from '../query/feed/eventsQuery.js'
import { MAX_WALKED_ROWS, type OperationId, type QueryByOperation } from '../query/queries.js'
import { bridgeTemplate, claimTemplate, tokenMappingTemplate } from '../query/records.js'
import type { RowTemplate } from '../query/rowTemplate.js'
import { MAX_SEARCH_RESULTS, MAX_STATUSES } from '../query/statusRecords.js'
import {
  checkBridgeStatusQuery,
  checkBridgesQuery,
  checkClaimsQuery,
  checkEventsQuery,
  checkSearchQuery,
} from './parse/checkQuery.js'
import {
  BridgeStatusParameters,
  BridgesParameters,
  ClaimProofParameters,
  ClaimsParameters,
  ClaimTransactionParameters,
  EventsParameters,
  InjectedL1InfoLeafParameters,
  L1InfoTreeIndexParameters,
  SearchParameters,
  TokenMappingsParameters,
} from './parse/querySchemas.js'
import {
  toBridgeStatusQuery,
  toBridgesQuery,
  toClaimProofQuery,
  toClaimsQuery,
  toClaimTransactionQuery,
  toEventsQuery,
  toInjectedL1InfoLeafQuery,
  toL1InfoTreeIndexQuery,
  toSearchQuery,
  toTokenMappingsQuery,
} from './parse/toQuery.js'
import {
  BridgeStatusResponse,
  BridgesResponse,
  ClaimProofResponse,
  ClaimsResponse,
  ClaimTransactionResponse,
  ErrorResponse,
  EventData,
  HealthResponse,
  InjectedL1InfoLeafResponse,
  L1InfoTreeIndexResponse,
  LivenessResponse,
  NetworksResponse,
  ReadinessResponse,
  SearchResponse,
  SyncStatusResponse,
  TokenMappingsResponse,
} from './schemas.js'

/** An endpoint that a shard answers, through the pool. The key of `routes` is the operation id everywhere. */
export interface Route<Query, Parameters extends TObject = TObject> {
  readonly path: string
  readonly summary: string
  readonly parameters: Parameters
  toQuery(wire: Static<Parameters>, cursor?: Cursor): Query
  /** Rules between parameters. @returns what is wrong, or undefined. */
  check?(given: Readonly<Record<string, unknown>>): string | undefined
  readonly response: TSchema
  /** Of a list: how its rows are spelled. Handed down with each query to whoever has the rows. */
  readonly rows?: RowTemplate
  /** Codes of this operation's own; every route may also answer 405, 414, 429, 500, 503 and 504. */
  readonly errors: readonly AnswerCode[]
  /** Tokens that one request takes from a client's bucket; a list takes more for its rows, and a coded answer more than a plain one. */
  readonly cost: number
  /** Of a query that looks into every network: further tokens for each. */
  readonly costPerNetwork?: number
  /** Whether the answer mostly holds far less than is estimated: then it costs what it holds. */
  holdsLess?(query: Query): boolean
  /** Of a list: most rows of the answer. */
  mostRows?(query: Query): number
  /** Of a list: most rows in front of the page that are stepped over one by one. */
  walkedRows?(query: Query): number
  /** Upper estimate of the answer, for the byte budget of a batch. */
  estimateBytes(query: Query): number
  /** Of answers that take longer than their bytes say: upper estimate of the time, as bytes of a plain page that takes as long. */
  estimateWork?(query: Query): number
  /** Size up to which the answer is sent even if `http.max_response_bytes` is lower. Absent: 0. */
  entitledBytes?(query: Query): number
}

/** Bytes of one row on the wire, rounded up from rows with the usual 192 bytes of metadata. */
const BRIDGE_ROW_BYTES = 1_300
const CLAIM_ROW_BYTES = 900
const TOKEN_MAPPING_ROW_BYTES = 1_100
const STATUS_BYTES = 2_500
/** The way of a bridge takes look-ups all over the stores: 40 to 70 µs, as a page of 100 (20,000 bridges, November 2026). */
const STATUS_WORK = 64 * 1024
const SEARCH_RESULT_BYTES = 400

function mostStatuses({ depositCount }: QueryByOperation['getBridgeStatus']): number {
  return depositCount === undefined ? MAX_STATUSES : 1
}

/** An answer with the metadata of one deposit whole, in hexadecimal. */
const WHOLE_ANSWER_BYTES = 2 * WHOLE_METADATA_BYTES + 65_536
/** A row with the longest metadata that lists show, and with a name and a symbol of 256 characters, each of which JSON escapes as six. */
const LONGEST_TOKEN_MAPPING_BYTES = 2 * LISTED_METADATA_BYTES + 2 * 6 * 256 + TOKEN_MAPPING_ROW_BYTES

const LIST_ERRORS = ['INVALID_PARAMETER', 'INVALID_NETWORK_ID'] as const
const PROOF_ERRORS = [...LIST_ERRORS, 'BRIDGE_NOT_FOUND', 'PROOF_NOT_AVAILABLE'] as const

function mostBridges({ pageSize, depositCounts }: QueryByOperation['getBridges']): number {
  return Math.min(pageSize, depositCounts?.length ?? pageSize)
}

/** The rows of all networks lie in no common order, so a page is reached by walking to it; that of one network is not. */
function rowsInFront({ networkId, skipped = 0 }: QueryByOperation['getClaims']): number {
  return networkId === undefined ? Math.min(skipped, MAX_WALKED_ROWS) : 0
}

/** The only list of data endpoints. */
export const routes = {
  getBridges: {
    path: '/bridge/v1/bridges',
    summary: 'Bridge transactions of one source network',
    parameters: BridgesParameters,
    toQuery: toBridgesQuery,
    check: checkBridgesQuery,
    response: BridgesResponse,
    rows: bridgeTemplate,
    errors: LIST_ERRORS,
    cost: 1,
    mostRows: mostBridges,
    // Of one deposit there is a row for each network at most.
    walkedRows: (query) => (query.depositCounts === undefined ? rowsInFront(query) : 0),
    estimateBytes: (query) => mostBridges(query) * BRIDGE_ROW_BYTES,
    entitledBytes: ({ depositCounts }) => (depositCounts?.length === 1 ? WHOLE_ANSWER_BYTES : 0),
  },
  getClaims: {
    path: '/bridge/v1/claims',
    summary: 'Claim transactions on one network',
    parameters: ClaimsParameters,
    toQuery: toClaimsQuery,
    check: checkClaimsQuery,
    response: ClaimsResponse,
    rows: claimTemplate,
    errors: LIST_ERRORS,
    cost: 1,
    mostRows: ({ pageSize }) => pageSize,
    walkedRows: rowsInFront,
    estimateBytes: (query) => query.pageSize * CLAIM_ROW_BYTES,
  },
  getClaimProof: {
    path: '/bridge/v1/claim-proof',
    summary: 'Proof for a claim under one leaf of the L1 info tree',
    parameters: ClaimProofParameters,
    toQuery: toClaimProofQuery,
    response: ClaimProofResponse,
    errors: PROOF_ERRORS,
    cost: 2,
    estimateBytes: () => 6_000,
  },
  getL1InfoTreeIndex: {
    path: '/bridge/v1/l1-info-tree-index',
    summary: 'Smallest L1 info tree index to use for the proof of a bridge',
    parameters: L1InfoTreeIndexParameters,
    toQuery: toL1InfoTreeIndexQuery,
    response: L1InfoTreeIndexResponse,
    errors: PROOF_ERRORS,
    cost: 1,
    estimateBytes: () => 500,
  },
  getInjectedL1InfoLeaf: {
    path: '/bridge/v1/injected-l1-info-leaf',
    summary: 'First L1 info leaf from an index on that a network accepts',
    parameters: InjectedL1InfoLeafParameters,
    toQuery: toInjectedL1InfoLeafQuery,
    response: InjectedL1InfoLeafResponse,
    errors: [...LIST_ERRORS, 'PROOF_NOT_AVAILABLE'],
    cost: 1,
    estimateBytes: () => 700,
  },
  getTokenMappings: {
    path: '/bridge/v1/token-mappings',
    summary: 'Wrapped and sovereign tokens with their homes',
    parameters: TokenMappingsParameters,
    toQuery: toTokenMappingsQuery,
    response: TokenMappingsResponse,
    rows: tokenMappingTemplate,
    errors: LIST_ERRORS,
    cost: 1,
    mostRows: ({ pageSize }) => pageSize,
    estimateBytes: (query) => query.pageSize * TOKEN_MAPPING_ROW_BYTES,
    entitledBytes: (query) => query.pageSize * LONGEST_TOKEN_MAPPING_BYTES,
  },
  getClaimTransaction: {
    path: '/bridge/v1/claim-transaction',
    summary: 'The claim call of a bridge, ABI-encoded and ready to sign',
    parameters: ClaimTransactionParameters,
    toQuery: toClaimTransactionQuery,
    response: ClaimTransactionResponse,
    errors: PROOF_ERRORS,
    cost: 2,
    estimateBytes: () => 8_000,
    entitledBytes: () => WHOLE_ANSWER_BYTES,
  },
  getBridgeStatus: {
    path: '/bridge/v1/bridge-status',
    summary: 'The way of a bridge from the deposit to the claim: stages, the current one, what it waits for',
    parameters: BridgeStatusParameters,
    toQuery: toBridgeStatusQuery,
    check: checkBridgeStatusQuery,
    response: BridgeStatusResponse,
    errors: [...LIST_ERRORS, 'BRIDGE_NOT_FOUND'],
    cost: 2,
    holdsLess: ({ depositCount }) => depositCount === undefined,
    estimateBytes: (query) => mostStatuses(query) * STATUS_BYTES,
    estimateWork: (query) => mostStatuses(query) * STATUS_WORK,
  },
  getSearch: {
    path: '/bridge/v1/search',
    summary: 'What a transaction hash, an address, a global index or a deposit is, and where',
    parameters: SearchParameters,
    toQuery: toSearchQuery,
    check: checkSearchQuery,
    response: SearchResponse,
    errors: ['INVALID_PARAMETER'],
    cost: 1,
    costPerNetwork: 0.25,
    estimateBytes: () => MAX_SEARCH_RESULTS * SEARCH_RESULT_BYTES,
  },
} as const satisfies { readonly [K in OperationId]: RouteOf<K> }

// A route's own parameter schema is narrower than TObject; `never` lets each toQuery keep its own argument type.
interface RouteOf<K extends OperationId> extends Omit<Route<QueryByOperation[K]>, 'toQuery'> {
  toQuery(wire: never, cursor?: Cursor): QueryByOperation[K]
}

export const operationIds = Object.keys(routes) as readonly OperationId[]

/** See `streamRoutes`. */
export interface StreamRoute
  extends Pick<
    Route<EventsQuery>,
    'path' | 'summary' | 'parameters' | 'toQuery' | 'check' | 'errors' | 'cost'
  > {
  /** What the data of an event is. */
  readonly data: TSchema
}

/** An endpoint whose answer goes on until the client ends it: events, as they come. */
export const streamRoutes = {
  getEvents: {
    path: '/bridge/v1/events',
    summary: 'Events as they happen, as Server-Sent Events',
    parameters: EventsParameters,
    toQuery: toEventsQuery,
    check: checkEventsQuery,
    errors: [...LIST_ERRORS, 'POSITION_GONE'],
    cost: 5,
    data: EventData,
  },
} as const satisfies Record<string, StreamRoute>

/** An endpoint that becomes a WebSocket. */
export type SocketRoute = Pick<StreamRoute, 'path' | 'summary' | 'parameters' | 'errors' | 'cost'>

export const socketRoutes = {
  getEventSocket: {
    path: '/bridge/v1/events/ws',
    summary: 'The same over WebSocket',
    parameters: streamRoutes.getEvents.parameters,
    errors: [...streamRoutes.getEvents.errors, 'UPGRADE_REQUIRED'],
    cost: streamRoutes.getEvents.cost,
  },
} as const satisfies Record<string, SocketRoute>

/** An endpoint that the front answers at once, from memory. Its query string is ignored. */
export interface ProbeRoute {
  readonly paths: readonly string[]
  readonly summary: string
  readonly response: TSchema
  /** Statuses besides 200. */
  readonly otherStatuses: readonly number[]
  /** The answer with these statuses, if it is not `response`. */
  readonly otherResponse?: TSchema
}

export const probeRoutes = {
  getHealth: {
    paths: ['/', '/bridge/v1', '/bridge/v1/'],
    summary: 'Health check, version and supported networks',
    response: HealthResponse,
    otherStatuses: [503],
  },
  getSyncStatus: {
    paths: ['/bridge/v1/sync-status'],
    summary: 'Synchronisation of the chains and of the bridge indexer',
    response: SyncStatusResponse,
    otherStatuses: [],
  },
  getNetworks: {
    paths: ['/bridge/v1/networks'],
    summary: 'Networks that are served, with their chain ids and contracts',
    response: NetworksResponse,
    otherStatuses: [],
  },
  getLiveness: {
    paths: ['/livez'],
    summary: 'The process answers',
    response: LivenessResponse,
    otherStatuses: [],
  },
  getReadiness: {
    paths: ['/readyz'],
    summary: 'Whether a balancer should send requests here',
    response: ReadinessResponse,
    otherStatuses: [503],
    otherResponse: ErrorResponse,
  },
} as const satisfies Record<string, ProbeRoute>
