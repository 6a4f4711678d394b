import type { ListKind } from '../../store/layout/tables.js'
import { CountedBits } from '../sets/countedBits.js'
import type { IndexedList } from '../sets/ordinalList.js'
import type { ShardView } from '../snapshot/shardView.js'

/** A stored list as bits: made once, then it grows with the list. */
class ListMirror {
  readonly bits = new CountedBits()
  #rewindCount = 0

  /**
   * @param rewindCount of the shard that the list belongs to.
   * @param untouchedSince ordinals below are what they were at that count of rewinds.
   */
  update(list: IndexedList, rewindCount: number, untouchedSince: (rewindCount: number) => number): void {
    if (rewindCount !== this.#rewindCount) {
      this.bits.truncate(untouchedSince(this.#rewindCount))
      this.#rewindCount = rewindCount
    }
    // Lists grow at their end alone, and what is mirrored is a beginning of the list.
    for (let position = this.bits.length; position < list.length; position++) this.bits.add(list.at(position))
  }
}

/** Sets that anybody may ask for are bounded in number: so many are kept beside those of the networks indexed here. */
const MAX_KEPT = 256

interface Followed {
  readonly mirror: ListMirror
  /** Version of the shard that it was brought up to. */
  version: number
}

/** The stored lists of one kind of one shard as sets, made when they are asked for and brought up to each task's snapshot. */
export class ListMirrors {
  readonly #kind: ListKind
  readonly #keyOf: (id: number) => Uint8Array
  readonly #rows: 'deposits' | 'claims'
  readonly #followed = new Map<number, Followed>()

  /** @param rows what the ordinals of the lists are. */
  constructor(kind: ListKind, rows: 'deposits' | 'claims', keyOf: (id: number) => Uint8Array) {
    this.#kind = kind
    this.#rows = rows
    this.#keyOf = keyOf
  }

  /** Another task with another snapshot follows. */
  reset(): void {
    if (this.#followed.size > MAX_KEPT) this.#followed.clear()
  }

  /** @param id names the list; the set stays good to the end of the task. */
  get(view: ShardView, id: number): CountedBits {
    let followed = this.#followed.get(id)
    if (followed === undefined) {
      followed = { mirror: new ListMirror(), version: -1 }
      this.#followed.set(id, followed)
    }
    if (followed.version !== view.version) {
      const { state } = view
      const list = view.list(this.#kind, this.#keyOf(id))
      followed.mirror.update(
        list,
        state.rewindCount,
        (rewindCount) => state.untouchedSince(rewindCount)[this.#rows],
      )
      followed.version = view.version
    }
    return followed.mirror.bits
  }
}
