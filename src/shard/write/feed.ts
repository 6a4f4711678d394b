import { headPlaces } from '../../board/statusBoard.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import { encodeFeedEvent, type FeedEvent } from '../../store/feed/feedEvent.js'
import { feedKey, uint32PairKey } from '../../store/layout/keys.js'
import type { FeedPlace } from '../../store/layout/metaValues.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import { readCatchingUp, readCheckpoint, readCounters, readFinalized } from '../position/chainPosition.js'
import { putFeedPlace, readFeedPlace } from '../position/feedPosition.js'
import { readHaltReason, readHeadPlace } from '../position/logPosition.js'

const ALL_KEYS = { start: new Uint8Array(8), end: new Uint8Array(9).fill(0xff) }

/** As `halted` and `resumed` name it. */
const CATCHING_UP = 'catching_up'

/**
 * The feed inside one transaction: what the command changes is told in the transaction that changes it. No undo is kept of it, so what a
 * reorg takes back stays told, and the reorg is told behind it.
 */
export class Feed {
  /**
   * Whether single things that blocks bring are told. Not while the network is catching up: a history is told by one `sync` at its end, and
   * nothing of it need be made an event.
   */
  readonly tellsBlocks: boolean
  readonly #view: WriteView
  /** undefined: the shard has no feed. */
  readonly #place: FeedPlace | undefined
  readonly #haltsBefore: readonly string[]
  #newest: number
  /** undefined: nobody has looked yet. */
  #hasClaimable: boolean | undefined

  constructor(view: WriteView) {
    this.#view = view
    this.#place = readFeedPlace(view)
    this.#newest = this.#place?.newest ?? 0
    this.#haltsBefore = haltsOf(view)
    this.tellsBlocks = this.#place !== undefined && !this.#haltsBefore.includes(CATCHING_UP)
  }

  /** Adds an event behind the last. What comes by the million is made only if `tellsBlocks`. */
  tell(event: FeedEvent): void {
    if (this.#place === undefined) return
    this.#newest++
    this.#view.putUnseen('feed', feedKey(this.#newest), encodeFeedEvent(event))
  }

  /** A claim came into force: the deposit can be claimed no more, which the claim itself tells. */
  dropClaimable(sourceNetwork: NetworkId, depositCount: DepositCount): void {
    // In a backfill there is none, and claims come by the million.
    this.#hasClaimable ??= this.#view.list('claimable', { ...ALL_KEYS, limit: 1 }).length > 0
    if (this.#hasClaimable) this.#view.removeUnseen('claimable', uint32PairKey(sourceNetwork, depositCount))
  }

  /** Tells how far the network is, if it is anywhere. */
  tellSync({ isHistory }: { readonly isHistory: boolean }): void {
    const checkpoint = readCheckpoint(this.#view)
    if (checkpoint === undefined) return
    const { number: blockNumber, timestampSec } = checkpoint
    const finalBlock = readFinalized(this.#view) ?? null
    this.tell({ type: 'sync', blockNumber, timestampSec, finalBlock, isHistory })
  }

  /** Tells what holds and what has ceased to hold since the transaction began, and stores the feed's place. @param keepEvents at most. */
  end(keepEvents: number): void {
    if (this.#place === undefined) return
    const halts = haltsOf(this.#view)
    for (const reason of halts) if (!this.#haltsBefore.includes(reason)) this.tell({ type: 'halted', reason })
    for (const reason of this.#haltsBefore) {
      if (halts.includes(reason)) continue
      if (reason === CATCHING_UP) this.tellSync({ isHistory: true })
      this.tell({ type: 'resumed', reason })
    }
    const { feedId, oldest: before, newest } = this.#place
    if (this.#newest === newest) return
    const oldest = Math.max(before, this.#newest - keepEvents + 1)
    for (let sequence = before; sequence < oldest; sequence++)
      this.#view.removeUnseen('feed', feedKey(sequence))
    putFeedPlace(this.#view, { feedId, oldest, newest: this.#newest })
  }
}

/** Why nothing on the network may be relied on: readiness says no for each of these, which its events do not repeat. */
function haltsOf(view: ReadView): string[] {
  const reasons: string[] = []
  if (readCatchingUp(view)) reasons.push(CATCHING_UP)
  if (readCounters(view).emergencyState !== 0) reasons.push('emergency_state')
  if ((readHeadPlace(view) ?? headPlaces.inStep) !== headPlaces.inStep) reasons.push('behind')
  const reason = readHaltReason(view)
  if (reason !== 'none') reasons.push(reason)
  return reasons
}
