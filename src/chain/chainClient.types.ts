import type { Address, BlockEvent, BlockHeader, Hash, IndexedBlock, Sender } from '../protocol/chainEvent.js'
import type { ClaimedWord } from '../protocol/claimedBitMap.js'
import type { BlockNumber, NetworkId } from '../protocol/units.js'

/** A range of blocks as one endpoint answered it: decoded, in order, every log's block hash equal to its header's. */
export interface FetchedRange {
  readonly fromBlock: BlockNumber
  /** Header of the last block of the range, read from the same endpoint as the logs. */
  readonly head: BlockHeader
  /**
   * Hash of the block before `fromBlock`. Known only when every header of the range was read, from this endpoint, and each names
   * the one before it as its parent: near the head this is always the case.
   */
  readonly parentHash?: Hash
  /** Blocks with events, ascending. Senders are null: `resolveSenders` finds them. */
  readonly blocks: readonly IndexedBlock<BlockEvent>[]
  /** The block, in the range or below it, from which on logs are numbered per transaction (see `LogPositions`). */
  readonly perTransactionFrom?: BlockNumber
}

/**
 * One bridge log that needs a sender, with the fields that distinguish its call from others of the same transaction. Events
 * have these fields: `{ kind: 'deposit', ...event }` makes one.
 */
export interface SenderLog {
  readonly logIndex: number
  readonly kind: 'deposit' | 'claim' | 'claimSet' | 'forwardLet'
  /** Deposits: 1 is a message, and `originAddress` its sender. */
  readonly leafType?: number
  readonly originAddress?: Address
  readonly depositCount?: number
  /** Claims: as emitted (pre-etrog: the bare deposit count). */
  readonly globalIndex?: bigint
  readonly destinationNetwork?: number
  readonly destinationAddress?: Address
  readonly amount?: bigint
}

/** One transaction whose bridge logs need a sender. */
export interface SenderQuestion {
  readonly transactionHash: Hash
  /** Block of its logs. A node that no longer finds the transaction by its hash is asked for this block. */
  readonly blockNumber: BlockNumber
  /** All deposits, claims, set claims and ForwardLETs of the transaction, by log index, ascending. */
  readonly logs: readonly SenderLog[]
}

/** The sender as far as it is known now: a provisional one may be corrected later. */
export interface SenderAnswer extends Sender {
  /** True: no call trace was available, so that `caller` is tx.from. Ask again later. */
  readonly isProvisional: boolean
  /** True: the tracer failed on this transaction. False with `isProvisional`: no endpoint traces at present. */
  readonly isTraceFailed?: boolean
}

/** How long traces may take. When the time is spent, the remaining senders are tx.from, provisionally. */
export interface TraceBudget {
  /** For all questions together. */
  readonly totalMs: number
  readonly eachMs: number
  /** Nobody waits: a transaction that hangs is looked for in every way at every endpoint. */
  readonly isThorough?: boolean
}

/** The hash chains over all insertions and removals that sovereign managers keep from v10 on. */
export interface GerHashChains {
  readonly inserted: Hash
  readonly removed: Hash
}

/** A token by its token network and token address. */
export interface MappedToken {
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
}

