import type { ListKind } from '../../store/layout/tables.js'
import { CountedBits } from '../sets/countedBits.js'
import type { IndexedList } from '../sets/ordinalList.js'
import type { ShardView } from '../snapshot/shardView.js'

/** The set of every list without members: a query may name a hundred networks that nobody sends to. Nobody adds to it. */
const EMPTY = new CountedBits()

/** A stored list as a set of bits. It is read once and then grows with the list. */
class ListMirror {
  #bits = EMPTY
  #epoch = 0

  get bits(): CountedBits {
    return this.#bits
  }

  /**
   * @param epoch number of rewinds of the list's shard.
   * @param untouchedSince ordinals below its result are the same as they were after that number of rewinds.
   */
  update(list: IndexedList, epoch: number, untouchedSince: (epoch: number) => number): void {
    if (epoch !== this.#epoch) {
      if (this.#bits !== EMPTY) this.#bits.truncate(untouchedSince(this.#epoch))
      this.#epoch = epoch
    }
    const { length } = list
    if (length > 0 && this.#bits === EMPTY) this.#bits = new CountedBits()
    // Lists grow only at the end, and the bits are the first ordinals of the list.
    for (let position = this.#bits.length; position < length; position++) this.#bits.add(list.at(position))
  }
}

/** Number of sets above which the empty ones are dropped, then all: a query may ask for any network number. */
const MAX_KEPT = 256

interface Followed {
  readonly mirror: ListMirror
  /** Commits of the shard at the last update. */
  commits: number
}

/** The stored lists of one kind of one shard as sets. A set is made when it is first asked for, and updated to the task's snapshot. */
export class ListMirrors {
  readonly #kind: ListKind
  readonly #keyOf: (id: number) => Uint8Array
  readonly #rows: 'deposits' | 'claims'
  readonly #followed = new Map<number, Followed>()

  /** @param rows the rows that the lists' ordinals belong to. */
  constructor(kind: ListKind, rows: 'deposits' | 'claims', keyOf: (id: number) => Uint8Array) {
    this.#kind = kind
    this.#rows = rows
    this.#keyOf = keyOf
  }

  /** Call it at the start of each task: sets are dropped only between tasks. */
  startTask(): void {
    if (this.#followed.size <= MAX_KEPT) return
    for (const [id, { mirror }] of this.#followed) if (mirror.bits.length === 0) this.#followed.delete(id)
    if (this.#followed.size > MAX_KEPT) this.#followed.clear()
  }

  /** @param id names the list. @returns a set that is valid to the end of the task. */
  get(view: ShardView, id: number): CountedBits {
    let followed = this.#followed.get(id)
    if (followed === undefined) {
      followed = { mirror: new ListMirror(), commits: -1 }
      this.#followed.set(id, followed)
    }
    if (followed.commits !== view.commits) {
      const { state } = view
      const list = view.list(this.#kind, this.#keyOf(id))
      followed.mirror.update(list, state.epoch, (epoch) => state.untouchedSince(epoch)[this.#rows])
      followed.commits = view.commits
    }
    return followed.mirror.bits
  }
}
