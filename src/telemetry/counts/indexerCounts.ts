import { monotonicMs } from '../clocks.js'
import { bucketOf, type Histogram, type ThreadTimes } from '../frontCounts.js'

const OTHER = 'other'

/** Methods that are counted by name. Any other is counted as `OTHER`. */
const rpcMethods = [
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getCode',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'debug_traceTransaction',
  OTHER,
] as const

/** How a call may fail (`RpcFailureKind`). */
export const rpcFailureKinds = [
  'rpc',
  'http',
  'rateLimit',
  'timeout',
  'network',
  'body',
  'behind',
  'gone',
  'tooMuch',
] as const
export type CountedFailure = (typeof rpcFailureKinds)[number]

/** Why an endpoint is not asked now, or asked last: its newest failure, or what was found out about it. */
export const restReasons = [...rpcFailureKinds, 'wrongChain', 'contradiction', 'lagging'] as const
export type RestReason = (typeof restReasons)[number]

/** How a comparison of the store with the contracts ended: also without an answer, or with one that could be neither proven nor refuted. */
export const auditResults = ['same', 'unanswered', 'disputed', 'contradicted'] as const
export type AuditResult = (typeof auditResults)[number]

/** Roots that what was read did not lead to. */
export const mismatchedRoots = [
  'l1_info_root_mismatch',
  'exit_root_mismatch',
  'rollup_exit_root_mismatch',
] as const

/** Seconds. */
export const RPC_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
export const BATCH_CALL_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
/** Seconds. */
export const COMMIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
/** Blocks. */
export const REORG_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** As many as a configuration may have for one network. A reload may change which ones they are. */
const MOST_ENDPOINTS = 32
/** Of a longer alias only so many letters are told. */
const MOST_LETTERS = 128

/** Counts of every network and its endpoints, as they are passed to threads: plain data with shared memory inside. */
export interface IndexerCountsHandle {
  readonly networkIds: readonly number[]
  readonly memory: SharedArrayBuffer
}

/** Takes places for numbers one after the other. */
function places(): { take(count: number): number; taken(): number } {
  let next = 0
  return {
    take(count) {
      next += count
      return next - count
    },
    taken: () => next,
  }
}

const histogramOf = (at: { take(count: number): number }, bounds: readonly number[]) => ({
  bounds,
  buckets: at.take(bounds.length + 1),
  sum: at.take(1),
})

function layoutOfNetwork() {
  const at = places()
  const layout = {
    /** Position of the endpoint that served last, and 1; 0 = none has. */
    inUse: at.take(1),
    reorgDepths: histogramOf(at, REORG_BUCKETS),
    commits: histogramOf(at, COMMIT_BUCKETS),
    audits: at.take(auditResults.length),
    /** `monotonicMs()` of the last audit that was answered; 0 = none was. */
    auditedAtMs: at.take(1),
    mismatches: at.take(mismatchedRoots.length),
    loopActiveSec: at.take(1),
    loopIdleSec: at.take(1),
    collections: at.take(1),
    collectingSec: at.take(1),
  }
  return { ...layout, size: at.taken() }
}

function layoutOfEndpoint() {
  const at = places()
  const layout = {
    /** Letters of the alias; 0 = no endpoint has this place. */
    letters: at.take(1),
    alias: at.take(Math.ceil(MOST_LETTERS / 4)),
    /** Of the endpoint in the configuration, from 0 on. */
    position: at.take(1),
    requests: at.take(rpcMethods.length),
    errors: at.take(rpcMethods.length * rpcFailureKinds.length),
    durations: histogramOf(at, RPC_BUCKETS),
    batches: histogramOf(at, BATCH_CALL_BUCKETS),
    sentBytes: at.take(1),
    receivedBytes: at.take(1),
    windowBlocks: at.take(1),
    batchCalls: at.take(1),
    waits: at.take(1),
    waitedSec: at.take(1),
    failovers: at.take(1),
    recoveredLogs: at.take(1),
    /** `monotonicMs()` until which it rests for each reason; for `lagging`, 1 while it does. */
    rests: at.take(restReasons.length),
  }
  return { ...layout, size: at.taken() }
}

const ofNetwork = layoutOfNetwork()
const ofEndpoint = layoutOfEndpoint()

const sizeOfNetwork = ofNetwork.size + MOST_ENDPOINTS * ofEndpoint.size

