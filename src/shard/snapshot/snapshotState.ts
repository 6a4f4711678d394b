import type { NetworkId } from '../../protocol/units.js'
import { metaKey } from '../../store/layout/keys.js'
import { type Counters, decodeEpoch, type Rewind, untouchedBy } from '../../store/layout/metaValues.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import {
  readCatchingUp,
  readClaimsCompared,
  readCounters,
  readFinalized,
  readTimesFall,
  readUndoFloor,
} from '../position/chainPosition.js'
import { copyOf } from './chunkReader.js'
import { readCorrectionCount } from './senderOverlay.js'

/** Counters and position of one snapshot, each read once. Derived columns take their lengths from here, so they match the rows. */
export class SnapshotState {
  readonly #view: ReadView
  #counters: Counters | undefined
  /** `null`: not read yet. */
  #epochEntry: Uint8Array | undefined | null = null
  #epoch: number | undefined
  #finalizedBlock: number | undefined
  #undoFloor: number | undefined
  #isCatchingUp: boolean | undefined
  /** `null`: not read yet. */
  #claimsCompared: ReadonlyMap<NetworkId, number> | undefined | null = null
  #doTimesFall: boolean | undefined
  #resolvedDepositSenders: number | undefined
  #resolvedClaimSenders: number | undefined
  #senderCorrections: number | undefined

  constructor(view: ReadView) {
    this.#view = view
  }

  /** Forgets what was read, before another snapshot is read. */
  reset(): void {
    this.#counters = undefined
    this.#epochEntry = null
    this.#epoch = undefined
    this.#finalizedBlock = undefined
    this.#undoFloor = undefined
    this.#isCatchingUp = undefined
    this.#claimsCompared = null
    this.#doTimesFall = undefined
    this.#resolvedDepositSenders = undefined
    this.#resolvedClaimSenders = undefined
    this.#senderCorrections = undefined
  }

  get counters(): Readonly<Counters> {
    this.#counters ??= readCounters(this.#view)
    return this.#counters
  }

  /** Number of rewinds. It moves in the same transaction that takes the rows back, and never falls. */
  get epoch(): number {
    this.#epoch ??= decodeEpoch(this.#epochBytes)
    return this.#epoch
  }

  /** What no rewind since that epoch has changed: all rows below the returned numbers. */
  untouchedSince(epoch: number): Rewind {
    return untouchedBy(this.#epochBytes, this.epoch - epoch)
  }

  /** Newest final block; block 0 in an empty shard, since a chain's first block is always final. */
  get finalizedBlock(): number {
    this.#finalizedBlock ??= readFinalized(this.#view) ?? 0
    return this.#finalizedBlock
  }

  /** Whether the network is catching up: claims may be missing. */
  get isCatchingUp(): boolean {
    this.#isCatchingUp ??= readCatchingUp(this.#view)
    return this.#isCatchingUp
  }

  /** The claims of all deposits of the source network below this count were compared with the contract; a claim of one above may be missing. */
  claimsComparedBelow(sourceNetwork: NetworkId): number {
    if (this.#claimsCompared === null) this.#claimsCompared = readClaimsCompared(this.#view)
    if (this.#claimsCompared === undefined) return Number.POSITIVE_INFINITY
    return this.#claimsCompared.get(sourceNetwork) ?? 0
  }

  /** Whether any stored block has a lower timestamp than the one before it. If so, rows are not in the order of their times. */
  get doTimesFall(): boolean {
    this.#doTimesFall ??= readTimesFall(this.#view)
    return this.#doTimesFall
  }

  /** Blocks at or below it can't be undone; −1 = all can. */
  get undoFloor(): number {
    this.#undoFloor ??= readUndoFloor(this.#view)
    return this.#undoFloor
  }

  /** Watermark of the deposits' senders. */
  get resolvedDepositSenders(): number {
    this.#resolvedDepositSenders ??= this.#uint32('depositSenders')
    return this.#resolvedDepositSenders
  }

  /** Watermark of the claims' senders. */
  get resolvedClaimSenders(): number {
    this.#resolvedClaimSenders ??= this.#uint32('claimSenders')
    return this.#resolvedClaimSenders
  }

  /** Number of commits with corrected senders; 0 = none. Never falls. */
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
}
