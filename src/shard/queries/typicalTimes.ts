import { isL1, L1_NETWORK_ID } from '../../protocol/networks.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import { type BridgeStage, MIN_TYPICAL_SAMPLE, type TypicalTime } from '../../query/statusRecords.js'
import { uint32Key } from '../../store/layout/keys.js'
import { listKinds } from '../../store/layout/tables.js'
import type { ClaimFacts } from '../readiness/claimFacts.js'
import type { ClaimPath } from '../readiness/claimPath.js'
import { BoundedCache } from '../sets/boundedCache.js'
import type { ShardView } from '../snapshot/shardView.js'

/** What `TypicalTimes` needs of the task's shards. */
interface TypicalTimesShards {
  find(networkId: NetworkId): ShardView | undefined
  readonly claimFacts: ClaimFacts
}

/** By stage, where enough bridges tell it. */
export type TypicalByStage = { readonly [Stage in BridgeStage]?: TypicalTime }

/** How many of the newest bridges of a pair of networks are looked at. */
const NEWEST = 1_000
/** Results are kept for so many pairs. Senders may deposit to any destination number. */
const KEPT_PAIRS = 1_024
/** History is taken up to a round number of rows, at most so many before the newest. */
const LARGEST_STEP = 64
/** A time between two events that are no further apart is taken from both: half of this is the largest error. */
const CLOSE_SEC = 120
/** Blocks that lie evenly between two events, whole seconds apart, and that are so many, come at fixed intervals. */
const EVEN_BLOCKS = 100

const NOTHING: TypicalByStage = {}

/**
 * How long each stage took for the newest bridges from a source to a destination. Working it out reads some thousand rows, which takes
 * milliseconds, so it is done for a history that ends at round numbers of rows, and again only when one of these numbers moves. What
 * is answered thus follows from the snapshots alone, and all query threads answer the same.
 */
export class TypicalTimes {
  readonly #shards: TypicalTimesShards
  readonly #kept = new BoundedCache<string, { readonly history: string; readonly times: TypicalByStage }>(
    KEPT_PAIRS,
  )

  constructor(shards: TypicalTimesShards) {
    this.#shards = shards
  }

  of(source: ShardView, destinationNetwork: NetworkId): TypicalByStage {
    const l1 = this.#shards.find(L1_NETWORK_ID)
    if (l1 === undefined) return NOTHING
    const destination = this.#shards.find(destinationNetwork)
    const sent = source.list(listKinds.depositsByDestinationNetwork, uint32Key(destinationNetwork))
    const end: Ends = {
      sent: roundDown(sent.length),
      leaves: roundDown(l1.l1Info.leafCount),
      injections: destination === undefined ? 0 : roundDown(destination.injections.count),
      claims: destination === undefined ? 0 : roundDown(destination.claims.count),
    }
    if (end.sent < MIN_TYPICAL_SAMPLE) return NOTHING
    const history = [
      ...Object.values(end),
      ...[source, l1, destination].map((view) => view?.epoch),
      ...[source.exitTree.settledInsideBlocks, source.exitTree.lineage],
      ...[destination?.injections.removalCount, destination?.state.counters.claimsOutOfForce],
    ].join(' ')
    const pair = `${source.networkId} ${destinationNetwork}`
    const kept = this.#kept.get(pair)
    if (kept?.history === history) return kept.times
    const depositCounts = sent.slice(Math.max(0, end.sent - NEWEST), end.sent) as DepositCount[]
    const path = this.#shards.claimFacts.path(source, destinationNetwork)
    const times = new History(source, l1, path, end).typicalOf(depositCounts)
    this.#kept.set(pair, { history, times })
    return times
  }
}

/** How many rows of each kind belong to the history. */
interface Ends {
  readonly sent: number
  readonly leaves: number
  readonly injections: number
  readonly claims: number
}

/** At most `LARGEST_STEP` below `count`, and no more than a sixty-fourth of it. */
function roundDown(count: number): number {
  const step = Math.min(LARGEST_STEP, 2 ** Math.max(0, 25 - Math.clz32(count)))
  return count - (count % step)
}

class History {
  readonly #source: ShardView
  readonly #l1: ShardView
  readonly #path: ClaimPath
  readonly #end: Ends
  /** Neighbours share leaves and injections. By L1 info tree index. */
  readonly #leafTimes = new Map<number, number>()
  readonly #injectionTimes = new Map<number, number | undefined>()

  constructor(source: ShardView, l1: ShardView, path: ClaimPath, end: Ends) {
    this.#source = source
    this.#l1 = l1
    this.#path = path
    this.#end = end
  }

