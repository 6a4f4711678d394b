import type { ChainClient, FetchedRange } from '../../chain/chainClient.types.js'
import { asBlockNumber } from '../../protocol/units.js'
import { countEvents, isCountedAlike } from './batches.js'

interface Window {
  readonly from: number
  readonly to: number
  readonly range: Promise<FetchedRange>
}

/** Windows in flight while another one is committed: one that is being answered, and one more to keep the endpoint busy. */
const WINDOWS_IN_FLIGHT = 2
/**
 * The first windows are narrow: it is not known yet how much is in them, and each answer is held in memory whole. A full block has
 * about 200 logs of ours.
 */
const FIRST_WINDOW_BLOCKS = 32
/** After a window with fewer events, wider ones follow. It is stored alone, so that it can be taken back. */
const FEW_EVENTS = 2_000
/** The next window may be so many times as wide, if even so many windows together would have few events. */
const MOST_GROWTH = 8
/**
 * Full windows are stored together, up to about so many events. Tables without an order in time (lists by address, exit roots)
 * change a page per entry in each transaction: fewer transactions cut LMDB's share from 6.6 to 3.5 s of CPU time for a million
 * bridges.
 */
const LEAST_STRETCH_EVENTS = 20_000
/** A larger store has more pages, so that more events are needed for some to share one. Each is held in memory (0.6 KB). */
const MOST_STRETCH_EVENTS = 60_000
const DEPOSITS_PER_STRETCH_EVENT = 25

/**
 * About how many events are stored at once. At ten million bridges a deposit takes 11 µs of CPU time with 60,000 events at once,
 * and 16 µs with 20,000. More would gain little, since LMDB keeps the changed pages of a transaction in a sorted list.
 * @param deposits number of deposits in the shard.
 */
export function stretchEvents(deposits: number): number {
  return Math.min(MOST_STRETCH_EVENTS, Math.max(LEAST_STRETCH_EVENTS, deposits / DEPOSITS_PER_STRETCH_EVENT))
}

/** What is stored at once: one window, or several joined into one range. */
export interface WindowStretch {
  readonly range: FetchedRange
  /** The window after it; undefined at the target, or when it could not be read: the next call then throws the error. */
  readonly following: FetchedRange | undefined
}

/**
 * Reads history window by window, in order, and a few windows ahead: they are read while another one is committed. When an answer
 * ends early (provider limits), the rest of its window is read next.
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
   * @param plan `from` … `target`: the blocks to read; the target can be moved up later. Windows that end above `joinedUpTo` are
   *   stored alone, because each must be compared with the checkpoint before it.
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
   * @param mostEvents windows are joined only up to so many events.
   * @returns the next stretch; undefined when the target is read. @throws what the client throws; call `cancel` then.
   */
  async next(mostEvents: number): Promise<WindowStretch | undefined> {
    const first = await this.#peek()
    if (first === undefined) return undefined
    this.#take(first)
    const ranges = [first]
    let events = countEvents(first.blocks)
    let following = await this.#peekQuietly()
    while (events >= FEW_EVENTS && following !== undefined) {
      const more = countEvents(following.blocks)
      const { number } = following.head
      // At most as wide as one window: recovery reads so many blocks again when a stretch does not fit.
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

  /** The next window, without taking it. */
  async #peek(): Promise<FetchedRange | undefined> {
    this.#fill()
    return this.#windows[0]?.range
  }

  /** The next window; undefined when it can't be read, which must not hold up the ones before it. */
  #peekQuietly(): Promise<FetchedRange | undefined> {
    return this.#peek().catch(() => undefined)
  }

  /** Takes the next window. @param range what was read of it. */
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
    // `next` throws the error. Unless it is handled here as well, a cancelled window would end the process.
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
