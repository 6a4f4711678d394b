import { CountedBits, type Flips } from '../sets/countedBits.js'
import type { ShardView } from '../snapshot/shardView.js'

/** Claims remembered, so that the deposits of those that a reorg takes back are known: more than a reorg holds. */
const REMEMBERED = 4_096

interface SeenClaim {
  readonly ordinal: number
  readonly depositCount: number
}

/**
 * Which deposits from one source to one destination have a claim in force. Each deposit's claim link is read once, then followed:
 * new claims by their ordinals, claims out of force by their list, claims taken back by what is remembered of them.
 */
export class ClaimedSet {
  readonly members = new CountedBits()
  readonly #flips: Flips
  /** Deposits below have been looked at. */
  #followedBelow = 0
  #sourceRewinds = 0
  /** Claims below have been looked at; −1: none yet. */
  #claims = -1
  #rewinds = 0
  #outOfForce: readonly number[] = []
  /** The newest claims of the source's deposits, by ordinal, from `#rememberedFrom` on. */
  #remembered: readonly SeenClaim[] = []
  #rememberedFrom = 0

  /** @param flips is told each member that comes or goes, but for those that a rewind of the source takes away. */
  constructor(flips: Flips) {
    this.#flips = flips
  }

  /** @param sent deposits from the source to the destination, of the same snapshot. */
  update(source: ShardView, destination: ShardView, sent: CountedBits): void {
    this.#followSourceRewinds(source)
    if (this.#claims < 0 || this.#untouched(destination) < this.#rememberedFrom) {
      this.members.truncate(0)
      this.#flips.pushEverything()
      this.#followedBelow = 0
      this.#begin(source, destination)
    }
    this.#followClaims(source, destination, sent)
    this.#followDeposits(source, destination, sent)
  }

  /** Claims below are those of the last time. */
  #untouched({ state }: ShardView): number {
    return state.untouchedSince(this.#rewinds).claims
  }

  #followSourceRewinds({ state }: ShardView): void {
    if (state.rewindCount === this.#sourceRewinds) return
    const untouched = state.untouchedSince(this.#sourceRewinds).deposits
    this.members.truncate(untouched)
    this.#followedBelow = Math.min(this.#followedBelow, untouched)
    this.#sourceRewinds = state.rewindCount
  }

  /** Every deposit's link will be read: of the claims made so far only the newest are of interest, lest they are taken back. */
  #begin(source: ShardView, destination: ShardView): void {
    const { counters, rewindCount } = destination.state
    const rememberedFrom = Math.max(0, counters.claims - REMEMBERED)
    this.#remembered = this.#claimsFrom(source, destination, rememberedFrom)
    this.#outOfForce = destination.claims.listOutOfForce()
    this.#rewinds = rewindCount
    this.#rememberedFrom = rememberedFrom
    this.#claims = counters.claims
  }

  #followClaims(source: ShardView, destination: ShardView, sent: CountedBits): void {
    const { counters, rewindCount } = destination.state
    const isOutOfForceSame = counters.claimsOutOfForce === this.#outOfForce.length
    if (rewindCount === this.#rewinds && counters.claims === this.#claims && isOutOfForceSame) return
    const untouched = this.#untouched(destination)
    const news = this.#claimsFrom(source, destination, Math.min(this.#claims, untouched))
    const known = this.#remembered.filter(({ ordinal }) => ordinal < untouched)
    const lost = this.#remembered.slice(known.length)
    const outOfForce =
      isOutOfForceSame && rewindCount === this.#rewinds
        ? this.#outOfForce
        : destination.claims.listOutOfForce()
    const touched = [...news, ...lost].map(({ depositCount }) => depositCount)
    for (const ordinal of differenceOf(this.#outOfForce, outOfForce)) {
      if (ordinal >= counters.claims) continue
      const { sourceNetwork, depositCount } = destination.claims.get(ordinal)
      if (sourceNetwork === source.networkId) touched.push(depositCount)
    }
    // A claim may be known before its deposit: then it is met when the deposit's turn comes.
    for (const depositCount of touched)
      if (depositCount < this.#followedBelow && sent.has(depositCount))
        this.#follow(source, destination, depositCount)
    // Only now: what a failed read kept from being followed is followed by the next task.
    this.#claims = counters.claims
    this.#rewinds = rewindCount
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
    if (deposits === this.#followedBelow) return
    // A read that failed may have left some behind; a claim may have gone since.
    if (this.members.end > this.#followedBelow) this.members.truncate(this.#followedBelow)
    if (sent.length > 0)
      destination.claims.eachClaimed(source.networkId, this.#followedBelow, deposits, (depositCount) => {
        if (sent.has(depositCount) && this.members.add(depositCount)) this.#flips.push(depositCount)
      })
    this.#followedBelow = deposits
  }

  #follow(source: ShardView, destination: ShardView, depositCount: number): void {
    const isClaimed = destination.claims.findOf(source.networkId, depositCount) !== undefined
    const isChange = isClaimed ? this.members.add(depositCount) : this.members.remove(depositCount)
    if (isChange) this.#flips.push(depositCount)
  }
}

/** Ordinals that are in one list only. */
function differenceOf(left: readonly number[], right: readonly number[]): number[] {
  if (left === right) return []
  const inLeft = new Set(left)
  const inRight = new Set(right)
  return [
    ...left.filter((ordinal) => !inRight.has(ordinal)),
    ...right.filter((ordinal) => !inLeft.has(ordinal)),
  ]
}
