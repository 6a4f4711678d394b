import type { ChainClient, FetchedRange } from '../../chain/chainClient.types.js'
import { asBlockNumber } from '../../protocol/units.js'
import { countEvents, isCountedAlike } from './batches.js'

interface Window {
  readonly from: number
  readonly to: number
  readonly range: Promise<FetchedRange>
}

/** Windows in flight: one being read while the one before it is committed, one more to keep the endpoint busy. */
const WINDOWS_IN_FLIGHT = 2
/**
 * The first windows are short: how much is in them is not known yet, and an answer is held in memory whole. A full block
 * has some 200 logs of ours.
 */
const FIRST_WINDOW_BLOCKS = 32
/** Windows with fewer events are followed by wider ones, and stored alone: so they can be taken back. */
const FEW_EVENTS = 2_000
/** Where even so many windows together would hold few. */
const MOST_GROWTH = 8
/**
 * Full windows are stored together up to about so many events: what comes in no order (lists by address, exit roots)
 * changes a page per entry, in one transaction as in four. LMDB's part fell from 6.6 to 3.5 s of CPU time at a million
 * bridges.
 */
const LEAST_STRETCH_EVENTS = 20_000
/** A large store has more pages: with so many events a few of them share one again. They are held in memory (0.6 KB each). */
const MOST_STRETCH_EVENTS = 60_000
const DEPOSITS_PER_STRETCH_EVENT = 25

/**
 * Events that are stored at once, about. At ten million bridges blocks take 11 µs of CPU time per deposit by 60,000, 16 by
 * 20,000; more would gain little, since LMDB keeps the changed pages of a transaction in a sorted list.
 * @param deposits of the shard.
 */
export function stretchEvents(deposits: number): number {
  return Math.min(MOST_STRETCH_EVENTS, Math.max(LEAST_STRETCH_EVENTS, deposits / DEPOSITS_PER_STRETCH_EVENT))
}

/** What is stored at once: consecutive windows as one range. */
export interface Stretch {
  readonly range: FetchedRange
  /** The window behind it; undefined at the target, and where it can't be read: the next call tells why. */
  readonly following: FetchedRange | undefined
}

/**
 * Reads history window by window, in order, a bounded number ahead: the next answers travel while one is committed.
 * An answer that ends early (provider limits) is followed by the rest of its window.
 */
export class WindowPipeline {
  readonly #client: Pick<ChainClient, 'fetchRange'>
  readonly #widestBlocks: number
  #windowBlocks: number
  readonly #abort = new AbortController()
  readonly #signal: AbortSignal
  readonly #windows: Window[] = []
  #planned: number
  #target: number
  #joinedUpTo: number

  /**
   * @param from first block to read. @param target last one; it can be moved up later.
   * @param joinedUpTo windows that end above it are stored alone: each is looked at whether it stands on the one before.
   */
  constructor(
    client: Pick<ChainClient, 'fetchRange'>,
    plan: {
      readonly from: number
      readonly target: number
      readonly joinedUpTo: number
      readonly windowBlocks: number
    },
    signal: AbortSignal,
  ) {
    this.#client = client
    this.#widestBlocks = plan.windowBlocks
    this.#windowBlocks = Math.min(plan.windowBlocks, FIRST_WINDOW_BLOCKS)
    this.#planned = plan.from
    this.#target = plan.target
    this.#joinedUpTo = plan.joinedUpTo
    this.#signal = AbortSignal.any([signal, this.#abort.signal])
  }

  moveTarget(target: number, joinedUpTo: number): void {
    this.#target = Math.max(this.#target, target)
    this.#joinedUpTo = Math.max(this.#joinedUpTo, joinedUpTo)
  }

  /**
   * @param mostEvents of several windows together.
   * @returns the next stretch; undefined when the target is read. @throws what the client throws; then `cancel`.
   */
  async next(mostEvents: number): Promise<Stretch | undefined> {
    const first = await this.#peek()
    if (first === undefined) return undefined
    this.#take(first)
    const ranges = [first]
    let events = countEvents(first.blocks)
    let following = await this.#peekQuietly()
    while (events >= FEW_EVENTS && following !== undefined) {
      const more = countEvents(following.blocks)
      const { number } = following.head
      // As wide as one window at most: so far a stretch that does not fit is read again.
      const isNear = number <= this.#joinedUpTo && number - first.fromBlock < this.#widestBlocks
      if (!isNear || more < FEW_EVENTS || events + more > mostEvents) break
      if (!isCountedAlike(ranges.at(-1)!.perTransactionFrom, following)) break
      this.#take(following)
      ranges.push(following)
      events += more
      following = await this.#peekQuietly()
    }
    return { range: joined(ranges), following }
  }

  /** The window that comes next, which stays where it is. */
  async #peek(): Promise<FetchedRange | undefined> {
    this.#fill()
    return this.#windows[0]?.range
  }

  /** A window that can't be read says nothing against the ones before it. */
  #peekQuietly(): Promise<FetchedRange | undefined> {
    return this.#peek().catch(() => undefined)
  }

  /** @param range of the window that comes next. */
  #take(range: FetchedRange): void {
    const { to } = this.#windows.shift()!
    const events = countEvents(range.blocks)
    if (events < FEW_EVENTS) {
      const growth = events * MOST_GROWTH < FEW_EVENTS ? MOST_GROWTH : 2
      this.#windowBlocks = Math.min(this.#widestBlocks, this.#windowBlocks * growth)
    }
    if (range.head.number < to) this.#windows.unshift(this.#read(range.head.number + 1, to))
    this.#fill()
  }

  /** Gives up what is in flight. */
  cancel(): void {
    this.#abort.abort()
    this.#windows.length = 0
  }

  #fill(): void {
    while (this.#windows.length < WINDOWS_IN_FLIGHT && this.#planned <= this.#target) {
      const to = Math.min(this.#planned + this.#windowBlocks - 1, this.#target)
      this.#windows.push(this.#read(this.#planned, to))
      this.#planned = to + 1
    }
  }

  #read(from: number, to: number): Window {
    const range = this.#client.fetchRange(asBlockNumber(from), asBlockNumber(to), this.#signal)
    // Whoever takes the window meets its error; one that is cancelled first must not end the process.
    range.catch(() => undefined)
    return { from, to, range }
  }
}

/** Consecutive ranges as one. */
function joined(ranges: readonly FetchedRange[]): FetchedRange {
  const [first] = ranges
  if (ranges.length === 1) return first!
  const { head, perTransactionFrom } = ranges.at(-1)!
  return {
    ...first!,
    head,
    blocks: ranges.flatMap(({ blocks }) => blocks),
    ...(perTransactionFrom === undefined ? {} : { perTransactionFrom }),
  }
}
