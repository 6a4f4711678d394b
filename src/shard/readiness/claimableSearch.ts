import { equalBytes } from '../../protocol/abiBytes.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import {
  asDepositCount,
  type DepositCount,
  type L1InfoTreeIndex,
  type NetworkId,
} from '../../protocol/units.js'
import type { ClaimableRow } from '../../store/feed/claimableRow.js'
import { type Bits, hasBit, WORD_BITS } from '../sets/bits.js'
import { CountedBits } from '../sets/countedBits.js'
import type { ClaimableDeposit, ClaimableNews, SnapshotVersion } from '../shardCommand.types.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { ClaimFacts } from './claimFacts.js'
import type { ClaimPath } from './claimPath.js'
import type { DepositSets } from './depositSets.js'

/** Deposits that one command names at most: the rest comes with the next. */
const MOST_DEPOSITS = 5_000

/** Every shard, as a task sees it. */
export interface ClaimableSearchShards {
  readonly networkIds: readonly NetworkId[]
  readonly claimFacts: ClaimFacts
  find(networkId: NetworkId): ShardView | undefined
  depositSets(source: ShardView): DepositSets
  /** Runs one task, in which each shard shows one snapshot. */
  withSnapshots<T>(body: () => T): T
}

/** What the feed was told of one source, as far as it is remembered. */
interface Told {
  readonly members: CountedBits
  /** Standing of all that it depends on, row by row, when it was compared; undefined: nothing was compared yet. */
  comparedAt: string | undefined
  /** What the members depend on, beside the commands that this search has made. */
  readonly readAt: string
}

/** How far what was told of one source can be taken back, and how often something was. */
interface Standing {
  readonly ownEpoch: number
  readonly ownFloor: number
  readonly l1Epoch: number
  readonly l1Floor: number
  readonly sourceEpoch: number
  readonly injectionCount: number
}

interface Change {
  readonly unclaimable: DepositCount[]
  readonly claimable: ClaimableDeposit[]
}

/**
 * Finds out which deposits have become claimable on one network, or cannot be claimed there any more, since its feed was told. Its
 * indexer thread has one. What was told is in the shard: after a restart, or in the next term of a lease, it goes on from there.
 */
export class ClaimableSearch {
  readonly #open: () => ClaimableSearchShards | undefined
  #opened: ClaimableSearchShards | undefined
  readonly #networkId: NetworkId
  readonly #readChanges: () => number
  /** What `readChanges` returned before the last look that found nothing. */
  #seenChanges: number | undefined
  /** By source network. */
  readonly #told = new Map<NetworkId, Told>()
  /** By source network, at the last look whose news the feed has. */
  readonly #stood = new Map<NetworkId, Standing>()
  /** The same at the last look: the feed has its news when the next one is made. */
  readonly #stands = new Map<NetworkId, Standing>()
  /** Commits of all shards at the last look that found nothing. */
  #quietAt: string | undefined

  /**
   * @param open is called by the first look, and by the next ones until it returns the shards: they can't be opened while a store is missing. No look is
   * needed while a history is read, so that reading needs no memory for this.
   * @param readChanges reads a number that moves with each commit of any shard: looks that would find nothing end there.
   */
  constructor(
    open: () => ClaimableSearchShards | undefined,
    networkId: NetworkId,
    readChanges: () => number,
  ) {
    this.#open = open
    this.#networkId = networkId
    this.#readChanges = readChanges
  }

