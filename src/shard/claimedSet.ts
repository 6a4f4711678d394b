import { uint32Key } from '../store/codecs/keys.js'
import { listKinds } from '../store/tables.js'
import { BitSet } from './bitSet.js'
import type { ShardView } from './shardView.js'

/**
 * Which deposits from one source to one destination have a claim in force. Each deposit's claim link is read once, then followed:
 * new claims by their ordinals, claims undone by the number of those. Never larger than the source's deposits.
 */
export class ClaimedSet {
  #members = new BitSet()
  /** Deposits to the destination looked at so far, in the order of their list. */
  #deposits = 0
  #claims = 0
  #outOfForce = 0
  #sourceEpoch = -1
  #lineage = -1
  #epoch = -1
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
    const { epoch: sourceEpoch, counters: sourceCounters } = source.state
    const { lineage } = sourceCounters
    if (epoch !== this.#epoch || sourceEpoch !== this.#sourceEpoch || lineage !== this.#lineage) {
      this.#epoch = epoch
      this.#sourceEpoch = sourceEpoch
      this.#lineage = lineage
      this.#members = new BitSet()
      this.#deposits = 0
      this.#claims = counters.claims
      this.#outOfForce = counters.claimsOutOfForce
      this.#generation++
    }
    const changed: number[] = []
    for (let ordinal = this.#claims; ordinal < counters.claims; ordinal++) changed.push(ordinal)
    if (this.#outOfForce !== counters.claimsOutOfForce)
      for (const ordinal of destination.claims.listOutOfForce()) changed.push(ordinal)
    for (const ordinal of changed) {
      const { sourceNetwork, depositCount } = destination.claims.get(ordinal)
      // A claim may be known before its deposit: then it is met when the deposit's turn comes.
      if (sourceNetwork === source.networkId && depositCount < sourceCounters.deposits)
        this.#follow(source, destination, depositCount)
    }
    // Only now: what a failed read kept from being followed is followed by the next task.
    this.#claims = counters.claims
    this.#outOfForce = counters.claimsOutOfForce
    const toDestination = source.list(
      listKinds.depositsByDestinationNetwork,
      uint32Key(destination.networkId),
    )
    for (; this.#deposits < toDestination.length; this.#deposits++)
      this.#follow(source, destination, toDestination.at(this.#deposits))
  }

  #follow(source: ShardView, destination: ShardView, depositCount: number): void {
    const isClaimed = destination.claims.isClaimed(source.networkId, depositCount)
    if (isClaimed === this.#members.has(depositCount)) return
    if (isClaimed) this.#members.add(depositCount)
    else this.#members.remove(depositCount)
    this.#generation++
  }
}
