import { metaKey } from '../../store/layout/keys.js'
import {
  type Counters,
  decodeBlockNumber,
  decodeEpoch,
  decodeRewindCount,
  type Rewind,
  untouchedBy,
} from '../../store/layout/metaValues.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { readCatchingUp, readTimesFall } from '../position/chainPosition.js'
import { readCounters } from '../position/counters.js'
import { copyOf } from './chunkReader.js'
import { readCorrectionCount } from './senderOverlay.js'

/** What a snapshot says of itself. Derived columns take their lengths from here, so they never run ahead of the rows. */
export class SnapshotState {
  readonly #view: ReadView
  #counters: Counters | undefined
  /** `null`: not read yet. */
  #epochEntry: Uint8Array | undefined | null = null
  #epoch: number | undefined
  #finalizedBlock: number | undefined
  #undoFloor: number | undefined
  #isCatchingUp: boolean | undefined
  #doTimesFall: boolean | undefined
  #resolvedDepositSenders: number | undefined
  #resolvedClaimSenders: number | undefined
  #senderCorrections: number | undefined

  constructor(view: ReadView) {
    this.#view = view
  }

  /** Forgets what was read: another snapshot follows. */
  reset(): void {
    this.#counters = undefined
    this.#epochEntry = null
    this.#epoch = undefined
    this.#finalizedBlock = undefined
    this.#undoFloor = undefined
    this.#isCatchingUp = undefined
    this.#doTimesFall = undefined
    this.#resolvedDepositSenders = undefined
    this.#resolvedClaimSenders = undefined
    this.#senderCorrections = undefined
  }

  get counters(): Readonly<Counters> {
    this.#counters ??= readCounters(this.#view)
    return this.#counters
  }

  /** Number of reorgs that the shard has followed: moves in the transaction that undoes rows. */
  get epoch(): number {
    this.#epoch ??= decodeEpoch(this.#epochBytes)
    return this.#epoch
  }

  /** Number of times that rows were taken back, by reorgs and by cuts of the exit tree. Never falls. */
  get rewindCount(): number {
    return decodeRewindCount(this.#epochBytes)
  }

  /** Rows that are the same now as when there had been `rewindCount` rewinds: those with numbers below these. */
  untouchedSince(rewindCount: number): Rewind {
    return untouchedBy(this.#epochBytes, this.rewindCount - rewindCount)
  }

  /** Newest final block; −1 = none. */
  get finalizedBlock(): number {
    this.#finalizedBlock ??= this.#block('finalized')
    return this.#finalizedBlock
  }

  /** History is read that lies behind, or was not compared with the contracts since: claims may be missing. */
  get isCatchingUp(): boolean {
    this.#isCatchingUp ??= readCatchingUp(this.#view)
    return this.#isCatchingUp
  }

  /** True once a block was older than the one before it: rows are then not in the order of their times. */
  get doTimesFall(): boolean {
    this.#doTimesFall ??= readTimesFall(this.#view)
    return this.#doTimesFall
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

  /** Number of commits with corrected senders; never falls, 0 = none. */
  get senderCorrections(): number {
    this.#senderCorrections ??= readCorrectionCount(this.#view)
    return this.#senderCorrections
  }

  get #epochBytes(): Uint8Array | undefined {
    if (this.#epochEntry === null) this.#epochEntry = copyOf(this.#view.get('meta', metaKey('epoch')))
    return this.#epochEntry
  }

  #uint32(name: 'depositSenders' | 'claimSenders'): number {
    const bytes = this.#view.get('meta', metaKey(name))
    return bytes === undefined ? 0 : decodeUint32(bytes)
  }

  #block(name: 'finalized' | 'undoFloor'): number {
    const bytes = this.#view.get('meta', metaKey(name))
    return bytes === undefined ? -1 : decodeBlockNumber(bytes)
  }
}
