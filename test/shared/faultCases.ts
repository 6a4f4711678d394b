import type { NetworkSettings } from './faultWorld.js'

/** A fault in the words of the replay server. Without `network` it is switched on for all. */
export interface Fault {
  readonly name: string
  readonly network?: number
  readonly [option: string]: unknown
}

export interface FaultCase {
  readonly title: string
  readonly faults: readonly Fault[]
  readonly settings?: NetworkSettings & { readonly emptyBlocks?: number }
  /** Callers can't be told for some transactions while it lasts; once it is over, they must be. */
  readonly refusesTraces?: true
  /** Part of the run that every change goes through; the others only with the complete matrix. */
  readonly isShort?: true
}

export interface PermanentCase extends FaultCase {
  /** Where the chain can be followed all the same, depending on when the fault begins. */
  readonly mayCope?: true
  /** The chain looks complete, only shorter: the fault cannot be noticed. */
  readonly isUnseen?: true
}

/** Stands for the first transaction of a set that reaches the bridge through a contract. */
export const THROUGH_CONTRACT = 'through a contract'

const short = { isShort: true } as const

/** Faults that pass: after some requests, or for a share of them. */
export const transient: readonly FaultCase[] = [
  { title: 'refused with 429 and Retry-After', faults: [{ name: 'http429', count: 4, retryAfter: 1 }] },
  { title: 'a third refused with 429', faults: [{ name: 'http429', prob: 0.3 }] },
  {
    title: 'every third refused with 429 in plain text',
    faults: [{ name: 'http429', every: 3, plain: true }],
  },
  { title: 'refused with 503', faults: [{ name: 'http5xx', count: 5 }] },
  { title: 'a third refused with 503', faults: [{ name: 'http5xx', prob: 0.3 }] },
  {
    title: 'every second refused with 502 in plain text',
    faults: [{ name: 'http5xx', every: 2, status: 502, plain: true }],
  },
  { title: 'half the answers late', faults: [{ name: 'latency', ms: 300, jitter: 300, prob: 0.5 }] },
  { title: 'every fourth answer after the time-out', faults: [{ name: 'latency', ms: 2500, every: 4 }] },
  { title: 'three answers that never come', faults: [{ name: 'silent', count: 3 }] },
  { title: 'a tenth of the answers never come', faults: [{ name: 'silent', prob: 0.1 }] },
  { title: 'connections reset', faults: [{ name: 'reset', count: 5 }] },
  { title: 'a third of the connections reset', faults: [{ name: 'reset', prob: 0.3 }] },
  { title: 'answers that trickle', faults: [{ name: 'slowBody', count: 3, chunk: 64, ms: 200 }] },
  { title: 'answers cut', faults: [{ name: 'truncateJson', count: 5 }] },
  { title: 'a third of the answers cut', faults: [{ name: 'truncateJson', prob: 0.3 }] },
  {
    title: 'every second answer broken off',
    faults: [{ name: 'truncateJson', every: 2, abort: true }],
  },
  { title: 'three empty lists', faults: [{ name: 'emptyLogs', count: 3 }] },
  { title: 'half of the lists empty', faults: [{ name: 'emptyLogs', count: 1000, prob: 0.5 }], ...short },
  { title: 'null for new blocks, three times', faults: [{ name: 'nullBlock', depth: 3, count: 3 }] },
  { title: 'null for new blocks, a third of the time', faults: [{ name: 'nullBlock', depth: 3, prob: 0.3 }] },
  { title: 'logs of another branch, three times', faults: [{ name: 'orphanLogs', depth: 6, count: 3 }] },
  {
    title: 'changed logs of another branch, half of the time',
    faults: [{ name: 'orphanLogs', depth: 6, mutate: true, prob: 0.5 }],
    ...short,
  },
  { title: 'logs marked as removed, twice', faults: [{ name: 'removedLogs', mode: 'flag', count: 2 }] },
  { title: 'another chain, twice', faults: [{ name: 'chainId', value: 5, count: 2 }] },
  { title: 'pruned, twice', faults: [{ name: 'pruned', below: 1000, count: 2 }] },
  {
    title: 'no eth_getLogs, three times',
    faults: [{ name: 'noMethod', methods: ['eth_getLogs'], count: 3 }],
  },
  {
    title: 'no eth_getBlockByNumber, three times',
    faults: [{ name: 'noMethod', methods: ['eth_getBlockByNumber'], count: 3 }],
  },
  {
    title: 'batches without their last reply, at times',
    faults: [{ name: 'batchOrder', mode: 'drop', prob: 0.5 }],
  },
  { title: 'batches refused at times', faults: [{ name: 'noBatch', prob: 0.5 }] },
  ...[
    [-32601, 'the method debug_traceTransaction does not exist/is not available'],
    [-32000, 'execution timeout'],
  ].flatMap(([code, message]) => [
    {
      title: `call traces refused three times: ${message}`,
      faults: [{ name: 'traceHiccup', code, message, count: 3 }],
    },
    {
      title: `half of the call traces refused: ${message}`,
      faults: [{ name: 'traceHiccup', code, message, prob: 0.5 }],
      // Each try of a transaction fails with the same chance again, for as long as the fault lasts.
      refusesTraces: true as const,
    },
  ]),
  ...[
    ['BridgeEvent', 0],
    ['BridgeEvent', 1],
    ['ClaimEvent', 1],
    ['UpdateHashChainValue', 1],
    ['NewWrappedToken', 1],
    ['UpdateL1InfoTree', 0],
    ['UpdateL1InfoTreeV2', 0],
    ['VerifyBatchesTrustedAggregator', 0],
  ].map(([event, network]) => ({
    title: `${event} on network ${network} hidden once`,
    faults: [{ name: 'hideLog', network: Number(network), event, mode: 'once' }],
  })),
  {
    title: 'a storm of everything',
    faults: [
      { name: 'http5xx', prob: 0.05 },
      { name: 'http429', prob: 0.05 },
      { name: 'reset', prob: 0.05 },
      { name: 'truncateJson', prob: 0.05 },
      { name: 'silent', prob: 0.02 },
      { name: 'emptyLogs', count: 1000, prob: 0.1 },
      { name: 'orphanLogs', depth: 6, mutate: true, prob: 0.1 },
      { name: 'nullBlock', depth: 3, prob: 0.1 },
      { name: 'lag', blocks: 4, pattern: 'random' },
      { name: 'unorderedLogs' },
      { name: 'duplicateLogs' },
      { name: 'batchOrder', mode: 'shuffle' },
    ],
    ...short,
  },
]

