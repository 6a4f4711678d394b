import { CountedBits, type Flips } from '../sets/countedBits.js'
import type { ShardView } from '../snapshot/shardView.js'

/** Number of newest claims whose deposits are remembered: more than a reorg takes back. */
const REMEMBERED = 4_096

interface SeenClaim {
  readonly ordinal: number
  readonly depositCount: number
}

/**
 * The deposits from one source to one destination that have a claim in force. Each deposit's claim link is read once. After that only
 * changes are followed: new claims by ordinal, claims out of force by their list, and claims that a reorg took back by the remembered
 * claims.
 */
export class ClaimedSet {
  readonly members = new CountedBits()
  readonly #flips: Flips
  /** Claim links of deposits below this count have been read. */
  #depositsBelow = 0
  #sourceEpoch = 0
  /** Claims below this ordinal have been followed; −1: not begun yet. */
  #claimsBelow = -1
  #destinationEpoch = 0
  #outOfForce: readonly number[] = []
  /** Claims of the source's deposits from ordinal `#rememberedFrom` on, ascending. */
  #remembered: readonly SeenClaim[] = []
  #rememberedFrom = 0

  /** @param flips gets each deposit that becomes a member or stops being one, except those that a rewind of the source takes away. */
  constructor(flips: Flips) {
    this.#flips = flips
  }

  /** @param sent deposits from the source to the destination, in the same snapshot. */
  update(source: ShardView, destination: ShardView, sent: CountedBits): void {
    this.#followSourceRewinds(source)
    if (this.#claimsBelow < 0 || this.#untouched(destination) < this.#rememberedFrom) {
      this.members.truncate(0)
      this.#flips.pushEverything()
      this.#depositsBelow = 0
      this.#begin(source, destination)
    }
    this.#followClaims(source, destination, sent)
    this.#followDeposits(source, destination, sent)
  }

  /** Claims below this ordinal are the same as at the last update. */
  #untouched({ state }: ShardView): number {
    return state.untouchedSince(this.#destinationEpoch).claims
  }

  #followSourceRewinds({ state }: ShardView): void {
    if (state.epoch === this.#sourceEpoch) return
    const untouched = state.untouchedSince(this.#sourceEpoch).deposits
    this.members.truncate(untouched)
    this.#depositsBelow = Math.min(this.#depositsBelow, untouched)
    this.#sourceEpoch = state.epoch
  }

  /** Starts anew. `#followDeposits` will read every deposit's link; of the claims only the newest are read, which a reorg may take back. */
  #begin(source: ShardView, destination: ShardView): void {
    const { counters, epoch } = destination.state
    const rememberedFrom = Math.max(0, counters.claims - REMEMBERED)
    this.#remembered = this.#claimsFrom(source, destination, rememberedFrom)
    this.#outOfForce = destination.claims.listOutOfForce()
    this.#destinationEpoch = epoch
    this.#rememberedFrom = rememberedFrom
    this.#claimsBelow = counters.claims
  }

  #followClaims(source: ShardView, destination: ShardView, sent: CountedBits): void {
    const { counters, epoch } = destination.state
    const isOutOfForceSame = counters.claimsOutOfForce === this.#outOfForce.length
    if (epoch === this.#destinationEpoch && counters.claims === this.#claimsBelow && isOutOfForceSame) return
    const untouched = this.#untouched(destination)
    const news = this.#claimsFrom(source, destination, Math.min(this.#claimsBelow, untouched))
    const known = this.#remembered.filter(({ ordinal }) => ordinal < untouched)
    const lost = this.#remembered.slice(known.length)
    const outOfForce =
      isOutOfForceSame && epoch === this.#destinationEpoch
        ? this.#outOfForce
        : destination.claims.listOutOfForce()
    const touched = [...news, ...lost].map(({ depositCount }) => depositCount)
    for (const ordinal of differenceOf(this.#outOfForce, outOfForce)) {
      if (ordinal >= counters.claims) continue
      const { sourceNetwork, depositCount } = destination.claims.get(ordinal)
      if (sourceNetwork === source.networkId) touched.push(depositCount)
    }
    // A claim may be stored before its deposit. `#followDeposits` finds it later.
    for (const depositCount of touched)
      if (depositCount < this.#depositsBelow && sent.has(depositCount))
        this.#follow(source, destination, depositCount)
    // Set last: after a failed read the next task follows the same claims again.
    this.#claimsBelow = counters.claims
    this.#destinationEpoch = epoch
    this.#outOfForce = outOfForce
    this.#remember([...known, ...news])
  }

  #claimsFrom(source: ShardView, destination: ShardView, from: number): SeenClaim[] {
    const claims: SeenClaim[] = []
    for (let ordinal = from; ordinal < destination.state.counters.claims; ordinal++) {
      const { sourceNetwork, depositCount } = destination.claims.get(ordinal)
      if (sourceNetwork === source.networkId) claims.push({ ordinal, depositCount })
    }
    return claims
  }

  #remember(claims: readonly SeenClaim[]): void {
    this.#remembered = claims
    if (claims.length <= 2 * REMEMBERED) return
    this.#remembered = claims.slice(-REMEMBERED)
    this.#rememberedFrom = this.#remembered[0]!.ordinal
  }

  #followDeposits(source: ShardView, destination: ShardView, sent: CountedBits): void {
    const { deposits } = source.state.counters
    if (deposits === this.#depositsBelow) return
    // An update that failed half-way may have added members above. Their claims may be gone by now.
    if (this.members.end > this.#depositsBelow) this.members.truncate(this.#depositsBelow)
    if (sent.length > 0)
      destination.claims.eachClaimed(source.networkId, this.#depositsBelow, deposits, (depositCount) => {
        if (sent.has(depositCount) && this.members.add(depositCount)) this.#flips.push(depositCount)
      })
    this.#depositsBelow = deposits
  }

  #follow(source: ShardView, destination: ShardView, depositCount: number): void {
    const isClaimed = destination.claims.findOf(source.networkId, depositCount) !== undefined
    const isChange = isClaimed ? this.members.add(depositCount) : this.members.remove(depositCount)
    if (isChange) this.#flips.push(depositCount)
  }
}

/** Ordinals that are in exactly one of the two lists. */
function differenceOf(left: readonly number[], right: readonly number[]): number[] {
  if (left === right) return []
  const inLeft = new Set(left)
  const inRight = new Set(right)
  return [
    ...left.filter((ordinal) => !inRight.has(ordinal)),
    ...right.filter((ordinal) => !inLeft.has(ordinal)),
  ]
}
