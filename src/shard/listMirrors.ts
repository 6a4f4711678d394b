import type { ListKind } from '../store/tables.js'
import type { CountedBits } from './countedBits.js'
import { ListMirror } from './listMirror.js'
import type { ShardView } from './shardView.js'

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
