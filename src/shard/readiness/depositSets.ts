import type { NetworkId } from '../../protocol/units.js'
import { uint32Key } from '../../store/layout/keys.js'
import { listKinds } from '../../store/layout/tables.js'
import { allBelow, type Bits } from '../sets/bits.js'
import { type CountedBits, Flips } from '../sets/countedBits.js'
import { RangedBits } from '../sets/rangedBits.js'
import { SignedBits, type SignedPart } from '../sets/signedBits.js'
import type { ShardView } from '../snapshot/shardView.js'
import { ClaimedSet } from './claimedSet.js'
import type { ClaimFacts } from './claimFacts.js'
import type { ReadyCounts } from './claimPath.js'
import { ListMirrors } from './listMirrors.js'

/** What `DepositSets` needs of the task's shards. */
export interface DepositSetsShards {
  readonly networkIds: readonly NetworkId[]
  readonly claimFacts: ClaimFacts
}

interface FollowedClaims {
  readonly set: ClaimedSet
  /** Commits of both shards at the last update. */
  sourceCommits: number
  destinationCommits: number
}

/** Filters by state. An absent field filters nothing. */
export interface StateFilter {
  readonly claimed?: boolean
  readonly ready?: boolean
}

/**
 * The deposits of one source network as sets: by destination, by leaf type, claimed, ready. Each query thread keeps them and updates
 * a set to the task's snapshots when it is asked for. Readiness is not stored: the ready deposits to a destination are the unclaimed
 * ones among `ClaimPath.ready`, so it costs nothing when more become ready.
 */
export class DepositSets {
  /** Deposits whose claim came or went. */
  readonly flips = new Flips()
  readonly #shards: DepositSetsShards
  readonly #sent = new ListMirrors(listKinds.depositsByDestinationNetwork, 'deposits', uint32Key)
  readonly #ofType = new ListMirrors(listKinds.depositsByLeafType, 'deposits', (leafType) =>
    Uint8Array.of(leafType),
  )
  readonly #claimed = new Map<NetworkId, FollowedClaims>()

  constructor(shards: DepositSetsShards) {
    this.#shards = shards
  }

  /** Call it at the start of each task. */
  startTask(): void {
    this.#sent.startTask()
    this.#ofType.startTask()
  }

  isServed(networkId: NetworkId): boolean {
    return this.#shards.networkIds.includes(networkId)
  }

  /** Those of the given networks that are indexed here. @param networkIds undefined: all. */
  served(networkIds: readonly NetworkId[] | undefined): readonly NetworkId[] {
    return networkIds?.filter((networkId) => this.isServed(networkId)) ?? this.#shards.networkIds
  }

  /** Deposits to one network. */
  sentTo(source: ShardView, networkId: NetworkId): CountedBits {
    return this.#sent.get(source, networkId)
  }

  /** Deposits of one leaf type. @param leafType not 0: assets have no list. */
  ofType(source: ShardView, leafType: number): CountedBits {
    return this.#ofType.get(source, leafType)
  }

  /** Deposits to one indexed network that have a claim in force. */
  claimedOn(source: ShardView, networkId: NetworkId): Bits {
    let claimed = this.#claimed.get(networkId)
    if (claimed === undefined) {
      claimed = { set: new ClaimedSet(this.flips), sourceCommits: -1, destinationCommits: -1 }
      this.#claimed.set(networkId, claimed)
    }
    const { destination } = this.#shards.claimFacts.path(source, networkId)
    if (
      destination !== undefined &&
      (claimed.sourceCommits !== source.commits || claimed.destinationCommits !== destination.commits)
    ) {
      claimed.sourceCommits = -1
      claimed.set.update(source, destination, this.sentTo(source, networkId))
      claimed.destinationCommits = destination.commits
      // Set last: after a failed read the next task updates again.
      claimed.sourceCommits = source.commits
    }
    return claimed.set.members
  }

  /** Deposits to the network that are ready unless they are claimed. */
  ready(source: ShardView, networkId: NetworkId): ReadyCounts {
    return this.#shards.claimFacts.path(source, networkId).ready
  }

  /** Deposits to the network that can be claimed as far as contracts tell: covered, and without a claim in force. */
  claimableOn(source: ShardView, networkId: NetworkId): Bits {
    const { covered } = this.#shards.claimFacts.path(source, networkId)
    return new SignedBits(this.#unclaimed(source, networkId, covered, 1))
  }

  /** Deposits to any of the networks. */
  sentToAny(source: ShardView, networkIds: readonly NetworkId[]): Bits {
    return new SignedBits(networkIds.map((networkId) => whole(this.sentTo(source, networkId))))
  }

  /** Deposits in the given state to any of the networks. @param networkIds undefined: to any network at all. */
  inState(
    source: ShardView,
    networkIds: readonly NetworkId[] | undefined,
    { claimed, ready }: StateFilter,
  ): Bits {
    const parts: SignedPart[] = []
    // A claimed deposit is never ready.
    if (ready === true && claimed === true) return new SignedBits(parts)
    const served = this.served(networkIds)
    if (ready === true) {
      for (const networkId of served) parts.push(...this.#readyParts(source, networkId, 1))
      return new SignedBits(parts)
    }
    if (claimed === true) {
      for (const networkId of served) parts.push(whole(this.claimedOn(source, networkId)))
      return new SignedBits(parts)
    }
    if (networkIds === undefined) parts.push(whole(allBelow(source.deposits.count)))
    else for (const networkId of networkIds) parts.push(whole(this.sentTo(source, networkId)))
    for (const networkId of served) {
      if (claimed === false) parts.push({ ...whole(this.claimedOn(source, networkId)), sign: -1 })
      if (ready === false) parts.push(...this.#readyParts(source, networkId, -1))
    }
    return new SignedBits(parts)
  }

  #readyParts(source: ShardView, networkId: NetworkId, sign: 1 | -1): SignedPart[] {
    return this.#unclaimed(source, networkId, this.ready(source, networkId), sign)
  }

  #unclaimed(
    source: ShardView,
    networkId: NetworkId,
    { below, above }: ReadyCounts,
    sign: 1 | -1,
  ): SignedPart[] {
    if (below === 0 && above.isEmpty) return []
    const [sent, claimed] = [this.sentTo(source, networkId), this.claimedOn(source, networkId)]
    const otherSign = sign === 1 ? -1 : 1
    const parts: SignedPart[] = [
      { bits: sent, sign, below },
      { bits: claimed, sign: otherSign, below },
    ]
    if (!above.isEmpty)
      parts.push(
        { ...whole(new RangedBits(sent, above)), sign },
        { ...whole(new RangedBits(claimed, above)), sign: otherSign },
      )
    return parts
  }
}

function whole(bits: Bits): SignedPart {
  return { bits, sign: 1, below: Number.POSITIVE_INFINITY }
}
