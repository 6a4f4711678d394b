import type { BlockHeader, Hash, IndexedBlock, Sender } from '../protocol/chainEvent.js'
import type { BlockNumber } from '../protocol/units.js'

/** A stretch of blocks as one endpoint told it: decoded, in order, every log's block hash equal to its header's. */
export interface FetchedRange {
  readonly fromBlock: BlockNumber
  /** Header of the last block of the range, read from the same endpoint as the logs. */
  readonly head: BlockHeader
  /** Blocks with events, ascending. Senders are null: `resolveSenders` fills them. */
  readonly blocks: readonly IndexedBlock[]
}

/** One transaction whose bridge logs need a sender. */
export interface SenderQuestion {
  readonly transactionHash: Hash
  /** Log indexes of the transaction's bridge events, ascending, with what tells their calls apart. */
  readonly logs: readonly { readonly logIndex: number; readonly kind: 'deposit' | 'claim' | 'forwardLet' }[]
}

/**
 * One network's chain, seen through its endpoints. Every method throws RetryableError when another try may help,
 * FatalError when not, ChainDataError when the answers contradict each other after every endpoint was asked.
 */
export interface ChainClient {
  /**
   * Chain id on every endpoint that answers, `networkID()` of the bridge, contracts present.
   * @throws FatalError wrong chain or wrong contract.
   */
  verifyIdentity(signal: AbortSignal): Promise<void>
  /** Newest block. One call. */
  getHead(signal: AbortSignal): Promise<BlockHeader>
  /** Header by number; undefined while the node does not know the block. */
  getHeader(block: BlockNumber, signal: AbortSignal): Promise<BlockHeader | undefined>
  /** Newest final block under the network's finality setting, at most `head`; falls back to a depth where the tag is not offered. Never lower than an earlier answer. */
  getFinalizedBlock(head: BlockNumber, signal: AbortSignal): Promise<BlockNumber>
  /**
   * Events of [from, to]. The client narrows the range by itself (provider limits): the answer may end before `to`,
   * and the next call goes on behind it.
   */
  fetchRange(from: BlockNumber, to: BlockNumber, signal: AbortSignal): Promise<FetchedRange>
  /** Callers and transaction senders, log by log (call trace where offered, else the rules of decisions 4). Key: `${txHash hex}:${logIndex}`. */
  resolveSenders(questions: readonly SenderQuestion[], signal: AbortSignal): Promise<Map<string, Sender>>
  /** `depositCount()` of the bridge at a block; undefined where the node can't tell. */
  getContractDepositCount(block: BlockNumber, signal: AbortSignal): Promise<number | undefined>
  /** `getRoot()` of the bridge at a block; undefined where the node can't tell. */
  getContractLocalExitRoot(block: BlockNumber, signal: AbortSignal): Promise<Hash | undefined>
  /** Which of `globalExitRoots` the destination's manager knows at a block (legacy managers without events). */
  findInjectedGers(
    globalExitRoots: readonly Hash[],
    block: BlockNumber,
    signal: AbortSignal,
  ): Promise<boolean[]>
  /** True while no endpoint answers. */
  isDown(): boolean
  close(): void
}