/** Faults that stay, and around which there is a way. */
export const lasting: readonly FaultCase[] = [
  ...[1, 7, 100].map((limit) => ({
    title: `ranges of ${limit} blocks at most, each refusal in other words`,
    faults: [{ name: 'maxBlockRange', limit, error: 'rotate' }],
    settings: { emptyBlocks: 150 },
  })),
  {
    title: 'ranges of 7 blocks at most, refused in random words',
    faults: [{ name: 'maxBlockRange', limit: 7, error: 'random' }],
    ...short,
  },
  ...[1, 5].map((limit) => ({
    title: `${limit} logs at most, each refusal in other words`,
    faults: [{ name: 'maxResults', limit, error: 'rotate' }],
  })),
  { title: 'logs in any order', faults: [{ name: 'unorderedLogs' }] },
  { title: 'logs told twice', faults: [{ name: 'duplicateLogs' }] },
  { title: 'every third log told twice', faults: [{ name: 'duplicateLogs', nth: 3 }] },
  { title: 'removed logs among them', faults: [{ name: 'removedLogs', mode: 'add', depth: 6 }] },
  ...['absent', 'zero', 'number', 'wrong'].map((mode) => ({
    title: `block time of logs ${mode}`,
    faults: [{ name: 'blockTimestamp', mode }],
    settings: { emptyBlocks: 150 },
  })),
  ...['error', 'http400', 'array'].map((style) => ({
    title: `batches refused: ${style}`,
    faults: [{ name: 'noBatch', style }],
  })),
  ...[
    'error',
    'code',
    'top',
    'list',
    'each',
    'http400',
    'http413',
    'http500',
    'http503',
    'drop',
    'empty',
    'first',
  ].flatMap((style, index) =>
    [1, 3, 20].map((limit) => ({
      title: `batches of ${limit} calls at most: ${style}`,
      faults: [{ name: 'batchLimit', limit, style }],
      ...(index % 4 === 0 && limit === 3 ? short : {}),
    })),
  ),
  {
    title: 'batches of 3 calls at most, called too many requests',
    faults: [{ name: 'batchLimit', limit: 3, style: 'http400', message: 'too many requests' }],
  },
  {
    title: 'batches of 3 calls at most, and a third refused with 503',
    faults: [
      { name: 'batchLimit', limit: 3, style: 'top' },
      { name: 'http5xx', prob: 0.3 },
    ],
  },
  ...['reverse', 'shuffle', 'drop', 'dropFirst'].map((mode) => ({
    title: `batch replies: ${mode}`,
    faults: [{ name: 'batchOrder', mode }],
  })),
  { title: 'no call traces', faults: [{ name: 'noDebug' }], refusesTraces: true },
  ...[
    [-32000, 'execution timeout'],
    [-32000, 'transaction not found'],
    [-32601, 'the method debug_traceTransaction does not exist/is not available'],
  ].map(([code, message]) => ({
    title: `call traces refused: ${message}`,
    faults: [{ name: 'traceHiccup', code, message }],
    refusesTraces: true as const,
  })),
  ...[
    [-32000, 'execution timeout'],
    [-32000, 'transaction not found'],
  ].map(([code, message]) => ({
    title: `no call trace of one transaction: ${message}`,
    faults: [{ name: 'traceHiccup', txHash: THROUGH_CONTRACT, code, message }],
    refusesTraces: true as const,
  })),
  ...['unsupported', 'notfound', 'zero', 'null', 'regress'].flatMap((mode) =>
    ['finalized', 'safe'].map((finality) => ({
      title: `${finality} ${mode}`,
      faults: [{ name: 'finalized', mode }],
      settings: { finality, emptyBlocks: 100 },
    })),
  ),
  ...['alternate', 'random', 'logs'].map((pattern) => ({
    title: `a node that is behind: ${pattern}`,
    faults: [{ name: 'lag', blocks: 5, pattern }],
  })),
  {
    title: 'a node that is behind, and no batches',
    faults: [{ name: 'lag', blocks: 5 }, { name: 'noBatch' }],
    ...short,
  },
  {
    title: 'a node that is behind, and batches of 3 calls at most',
    faults: [
      { name: 'lag', blocks: 5 },
      { name: 'batchLimit', limit: 3, style: 'list' },
    ],
  },
  { title: 'empty blooms', faults: [{ name: 'zeroBloom' }] },
  {
    title: 'empty blooms, single calls, and calls at random answered by a node that is behind',
    faults: [
      { name: 'zeroBloom' },
      { name: 'batchLimit', limit: 1, style: 'http400' },
      { name: 'lag', blocks: 5, pattern: 'random' },
    ],
  },
  {
    title: 'empty blooms, batches of 2, and requests at random answered by a node that is behind',
    faults: [
      { name: 'zeroBloom' },
      { name: 'batchLimit', limit: 2, style: 'drop' },
      { name: 'lag', blocks: 5, pattern: 'random' },
    ],
  },
  {
    title: 'empty blooms and a deposit hidden once',
    faults: [{ name: 'zeroBloom' }, { name: 'hideLog', network: 1, event: 'BridgeEvent', mode: 'once' }],
  },
  {
    title: 'a deposit that only a question by hash shows',
    faults: [{ name: 'hideLog', event: 'BridgeEvent', mode: 'always', where: 'range' }],
    ...short,
  },
  { title: 'no receipts of whole blocks', faults: [{ name: 'noMethod', methods: ['eth_getBlockReceipts'] }] },
  { title: 'no eth_getCode', faults: [{ name: 'noMethod', methods: ['eth_getCode'] }] },
  { title: 'an error past the head', faults: [{ name: 'aheadOfHead' }] },
  { title: 'slow all the time', faults: [{ name: 'latency', ms: 120, jitter: 50 }] },
]

