import type { Address, BlockHeader, Hash, IndexedBlock, Sender } from '../protocol/chainEvent.js'
import type { ClaimedWord } from '../protocol/claimedBitMap.js'
import type { BlockNumber, NetworkId } from '../protocol/units.js'

/** A stretch of blocks as one endpoint told it: decoded, in order, every log's block hash equal to its header's. */
export interface FetchedRange {
  readonly fromBlock: BlockNumber
  /** Header of the last block of the range, read from the same endpoint as the logs. */
  readonly head: BlockHeader
  /**
   * Hash of the block before `fromBlock`, where every header from there to `head` was read from this endpoint and each
   * names the one before it as its parent. Always so near the head.
   */
  readonly parentHash?: Hash
  /** Blocks with events, ascending. Senders are null: `resolveSenders` fills them. */
  readonly blocks: readonly IndexedBlock[]
  /** First block, in the range or below, from which on log indices are positions by transaction (`LogPositions`). */
  readonly perTransactionFrom?: BlockNumber
}

/**
 * One bridge log that needs a sender, with what tells its call from the others of its transaction. A DepositEvent,
 * ClaimEvent, ClaimSetEvent or ForwardLetEvent has these fields: `{ kind: 'deposit', ...event }`.
 */
export interface SenderLog {
  readonly logIndex: number
  readonly kind: 'deposit' | 'claim' | 'claimSet' | 'forwardLet'
  /** Deposits: 1 = a message, whose `originAddress` is its sender. */
  readonly leafType?: number
  readonly originAddress?: Address
  readonly depositCount?: number
  /** Claims: as emitted (V1: the bare index). */
  readonly globalIndex?: bigint
  readonly destinationNetwork?: number
  readonly destinationAddress?: Address
  readonly amount?: bigint
}

/** One transaction whose bridge logs need a sender. */
export interface SenderQuestion {
  readonly transactionHash: Hash
  /** Where its logs were found: a node that has dropped its index of transactions is asked for the block. */
  readonly blockNumber: BlockNumber
  /** All deposits, claims, set claims and ForwardLETs of the transaction, by log index, ascending. */
  readonly logs: readonly SenderLog[]
}

/** A sender as well as it can be told now. */
export interface ResolvedSender extends Sender {
  /** True: no call trace was available, so `caller` is tx.from for now and must be asked for again. */
  readonly isProvisional: boolean
  /** The tracer failed on this very transaction. Otherwise endpoints refuse all traces now. */
  readonly isTraceFailed?: boolean
}

/** Time for traces. When it is spent, the remaining questions are answered with tx.from, provisionally. */
export interface TraceBudget {
  /** For all questions together. */
  readonly totalMs: number
  readonly eachMs: number
}

/** Of a sovereign global exit root manager from v10 on. */
export interface GerHashChains {
  readonly inserted: Hash
  readonly removed: Hash
}

/** A token by its home. */
export interface MappedToken {
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
}

