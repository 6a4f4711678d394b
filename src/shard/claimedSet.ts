import { BitSet } from './bitSet.js'
import type { ShardView } from './shardView.js'

/**
 * Which deposits of one source network have a claim in force on one destination. Read once from the destination's claim
 * links, then followed: new claims by their ordinals, claims undone by the number of those. Bounded by the source's deposits.
 */
export class ClaimedSet {
  #members = new BitSet()
  #links = 0
  #claims = 0
  #outOfForce = 0
  #sourceEpoch = -1
  #epoch = -1
  #lineage = -1
  #generation = 0

  get members(): BitSet {
    return this.#members
  }

  /** Moves when a member came or went. */
  get generation(): number {
    return this.#generation
  }

  update(source: ShardView, destination: ShardView): void {
    const { epoch, counters } = destination.state
    const sourceState = source.state
    if (
      epoch !== this.#epoch ||
      sourceState.epoch !== this.#sourceEpoch ||
      sourceState.counters.lineage !== this.#lineage
    ) {
      this.#epoch = epoch
      this.#sourceEpoch = sourceState.epoch
      this.#lineage = sourceState.counters.lineage
      this.#members = new BitSet()
      this.#links = 0
      this.#claims = counters.claims
      this.#outOfForce = counters.claimsOutOfForce
      this.#generation++
    }
    const changed: number[] = []
    for (; this.#claims < counters.claims; this.#claims++) changed.push(this.#claims)
    if (this.#outOfForce !== counters.claimsOutOfForce) {
      this.#outOfForce = counters.claimsOutOfForce
      for (const ordinal of destination.claims.listOutOfForce()) changed.push(ordinal)
    }
    for (const ordinal of changed) {
      const { sourceNetwork, depositCount } = destination.claims.get(ordinal)
      if (sourceNetwork === source.networkId && depositCount < this.#links)
        this.#follow(destination, sourceNetwork, depositCount)
    }
    for (; this.#links < source.deposits.count; this.#links++)
      this.#follow(destination, source.networkId, this.#links)
  }

  #follow(destination: ShardView, sourceNetwork: number, depositCount: number): void {
    const isClaimed = destination.claims.isClaimed(sourceNetwork, depositCount)
    if (isClaimed === this.#members.has(depositCount)) return
    if (isClaimed) this.#members.add(depositCount)
    else this.#members.remove(depositCount)
    this.#generation++
  }
}