/** Reads a network's contracts at a block, from any endpoint that answers; undefined when none does. */
export interface ContractReads {
  /** `depositCount()` of the bridge. */
  getContractDepositCount(block: BlockNumber, signal: AbortSignal): Promise<number | undefined>
  /** `getRoot()` of the bridge. */
  getContractLocalExitRoot(block: BlockNumber, signal: AbortSignal): Promise<Hash | undefined>
  /** Leaf count of the L1 info tree from the L1's global exit root manager; older managers have no such getter. */
  getContractL1InfoLeafCount(block: BlockNumber, signal: AbortSignal): Promise<number | undefined>
  /** Words of the bridge's `claimedBitMap`, in the order asked for. */
  getClaimedWords(
    words: readonly ClaimedWord[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<(bigint | undefined)[]>
  /** `isEmergencyState()` of the bridge. */
  getEmergencyState(block: BlockNumber, signal: AbortSignal): Promise<boolean | undefined>
  /** `getTokenWrappedAddress` of the bridge for each token, in order; the zero address where it maps none. */
  getWrappedTokens(
    tokens: readonly MappedToken[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<(Address | undefined)[]>
  /** The manager's hash chains; older managers keep none. */
  getGerHashChains(block: BlockNumber, signal: AbortSignal): Promise<GerHashChains | undefined>
  /** Which of `globalExitRoots` have an entry in the manager's map. */
  getKnownGers(
    globalExitRoots: readonly Hash[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<(boolean | undefined)[]>
}

/** What to check when the answer of an endpoint is in doubt: does the endpoint answer with the state of the block that it was asked for? */
export interface StateCheck {
  /** The stored block that was asked for. */
  readonly block: BlockHeader
  /** An older block to compare with. */
  readonly before: BlockNumber | undefined
  /** Whether the bridge's exit root changed between the two, as far as is stored. */
  readonly isChanged: boolean
}

/** What a contradiction turned out to be: an endpoint's answer that differs from what is stored. */
export type Judgement<T> =
  /** An endpoint that has the stored block, and answers with the state of the block asked for, gives this answer. */
  | { readonly type: 'proven'; readonly answer: T }
  /** Some endpoint agrees with what is stored, or the one that differed is no longer asked for state. */
  | { readonly type: 'refuted' }
  /** The endpoint that differed has another block at that height, or none. */
  | { readonly type: 'otherBlock' }
  /** No endpoint can decide it. */
  | { readonly type: 'open' }

/**
 * One network's chain, seen through its endpoints. Every method throws RetryableError when another try may help,
 * FatalError when not, ChainDataError when the answers contradict each other after every endpoint was asked.
 */
export interface ChainClient extends ContractReads {
  /**
   * Checks the chain id on every endpoint that answers, that the contracts exist, and `networkID()` of the bridge.
   * @throws FatalError `wrong_chain`, `wrong_contract`; `state_unavailable` when no endpoint answers contract calls.
   */
  verifyIdentity(signal: AbortSignal): Promise<void>
  /** Newest block. One call. */
  getHead(signal: AbortSignal): Promise<BlockHeader>
  /**
   * The head of the endpoint in use if it is as high as `wanted`, else the highest head among all endpoints. An endpoint
   * whose head is as high as `wanted` is preferred from then on.
   */
  getHighestHead(wanted: BlockNumber, signal: AbortSignal): Promise<BlockHeader>
  /** Header by number; undefined while the node does not know the block. */
  getHeader(block: BlockNumber, signal: AbortSignal): Promise<BlockHeader | undefined>
  /**
   * The newest final block of the chain that ends in `head`, under the network's finality setting. Where nodes do not offer
   * the tag, it is a number of blocks below the head. Never lower than the answer before, except after `reorged`.
   */
  getFinalizedBlock(head: Pick<BlockHeader, 'number' | 'hash'>, signal: AbortSignal): Promise<BlockNumber>
  /** A reorg replaced the blocks above `ancestor`: none of the new ones is final yet. */
  reorged(ancestor: BlockNumber): void
  /**
   * The events of blocks `from` … `to`. Provider limits may make the answer end before `to`: the next call goes on from
   * there.
   */
  fetchRange(from: BlockNumber, to: BlockNumber, signal: AbortSignal): Promise<FetchedRange>
  /** Tells the client the first block, as the store has it, whose logs are numbered per transaction. undefined: the store has none. */
  countPerTransactionFrom(block: BlockNumber | undefined): void
  /**
   * Call it when the blocks `from` … `to` did not fit what is stored, so that a log may be missing. They are then read again
   * in small windows, with every header's bloom checked, and preferably from another endpoint.
   */
  readCarefully(from: BlockNumber, to: BlockNumber): void
  /**
   * Finds the sender of each log. The caller is a message's own origin address; tx.from where the transaction calls the bridge
   * directly; else the caller in a call trace; else tx.from. Never the zero address.
   * @param budget default: 5 s for one trace, and 5 s plus 0.1 s per question for all.
   * @returns senders by `senderKey(transactionHash, logIndex)`, without the logs of transactions that no endpoint knows.
   * @throws RetryableError when no endpoint answers: the answers to earlier questions are lost then.
   */
  resolveSenders(
    questions: readonly SenderQuestion[],
    signal: AbortSignal,
    budget?: TraceBudget,
  ): Promise<Map<string, SenderAnswer>>
  /** Whether some endpoint can be asked for a trace now. False while all of them have refused lately. */
  canTrace(): boolean
  /**
   * Which of `globalExitRoots` the manager knows at a block. For legacy managers, which emit no events.
   * @throws FatalError `state_unavailable` when no endpoint answers contract calls.
   */
  findInjectedGers(
    globalExitRoots: readonly Hash[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<boolean[]>
  /**
   * Decides a contradiction: asks again for the value that differs from what is `stored`, first the other endpoints, then the one
   * that answered last. An answer that differs counts only from an endpoint that passes `check` and has the stored block. An
   * endpoint that answers with another block's state, or differs while another one agrees, is not asked for state for a while.
   */
  checkContradiction<T>(
    check: StateCheck,
    stored: T,
    ask: (reads: ContractReads) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<Judgement<T>>
  /** True while one call can read hundreds of claimed words. */
  readsManyWords(): boolean
  /** Doubts the last answer: the next questions go to another endpoint, if there is one. */
  distrust(): void
  /** True while no endpoint answers. */
  isDown(): boolean
  /** True while a request awaits its answer: without one `isSilent` can't become true. */
  awaitsAnswer(): boolean
  /** Resolves as soon as that is true, or when the signal aborts. For one caller at a time. */
  untilAsked(signal: AbortSignal): Promise<void>
  /** True while requests are pending and no endpoint has answered anything for a while. */
  isSilent(): boolean
  /** Asks each endpoint for its newest block number and waits up to 1.5 s for a first answer. Never throws. */
  probe(signal: AbortSignal): Promise<void>
  close(): void
}