/** The main thread calls it once, before any other thread starts. */
export function createIndexerCounts(networkIds: readonly number[]): IndexerCountsHandle {
  const bytes = networkIds.length * sizeOfNetwork * Float64Array.BYTES_PER_ELEMENT
  return { networkIds, memory: new SharedArrayBuffer(bytes) }
}

interface Place {
  readonly numbers: Float64Array
  readonly letters: Uint16Array
}

/** @throws RangeError for a network that has no counts. */
function placesOf(
  { networkIds, memory }: IndexerCountsHandle,
  networkId: number,
): { readonly network: Float64Array; readonly endpoints: readonly Place[] } {
  const position = networkIds.indexOf(networkId)
  if (position < 0) throw new RangeError(`network ${networkId} has no counts`)
  const bytes = Float64Array.BYTES_PER_ELEMENT
  const start = position * sizeOfNetwork * bytes
  return {
    network: new Float64Array(memory, start, ofNetwork.size),
    endpoints: Array.from({ length: MOST_ENDPOINTS }, (_, index) => {
      const at = start + (ofNetwork.size + index * ofEndpoint.size) * bytes
      return {
        numbers: new Float64Array(memory, at, ofEndpoint.size),
        letters: new Uint16Array(memory, at + ofEndpoint.alias * bytes, MOST_LETTERS),
      }
    }),
  }
}

function aliasAt({ numbers, letters }: Place): string | undefined {
  const length = numbers[ofEndpoint.letters]!
  return length === 0 ? undefined : String.fromCharCode(...letters.subarray(0, length))
}

function addTo(numbers: Float64Array, at: ReturnType<typeof histogramOf>, value: number): void {
  numbers[at.buckets + bucketOf(at.bounds, value)]! += 1
  numbers[at.sum]! += value
}

const methodAt: ReadonlyMap<string, number> = new Map(rpcMethods.map((method, at) => [method, at]))
const placeOfMethod = (method: string): number => methodAt.get(method) ?? rpcMethods.length - 1

/** Counts what one endpoint is asked and answers. */
export class EndpointCounts {
  readonly #numbers: Float64Array
  readonly #now: () => number

  constructor(numbers: Float64Array = new Float64Array(ofEndpoint.size), now: () => number = monotonicMs) {
    this.#numbers = numbers
    this.#now = now
  }