  typicalOf(depositCounts: readonly DepositCount[]): TypicalByStage {
    const covered: number[] = []
    const injected: number[] = []
    const claimed: number[] = []
    for (const depositCount of depositCounts) {
      const leafTime = this.#findLeafTime(depositCount)
      if (leafTime === undefined) continue
      covered.push(leafTime - this.#source.deposits.getTimestampSec(depositCount))
      const acceptedTime = this.#isToL1 ? leafTime : this.#findInjectionTime(depositCount)
      if (acceptedTime === undefined) continue
      injected.push(acceptedTime - leafTime)
      const claimTime = this.#findClaimTime(depositCount)
      if (claimTime !== undefined) claimed.push(claimTime - acceptedTime)
    }
    return {
      // The leaf of a settlement comes in the settlement's own transaction.
      ...(isL1(this.#source.networkId)
        ? typical('in_l1_info_tree', 'bridged', covered)
        : typical('settled', 'bridged', covered)),
      ...(this.#isToL1 ? {} : typical('injected', 'in_l1_info_tree', injected)),
      ...typical('claimed', this.#isToL1 ? 'in_l1_info_tree' : 'injected', claimed),
    }
  }

  get #isToL1(): boolean {
    return this.#path.destination !== undefined && isL1(this.#path.destination.networkId)
  }

  #findLeafTime(depositCount: DepositCount): number | undefined {
    const index = this.#path.findFirstCovering(depositCount)
    if (index === undefined || index >= this.#end.leaves) return undefined
    let time = this.#leafTimes.get(index)
    if (time === undefined) {
      time = this.#l1.l1Info.getLeaf(index).timestampSec
      this.#leafTimes.set(index, time)
    }
    return time
  }

  #findInjectionTime(depositCount: DepositCount): number | undefined {
    const { destination } = this.#path
    const index = destination === undefined ? undefined : this.#path.findAccepted(depositCount)
    if (destination === undefined || index === undefined || index >= this.#end.leaves) return undefined
    if (!this.#injectionTimes.has(index)) {
      const injection = destination.injections.find(this.#l1.l1Info.getLeaf(index).globalExitRoot)
      const isInHistory = injection !== undefined && injection.ordinal < this.#end.injections
      this.#injectionTimes.set(
        index,
        isInHistory ? estimateTime(destination, injection.blockNumber) : undefined,
      )
    }
    return this.#injectionTimes.get(index)
  }

  #findClaimTime(depositCount: DepositCount): number | undefined {
    const { destination } = this.#path
    // The claim may be of the older deposit.
    if (destination === undefined || this.#source.deposits.archivedAt(depositCount).length > 0)
      return undefined
    const ordinal = destination.claims.findOf(this.#source.networkId, depositCount)
    return ordinal === undefined || ordinal >= this.#end.claims
      ? undefined
      : destination.claims.getTimestampSec(ordinal)
  }
}

/**
 * The time of a block from the deposits and claims around it: exact where one is in it, or where blocks come at fixed intervals. Headers
 * are no help: they are stored only as far back as undo reaches.
 */
function estimateTime(view: ShardView, blockNumber: number): number | undefined {
  let before: PlacedTime | undefined
  let after: PlacedTime | undefined
  for (const rows of [view.deposits, view.claims]) {
    const at = rows.firstFromBlock(blockNumber)
    if (at < rows.count) {
      const row = rows.get(at)
      if (after === undefined || row.blockNumber < after.blockNumber) after = row
    }
    if (at > 0) {
      const row = rows.get(at - 1)
      if (before === undefined || row.blockNumber > before.blockNumber) before = row
    }
  }
  if (after?.blockNumber === blockNumber) return after.timestampSec
  if (before === undefined || after === undefined) return undefined
  const blocks = after.blockNumber - before.blockNumber
  const seconds = after.timestampSec - before.timestampSec
  if (seconds < 0) return undefined
  if (seconds > CLOSE_SEC && (blocks < EVEN_BLOCKS || seconds % blocks !== 0)) return undefined
  return before.timestampSec + Math.round((seconds * (blockNumber - before.blockNumber)) / blocks)
}

interface PlacedTime {
  readonly blockNumber: number
  readonly timestampSec: number
}

/** @param durations in seconds; sorted here. The clocks of two networks differ, so that some may be negative: they count as none. */
function typical(stage: BridgeStage, since: BridgeStage, durations: number[]): TypicalByStage {
  const sampleSize = durations.length
  if (sampleSize < MIN_TYPICAL_SAMPLE) return NOTHING
  durations.sort((left, right) => left - right)
  const rank = (share: number): number => Math.max(0, durations[Math.ceil(share * sampleSize) - 1]!)
  return { [stage]: { since, medianSec: rank(0.5), p90Sec: rank(0.9), sampleSize } }
}
