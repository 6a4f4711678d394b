import { CountedBits } from './countedBits.js'
import type { IndexedList } from './ordinalList.js'

/** A stored list as bits: made once, then it grows with the list. */
export class ListMirror {
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