  get #shards(): ClaimableSearchShards {
    return this.#opened!
  }

  /**
   * One look at the newest snapshots. Call it again after its command was applied, until there is no more.
   * @returns undefined when the feed is told of everything, and while the network is catching up.
   */
  next(): ClaimableNews | undefined {
    const changes = this.#readChanges()
    if (changes === this.#seenChanges) return undefined
    this.#opened ??= this.#open()
    if (this.#opened === undefined) return undefined
    const news = this.#lookAtSnapshots()
    if (news === undefined && !this.#shards.claimFacts.isBehind) this.#seenChanges = changes
    return news
  }

  #lookAtSnapshots(): ClaimableNews | undefined {
    return this.#shards.withSnapshots(() => {
      const own = this.#shards.find(this.#networkId)
      if (own === undefined || own.state.isCatchingUp) return undefined
      for (const [networkId, standing] of this.#stands) this.#stood.set(networkId, standing)
      this.#stands.clear()
      const views = this.#shards.networkIds.map((networkId) => this.#shards.find(networkId)!)
      const versions = views.map(({ networkId, commits, epoch }) => ({ networkId, commits, epoch }))
      const at = JSON.stringify(versions)
      if (at === this.#quietAt && !this.#shards.claimFacts.isBehind) return undefined
      const news = this.#look(own, views, versions)
      this.#quietAt = news === undefined ? at : undefined
      return news
    })
  }

  /** The last look has not seen all of what was settled: the next one may find something though no network has committed. */
  get isBehind(): boolean {
    return this.#opened?.claimFacts.isBehind === true
  }

  /** The command was refused, or its fate is not known: what was told is read again. */
  forget(): void {
    this.#told.clear()
    this.#stands.clear()
    this.#quietAt = undefined
    this.#seenChanges = undefined
  }

  #look(
    own: ShardView,
    views: readonly ShardView[],
    madeFrom: readonly SnapshotVersion[],
  ): ClaimableNews | undefined {
    const unclaimable: ClaimableNews['unclaimable'][number][] = []
    const claimable: ClaimableDeposit[] = []
    const isWhole = () => unclaimable.length + claimable.length < MOST_DEPOSITS
    for (const source of views) {
      if (source.networkId === this.#networkId) continue
      if (!isWhole()) break
      const left = MOST_DEPOSITS - unclaimable.length - claimable.length
      const change = this.#changeOf(own, source, left)
      for (const depositCount of change.unclaimable)
        unclaimable.push({ sourceNetwork: source.networkId, depositCount })
      claimable.push(...change.claimable)
    }
    if (own.isClaimableTold)
      return unclaimable.length + claimable.length === 0
        ? undefined
        : { madeFrom, stage: 'news', unclaimable, claimable }
    return { madeFrom, stage: isWhole() ? 'historyEnd' : 'history', unclaimable, claimable }
  }

  #changeOf(own: ShardView, source: ShardView, limit: number): Change {
    const { networkId } = source
    const path = this.#shards.claimFacts.path(source, this.#networkId)
    const sets = this.#shards.depositSets(source)
    const ready = sets.claimableOn(source, this.#networkId)
    const claimed = sets.claimedOn(source, this.#networkId)
    const told = this.#toldOf(own, source)
    const change: Change = { unclaimable: [], claimable: [] }
    const isFull = () => change.unclaimable.length + change.claimable.length >= limit
    const tell = (depositCount: DepositCount) => {
      const row = rowOf(source, path, depositCount)
      if (row === undefined) return
      const { destinationAddress, ...rest } = row
      change.claimable.push({
        sourceNetwork: networkId,
        depositCount,
        destinationAddress: destinationAddress.bytes,
        ...rest,
      })
      told.members.add(depositCount)
    }
    const standing = this.#standingOf(own, source)
    const { ownEpoch, l1Epoch, sourceEpoch } = standing
    const comparedAt = [sourceEpoch, l1Epoch, ownEpoch, own.injections.removalCount].join(' ')
    const others = told.comparedAt === comparedAt ? [] : this.#others(own, source, path, told, ready)
    for (const depositCount of differences(told.members, ready, claimed)) {
      if (isFull()) return change
      if (told.members.remove(depositCount)) change.unclaimable.push(depositCount)
      else tell(depositCount)
    }
    for (const depositCount of others) {
      // Here in one go: a look that stops before compares them again.
      change.unclaimable.push(depositCount)
      tell(depositCount)
    }
    told.comparedAt = comparedAt
    this.#stands.set(networkId, standing)
    change.unclaimable.sort((a, b) => a - b)
    change.claimable.sort((a, b) => a.depositCount - b.depositCount)
    return change
  }

  /** What the feed was told of a source, read anew when it may have changed otherwise than by commands of this search. */
  #toldOf(own: ShardView, { networkId }: ShardView): Told {
    // Claims take deposits out of it, which `differences` sees by itself, unless a claim has gone again in between.
    const readAt = `${own.epoch} ${own.state.counters.claimsOutOfForce}`
    const known = this.#told.get(networkId)
    if (known?.readAt === readAt) return known
    const members = new CountedBits()
    for (const { depositCount } of own.listClaimable(networkId)) members.add(depositCount)
    const told: Told = { members, comparedAt: undefined, readAt }
    this.#told.set(networkId, told)
    return told
  }

  /**
   * Deposits that can still be claimed, but are others than were told, or under another leaf; and those that could not be claimed for a
   * moment, which who read the lists in that moment must be told. Only rewinds and removals make such.
   */
  #others(own: ShardView, source: ShardView, path: ClaimPath, told: Told, ready: Bits): DepositCount[] {
    const mayHaveBeenGone = this.#interruptions(own, source, path)
    return own
      .listClaimable(source.networkId)
      .filter(({ depositCount, row }) => {
        if (!told.members.has(depositCount) || !hasBit(ready, depositCount)) return false
        const now = rowOf(source, path, depositCount)
        return (
          now === undefined ||
          now.l1InfoTreeIndex !== row.l1InfoTreeIndex ||
          !equalBytes(now.transactionHash, row.transactionHash) ||
          mayHaveBeenGone(now.l1InfoTreeIndex)
        )
      })
      .map(({ depositCount }) => depositCount)
  }

  #standingOf(own: ShardView, source: ShardView): Standing {
    const l1 = this.#shards.find(L1_NETWORK_ID)
    return {
      ownEpoch: own.epoch,
      ownFloor: own.state.undoFloor,
      l1Epoch: l1?.epoch ?? 0,
      l1Floor: l1?.state.undoFloor ?? 0,
      sourceEpoch: source.epoch,
      injectionCount: own.injections.count,
    }
  }

  /**
   * Blocks that were taken back and came again between two looks, or a root that was removed and injected again: lists have shown what depends on
   * them as not ready in between. Such blocks were above the floor of the look before. How deep a rewind went is not known, so some is told again
   * that was there all the time.
   * @returns tells it of deposits that are usable with an L1 info leaf.
   */
  #interruptions(own: ShardView, source: ShardView, path: ClaimPath): (index: L1InfoTreeIndex) => boolean {
    const before = this.#stood.get(source.networkId)
    const l1 = this.#shards.find(L1_NETWORK_ID)
    if (before === undefined || l1 === undefined) return () => false
    const isL1Rewound = l1.epoch !== before.l1Epoch
    const isOwnRewound = own.epoch !== before.ownEpoch
    const { deposits } = source.state.untouchedSince(before.sourceEpoch)
    return (index) => {
      if (path.coveredAt(index) > deposits) return true
      const { blockNumber, globalExitRoot } = l1.l1Info.getLeaf(index)
      if (isL1Rewound && blockNumber > before.l1Floor) return true
      if (own.networkId === L1_NETWORK_ID) return false
      const injection = own.injections.find(globalExitRoot)
      if (injection === undefined) return false
      return isOwnRewound
        ? injection.blockNumber > before.ownFloor
        : injection.ordinal >= before.injectionCount
    }
  }
}

/** @returns undefined when no leaf covers the deposit. */
function rowOf(source: ShardView, path: ClaimPath, depositCount: DepositCount): ClaimableRow | undefined {
  const l1InfoTreeIndex = path.findAccepted(depositCount)
  if (l1InfoTreeIndex === undefined) return undefined
  const { transactionHash, destinationAddress, leafType } = source.deposits.get(depositCount)
  return { transactionHash, destinationAddress, leafType, l1InfoTreeIndex }
}

/** Members of one set only, ascending; of `told` those that are claimed count as gone already. */
function* differences(told: Bits, ready: Bits, claimed: Bits): Generator<DepositCount> {
  const words = Math.max(told.wordCount, ready.wordCount)
  for (let word = 0; word < words; word++) {
    let rest = (told.wordAt(word) & ~claimed.wordAt(word)) ^ ready.wordAt(word)
    for (; rest !== 0; rest &= rest - 1)
      yield asDepositCount(word * WORD_BITS + 31 - Math.clz32(rest & -rest))
  }
}