/** Faults that stay and leave no way, as long as there is one endpoint. */
export const permanent: readonly PermanentCase[] = [
  { title: 'another chain', faults: [{ name: 'chainId', value: 5 }] },
  { title: 'silent', faults: [{ name: 'silent' }] },
  { title: 'refused with 503', faults: [{ name: 'http5xx' }] },
  { title: 'refused with 500 in plain text', faults: [{ name: 'http5xx', status: 500, plain: true }] },
  { title: 'refused with 429', faults: [{ name: 'http429', retryAfter: 2 }] },
  { title: 'connections reset', faults: [{ name: 'reset' }] },
  { title: 'answers cut', faults: [{ name: 'truncateJson' }] },
  { title: 'answers broken off', faults: [{ name: 'truncateJson', abort: true }] },
  { title: 'answers after the time-out', faults: [{ name: 'latency', ms: 4000 }] },
  { title: 'answers that trickle', faults: [{ name: 'slowBody', chunk: 16, ms: 300 }] },
  ...[
    ['BridgeEvent', 0],
    ['BridgeEvent', 1],
    ['ClaimEvent', 1],
    ['ClaimEvent', 0],
    ['UpdateHashChainValue', 1],
    ['NewWrappedToken', 1],
    ['UpdateL1InfoTree', 0],
    ['UpdateL1InfoTreeV2', 0],
    ['VerifyBatchesTrustedAggregator', 0],
  ].map(([event, network]) => ({
    title: `${event} on network ${network} hidden for ever`,
    faults: [{ name: 'hideLog', network: Number(network), event, mode: 'always' }],
    // Some sets have no such event after the middle.
    mayCope: true as const,
  })),
  // In blocks below the last ones no bloom is read and no later event depends on these logs: only the
  // contracts' state shows that they are missing.
  ...[
    ['ClaimEvent', 0],
    ['ClaimEvent', 1],
    ['ClaimEvent', 2],
    ['UpdateHashChainValue', 1],
    ['UpdateRemovalHashChainValue', 1],
    ['InsertGlobalExitRoot', 1],
    ['UnsetClaim', 1],
    ['UpdatedUnsetGlobalIndexHashChain', 1],
    ['SetClaim', 1],
  ].map(([event, network], index) => ({
    title: `${event} on network ${network} hidden for ever in far history`,
    faults: [{ name: 'hideLog', network: Number(network), event, mode: 'always' }],
    settings: { emptyBlocks: 200 },
    mayCope: true as const,
    ...(index === 1 ? short : {}),
  })),
  {
    title: 'deposits hidden for ever, blooms empty',
    faults: [
      { name: 'zeroBloom' },
      { name: 'hideLog', network: 1, event: 'BridgeEvent', depositCount: 1, mode: 'always' },
    ],
    mayCope: true,
  },
  {
    title: 'all lists empty',
    faults: [{ name: 'emptyLogs', count: 1_000_000 }],
    ...short,
  },
  { title: 'history pruned', faults: [{ name: 'pruned', below: 25 }], mayCope: true },
  ...['range', 'hash', 'both'].flatMap((by) =>
    [false, true].map((mutate) => ({
      title: `${mutate ? 'changed ' : ''}logs of another branch, by ${by}`,
      faults: [{ name: 'orphanLogs', depth: 6, by, mutate }],
      mayCope: true as const,
    })),
  ),
  ...['eth_getLogs', 'eth_getBlockByNumber', 'eth_chainId', 'eth_call'].map((method) => ({
    title: `no ${method}`,
    faults: [{ name: 'noMethod', methods: [method] }],
    mayCope: true as const,
  })),
  { title: 'null for new blocks', faults: [{ name: 'nullBlock', depth: 3 }] },
  { title: 'all logs marked as removed', faults: [{ name: 'removedLogs', mode: 'flag' }] },
  {
    title: 'headers always behind',
    faults: [{ name: 'lag', blocks: 5, pattern: 'headers' }],
    isUnseen: true,
  },
  { title: 'always behind', faults: [{ name: 'lag', blocks: 5, pattern: 'all' }], isUnseen: true },
]
