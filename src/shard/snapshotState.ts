import { metaKey } from '../store/codecs/keys.js'
import { type Counters, decodeBlockNumber, decodeCounters } from '../store/codecs/metaValues.js'
import { decodeUint32 } from '../store/codecs/smallRows.js'
import type { ReadView } from '../store/shardStore.types.js'

/** What a snapshot says of itself. Derived columns take their lengths from here, so they never run ahead of the rows. */
export class SnapshotState {
  readonly #view: ReadView
  #counters: Counters | undefined
  #epoch: number | undefined
  #finalizedBlock: number | undefined
  #undoFloor: number | undefined
  #resolvedDepositSenders: number | undefined
  #resolvedClaimSenders: number | undefined

  constructor(view: ReadView) {
    this.#view = view
  }

  /** Forgets what was read: another snapshot follows. */
  reset(): void {
    this.#counters = undefined
    this.#epoch = undefined
    this.#finalizedBlock = undefined
    this.#undoFloor = undefined
    this.#resolvedDepositSenders = undefined
    this.#resolvedClaimSenders = undefined
  }

  get counters(): Readonly<Counters> {
    this.#counters ??= decodeCounters(this.#view.get('meta', metaKey('counters')))
    return this.#counters
  }

  /** Number of reorgs that the shard has followed: moves in the transaction that undoes rows. */
  get epoch(): number {
    this.#epoch ??= this.#uint32('epoch')
    return this.#epoch
  }

  /** Newest final block; −1 = none. */
  get finalizedBlock(): number {
    this.#finalizedBlock ??= this.#block('finalized')
    return this.#finalizedBlock
  }

  /** Blocks at or below can't be undone; −1 = none. */
  get undoFloor(): number {
    this.#undoFloor ??= this.#block('undoFloor')
    return this.#undoFloor
  }

  /** Deposits below have their sender. */
  get resolvedDepositSenders(): number {
    this.#resolvedDepositSenders ??= this.#uint32('depositSenders')
    return this.#resolvedDepositSenders
  }

  /** Claims below have their claimer. */
  get resolvedClaimSenders(): number {
    this.#resolvedClaimSenders ??= this.#uint32('claimSenders')
    return this.#resolvedClaimSenders
  }

  #uint32(name: 'epoch' | 'depositSenders' | 'claimSenders'): number {
    const bytes = this.#view.get('meta', metaKey(name))
    return bytes === undefined ? 0 : decodeUint32(bytes)
  }

  #block(name: 'finalized' | 'undoFloor'): number {
    const bytes = this.#view.get('meta', metaKey(name))
    return bytes === undefined ? -1 : decodeBlockNumber(bytes)
  }
}