  /** One HTTP request has ended, well or not. */
  requested(calls: number, durationSec: number): void {
    addTo(this.#numbers, ofEndpoint.durations, durationSec)
    addTo(this.#numbers, ofEndpoint.batches, calls)
  }

  called(method: string): void {
    this.#numbers[ofEndpoint.requests + placeOfMethod(method)]! += 1
  }

  failed(method: string, kind: CountedFailure): void {
    const at = placeOfMethod(method) * rpcFailureKinds.length + rpcFailureKinds.indexOf(kind)
    this.#numbers[ofEndpoint.errors + at]! += 1
  }

  sent(bytes: number): void {
    this.#numbers[ofEndpoint.sentBytes]! += bytes
  }

  /** @param bytes after they were unpacked. */
  received(bytes: number): void {
    this.#numbers[ofEndpoint.receivedBytes]! += bytes
  }

  /** @param windowBlocks of the next read of logs. @param batchCalls of the next batch. */
  sizes(windowBlocks: number, batchCalls: number): void {
    this.#numbers[ofEndpoint.windowBlocks] = windowBlocks
    this.#numbers[ofEndpoint.batchCalls] = batchCalls
  }

  /** Calls had to wait for the endpoint's budget (`max_rps`). */
  waited(seconds: number): void {
    this.#numbers[ofEndpoint.waits]! += 1
    this.#numbers[ofEndpoint.waitedSec]! += seconds
  }

  /** Logs were found that a first answer had left out. */
  recoveredLogs(count: number): void {
    this.#numbers[ofEndpoint.recoveredLogs]! += count
  }

  /** The endpoint is not asked, or is asked last, for so long from now on. A reason of its own ends no other one. */
  rests(reason: Exclude<RestReason, 'lagging'>, ms: number): void {
    this.#numbers[ofEndpoint.rests + restReasons.indexOf(reason)] = this.#now() + ms
  }

  /** It has answered: what it failed for does not hold any more. */
  answered(): void {
    const { rests } = ofEndpoint
    this.#numbers.fill(0, rests, rests + rpcFailureKinds.length)
    this.#numbers[rests + restReasons.indexOf('wrongChain')] = 0
  }

  lags(isLagging: boolean): void {
    this.#numbers[ofEndpoint.rests + restReasons.indexOf('lagging')] = isLagging
      ? Number.POSITIVE_INFINITY
      : 0
  }
}

/**
 * Counts what the indexer thread of one network does; no other thread writes. So a count is a plain addition. Other threads read at any
 * time (`IndexerCountsReader`): a 64-bit machine writes an aligned number of 64 bits in one piece.
 */
export class IndexerCounts {
  readonly #network: Float64Array
  readonly #endpoints: readonly Place[]
  readonly #now: () => number

  constructor(handle: IndexerCountsHandle, networkId: number, now: () => number = monotonicMs) {
    const { network, endpoints } = placesOf(handle, networkId)
    this.#network = network
    this.#endpoints = endpoints
    this.#now = now
  }

  /**
   * Gives each endpoint a place: the one that it had before, so that its counts go on when the network is started again. Endpoints that
   * are no longer configured lose theirs.
   * @returns one for each alias. One without a place is counted nowhere.
   */
  endpoints(aliases: readonly string[]): EndpointCounts[] {
    const told = aliases.map((alias) => alias.slice(0, MOST_LETTERS))
    for (const place of this.#endpoints) {
      const alias = aliasAt(place)
      if (alias !== undefined && !told.includes(alias)) place.numbers.fill(0)
    }
    this.#network[ofNetwork.inUse] = 0
    return told.map((alias, position) => {
      const known = this.#endpoints.find((place) => aliasAt(place) === alias)
      const place = known ?? this.#endpoints.find((other) => aliasAt(other) === undefined)
      if (place === undefined) return new EndpointCounts()
      for (let at = 0; at < alias.length; at++) place.letters[at] = alias.charCodeAt(at)
      place.numbers[ofEndpoint.letters] = alias.length
      place.numbers[ofEndpoint.position] = position
      place.numbers.fill(0, ofEndpoint.rests, ofEndpoint.rests + restReasons.length)
      return new EndpointCounts(place.numbers, this.#now)
    })
  }

  /** The endpoint has served a task. When another one did before, it has taken over from that one. */
  served(alias: string): void {
    const at = this.#endpoints.findIndex((place) => aliasAt(place) === alias.slice(0, MOST_LETTERS))
    const before = this.#network[ofNetwork.inUse]! - 1
    if (before >= 0 && before !== at) this.#endpoints[before]!.numbers[ofEndpoint.failovers]! += 1
    this.#network[ofNetwork.inUse] = at + 1
  }

  reorged(depth: number): void {
    addTo(this.#network, ofNetwork.reorgDepths, depth)
  }

  committed(seconds: number): void {
    addTo(this.#network, ofNetwork.commits, seconds)
  }

  audited(result: AuditResult): void {
    this.#network[ofNetwork.audits + auditResults.indexOf(result)]! += 1
    if (result === 'same' || result === 'contradicted') this.#network[ofNetwork.auditedAtMs] = this.#now()
  }

  /** @param reason of a halt; any but that of a root is not counted. */
  contradicted(reason: string): void {
    const at = (mismatchedRoots as readonly string[]).indexOf(reason)
    if (at >= 0) this.#network[ofNetwork.mismatches + at]! += 1
  }

  /** @param activeSec how long the thread's event loop was busy. @param idleSec how long it waited. Both since the thread's start. */
  loop(activeSec: number, idleSec: number): void {
    this.#network[ofNetwork.loopActiveSec] = activeSec
    this.#network[ofNetwork.loopIdleSec] = idleSec
  }

  collected(seconds: number): void {
    this.#network[ofNetwork.collections]! += 1
    this.#network[ofNetwork.collectingSec]! += seconds
  }
}

export interface EndpointState {
  /** In the configuration, from 0 on. */
  readonly position: number
  /** It served last. */
  readonly isInUse: boolean
  /** Why it is not asked now, or asked last; undefined = it does not rest. */
  readonly rests: RestReason | undefined
}

/** What was counted of one endpoint. */
export interface EndpointView extends EndpointState {
  readonly alias: string
  readonly requests: ReadonlyMap<string, number>
  /** Of every method, also of those that it was not asked for yet: what counts from its first failure on has no increase to show. */
  readonly errors: readonly {
    readonly method: string
    readonly kind: CountedFailure
    readonly count: number
  }[]
  readonly durations: Histogram
  readonly batches: Histogram
  readonly sentBytes: number
  readonly receivedBytes: number
  readonly windowBlocks: number
  readonly batchCalls: number
  readonly waits: number
  readonly waitedSec: number
  readonly failovers: number
  readonly recoveredLogs: number
}

/** Reads the counts of one network, in any thread. */
export class IndexerCountsReader {
  readonly #network: Float64Array
  readonly #endpoints: readonly Place[]

  constructor(handle: IndexerCountsHandle, networkId: number) {
    const { network, endpoints } = placesOf(handle, networkId)
    this.#network = network
    this.#endpoints = endpoints
  }

  /** How each endpoint is doing, in the order of the configuration; none before the indexer thread has started. @param nowMs `monotonicMs()` */
  endpointStates(nowMs: number): EndpointState[] {
    const states: EndpointState[] = []
    for (const [index, place] of this.#endpoints.entries())
      if (place.numbers[ofEndpoint.letters] !== 0) states.push(this.#stateOf(place, index, nowMs))
    return states.sort((a, b) => a.position - b.position)
  }

  /** All that was counted of them. @param nowMs `monotonicMs()` */
  endpoints(nowMs: number): EndpointView[] {
    return this.#endpoints.flatMap((place, index) => {
      const alias = aliasAt(place)
      return alias === undefined
        ? []
        : [{ alias, ...this.#stateOf(place, index, nowMs), ...viewOf(place.numbers) }]
    })
  }

  #stateOf(place: Place, index: number, nowMs: number): EndpointState {
    return {
      position: place.numbers[ofEndpoint.position]!,
      isInUse: index === this.#network[ofNetwork.inUse]! - 1,
      rests: restsAt(place, nowMs),
    }
  }

  reorgDepths(): Histogram {
    return histogramAt(this.#network, ofNetwork.reorgDepths)
  }

  commits(): Histogram {
    return histogramAt(this.#network, ofNetwork.commits)
  }

  audits(result: AuditResult): number {
    return this.#network[ofNetwork.audits + auditResults.indexOf(result)]!
  }

  /** `monotonicMs()` of the last one that was answered; undefined = none was. */
  auditedAtMs(): number | undefined {
    return this.#network[ofNetwork.auditedAtMs]! || undefined
  }

  mismatches(root: (typeof mismatchedRoots)[number]): number {
    return this.#network[ofNetwork.mismatches + mismatchedRoots.indexOf(root)]!
  }

  thread(): ThreadTimes {
    const [activeSec, idleSec, collections, collectingSec] = [
      ofNetwork.loopActiveSec,
      ofNetwork.loopIdleSec,
      ofNetwork.collections,
      ofNetwork.collectingSec,
    ].map((at) => this.#network[at]!) as [number, number, number, number]
    return { activeSec, idleSec, collections, collectingSec }
  }
}

function histogramAt(
  numbers: Float64Array,
  { bounds, buckets, sum }: ReturnType<typeof histogramOf>,
): Histogram {
  return { buckets: numbers.slice(buckets, buckets + bounds.length + 1), sum: numbers[sum]! }
}

function restsAt({ numbers }: Place, nowMs: number): RestReason | undefined {
  return restReasons.find((_, at) => numbers[ofEndpoint.rests + at]! > nowMs)
}

function viewOf(numbers: Float64Array): Omit<EndpointView, keyof EndpointState | 'alias'> {
  const { requests, errors } = ofEndpoint
  const told = rpcMethods.filter((method, at) => method !== OTHER || numbers[requests + at]! > 0)
  return {
    requests: new Map(rpcMethods.map((method, at) => [method, numbers[requests + at]!])),
    errors: told.flatMap((method) =>
      rpcFailureKinds.map((kind, at) => ({
        method,
        kind,
        count: numbers[errors + placeOfMethod(method) * rpcFailureKinds.length + at]!,
      })),
    ),
    durations: histogramAt(numbers, ofEndpoint.durations),
    batches: histogramAt(numbers, ofEndpoint.batches),
    sentBytes: numbers[ofEndpoint.sentBytes]!,
    receivedBytes: numbers[ofEndpoint.receivedBytes]!,
    windowBlocks: numbers[ofEndpoint.windowBlocks]!,
    batchCalls: numbers[ofEndpoint.batchCalls]!,
    waits: numbers[ofEndpoint.waits]!,
    waitedSec: numbers[ofEndpoint.waitedSec]!,
    failovers: numbers[ofEndpoint.failovers]!,
    recoveredLogs: numbers[ofEndpoint.recoveredLogs]!,
  }
}