/** What a network's contracts say at a block, each asked of whichever endpoint can tell; undefined where none can. */
export interface ContractReads {
  /** `depositCount()` of the bridge. */
  getContractDepositCount(block: BlockNumber, signal: AbortSignal): Promise<number | undefined>
  /** `getRoot()` of the bridge. */
  getContractLocalExitRoot(block: BlockNumber, signal: AbortSignal): Promise<Hash | undefined>
  /** Leaves of the L1 info tree, by the L1's global exit root manager; older ones can't tell. */
  getContractL1InfoLeafCount(block: BlockNumber, signal: AbortSignal): Promise<number | undefined>
  /** Words of the bridge's `claimedBitMap`, in the order asked for. */
  getClaimedWords(
    words: readonly ClaimedWord[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<(bigint | undefined)[]>
  /** `isEmergencyState()` of the bridge. */
  getEmergencyState(block: BlockNumber, signal: AbortSignal): Promise<boolean | undefined>
  /** `getTokenWrappedAddress` of the bridge for each token, in order; zero where it has none. */
  getWrappedTokens(
    tokens: readonly MappedToken[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<(Address | undefined)[]>
  /** Hash chains of the manager; older ones keep none. */
  getGerHashChains(block: BlockNumber, signal: AbortSignal): Promise<GerHashChains | undefined>
  /** Which of `globalExitRoots` have an entry in the manager's map. */
  getKnownGers(
    globalExitRoots: readonly Hash[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<(boolean | undefined)[]>
}

/** By what an endpoint shows that it tells the state of the block that it is asked for. */
export interface StateWitness {
  /** The block in question. */
  readonly block: BlockHeader
  /** An older one. */
  readonly before: BlockNumber | undefined
  /** The exit root was another one at `before`, as far as is known here. */
  readonly isChanged: boolean
}

/** What became of an answer that differs from what is stored. */
export type Judgement<T> =
  /** One that tells blocks apart, and shows ours, has this there. */
  | { readonly type: 'denied'; readonly told: T }
  /** Whoever told it takes it back, or is not asked for state any more: the next answer will show. */
  | { readonly type: 'withdrawn' }
  /** Whoever told it shows another block there than ours, or none: it is not our block that it told of. */
  | { readonly type: 'moved' }
  /** Nobody can tell. */
  | { readonly type: 'open' }

/**
 * One network's chain, seen through its endpoints. Every method throws RetryableError when another try may help,
 * FatalError when not, ChainDataError when the answers contradict each other after every endpoint was asked.
 */
export interface ChainClient extends ContractReads {
  /**
   * Chain id on every endpoint that answers, `networkID()` of the bridge, contracts present.
   * @throws FatalError wrong chain or wrong contract; `state_unavailable` when no endpoint answers contract calls.
   */
  verifyIdentity(signal: AbortSignal): Promise<void>
  /** Newest block. One call. */
  getHead(signal: AbortSignal): Promise<BlockHeader>
  /**
   * Newest block of the endpoint in use if it is as high as `wanted`; else the highest newest block of all endpoints. An
   * endpoint that shows a block as high as `wanted` is preferred from then on.
   */
  getHighestHead(wanted: BlockNumber, signal: AbortSignal): Promise<BlockHeader>
  /** Header by number; undefined while the node does not know the block. */
  getHeader(block: BlockNumber, signal: AbortSignal): Promise<BlockHeader | undefined>
  /**
   * Newest final block under the network's finality setting, one of the chain that ends in `head`; falls back to a depth where
   * the tag is not offered. Never lower than an earlier answer, but after `reorged`.
   */
  getFinalizedBlock(head: Pick<BlockHeader, 'number' | 'hash'>, signal: AbortSignal): Promise<BlockNumber>
  /** The chain has left its blocks above `ancestor`: none of those that come instead is final yet. */
  reorged(ancestor: BlockNumber): void
  /**
   * Events of [from, to]. The client narrows the range by itself (provider limits): the answer may end before `to`,
   * and the next call goes on behind it.
   */
  fetchRange(from: BlockNumber, to: BlockNumber, signal: AbortSignal): Promise<FetchedRange>
  /** Sets the first block whose logs are counted per transaction, as stored; undefined while ranges have yet to show one. */
  countPerTransactionFrom(block: BlockNumber | undefined): void
  /**
   * What was fetched of [from, to] contradicts the chain's own arithmetic, so a log may be missing. Until it has been
   * read again, this stretch comes in small windows with every header's bloom checked, and from another endpoint than
   * the last one if there is one.
   */
  readCarefully(from: BlockNumber, to: BlockNumber): void
  /**
   * Callers and transaction senders, log by log: a message's own origin address; tx.from of a call straight to the
   * bridge; else the caller that a call trace shows; else tx.from. Never the zero address.
   * Key: `senderKey(transactionHash, logIndex)`. Logs of a transaction that no endpoint knows (yet) or can tell of, by its hash
   * or in its block, are left out.
   * @param budget default: a few seconds per trace, more for more questions.
   * @throws RetryableError when no endpoint answers; what other questions got is lost then.
   */
  resolveSenders(
    questions: readonly SenderQuestion[],
    signal: AbortSignal,
    budget?: TraceBudget,
  ): Promise<Map<string, ResolvedSender>>
  /** Whether some endpoint may be asked for a trace now. False while all of them rest after refusing. */
  canTrace(): boolean
  /**
   * Which of `globalExitRoots` the destination's manager knows at a block (legacy managers without events).
   * @throws FatalError `state_unavailable` when no endpoint answers contract calls.
   */
  findInjectedGers(
    globalExitRoots: readonly Hash[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<boolean[]>
  /**
   * Asks again for what differs from what is `stored`: other endpoints than the one that answered last, then that one. Only
   * the denial of one that has just shown that it tells blocks apart, and shows our block, counts. One that is caught telling
   * another block's state, or was the last to answer when another one tells what is stored, is not asked for state for a while.
   */
  askWitness<T>(
    witness: StateWitness,
    stored: T,
    ask: (reads: ContractReads) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<Judgement<T>>
  /** True while one call answers hundreds of claimed words. */
  readsManyWords(): boolean
  /** What was just told is doubted: another endpoint, if there is one, answers the next questions. */
  distrust(): void
  /** True while no endpoint answers. */
  isDown(): boolean
  /** True while requests are pending and no endpoint has answered anything for a while. */
  isSilent(): boolean
  /** Asks each endpoint for its newest block number and waits a moment for the first answer. Never throws. */
  probe(signal: AbortSignal): Promise<void>
  close(): void
}
