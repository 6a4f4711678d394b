import type { ChainClient, FetchedRange } from '../chain/chainClient.types.js'
import { asBlockNumber } from '../protocol/units.js'
import { countEvents } from './batches.js'

interface Window {
  readonly from: number
  readonly to: number
  readonly range: Promise<FetchedRange>
}

/** Windows in flight: one being read while the one before it is committed, one more to keep the endpoint busy. */
const WINDOWS_IN_FLIGHT = 2
/** The first windows are short: how much is in them is not known yet, and an answer is held in memory whole. */
const FIRST_WINDOW_BLOCKS = 250
/** Windows with fewer events are followed by wider ones. */
const FEW_EVENTS = 2_000

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

  /** @param from first block to read. @param target last one; it can be moved up later. */
  constructor(
    client: Pick<ChainClient, 'fetchRange'>,
    plan: { readonly from: number; readonly target: number; readonly windowBlocks: number },
    signal: AbortSignal,
  ) {
    this.#client = client
    this.#widestBlocks = plan.windowBlocks
    this.#windowBlocks = Math.min(plan.windowBlocks, FIRST_WINDOW_BLOCKS)
    this.#planned = plan.from
    this.#target = plan.target
    this.#signal = AbortSignal.any([signal, this.#abort.signal])
  }

  moveTarget(target: number): void {
    this.#target = Math.max(this.#target, target)
  }

  /** @returns the next range; undefined when the target is read. @throws what the client throws; then `cancel`. */
  async next(): Promise<FetchedRange | undefined> {
    this.#fill()
    const window = this.#windows[0]
    if (window === undefined) return undefined
    const range = await window.range
    this.#windows.shift()
    if (countEvents(range.blocks) < FEW_EVENTS)
      this.#windowBlocks = Math.min(this.#widestBlocks, this.#windowBlocks * 2)
    if (range.head.number < window.to) this.#windows.unshift(this.#read(range.head.number + 1, window.to))
    this.#fill()
    return range
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
