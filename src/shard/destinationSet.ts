import { uint32Key } from '../store/codecs/keys.js'
import { listKinds } from '../store/tables.js'
import { BitSet } from './bitSet.js'
import type { ShardView } from './shardView.js'

/** Deposits of one source network to one destination, as bits: made from the stored list, and grows with it. */
export class DestinationSet {
  #members = new BitSet()
  #length = 0
  #epoch = -1
  #lineage = -1

  get members(): BitSet {
    return this.#members
  }

  update(source: ShardView, destinationNetwork: number): void {
    const { epoch, counters } = source.state
    if (epoch !== this.#epoch || counters.lineage !== this.#lineage) {
      this.#epoch = epoch
      this.#lineage = counters.lineage
      this.#members = new BitSet()
      this.#length = 0
    }
    const list = source.list(listKinds.depositsByDestinationNetwork, uint32Key(destinationNetwork))
    for (; this.#length < list.length; this.#length++) this.#members.add(list.at(this.#length))
  }
}
