import type { ChainClient, FetchedRange } from '../chain/chainClient.types.js'
import { NEAR_HEAD_BLOCKS } from '../chain/logs/rangeReader.js'
import { FatalError, RetryableError } from '../errors/chainErrors.js'
import { InvariantError } from '../errors/invariantError.js'
import { equalBytes } from '../protocol/abiBytes.js'
import type { BlockHeader, Hash } from '../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../protocol/units.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'

/** How the head and the stored blocks relate. */
export type ChainNews =
  /** The head is the checkpoint. */
  | { readonly type: 'current' }
  /** The endpoint lags behind what is stored, or contradicts itself: this proves nothing, look again. */
  | { readonly type: 'behind' }
  /** There are blocks after the checkpoint to read. */
  | { readonly type: 'ahead' }
  /** The chain has other blocks than the stored ones above `ancestor`. */
  | { readonly type: 'reorg'; readonly ancestor: BlockHeader }

/** This close to the head, every block of a batch must name the one before it as its parent: the client reads all headers there. */
export const LINKED_DEPTH = NEAR_HEAD_BLOCKS
const HEADERS_AT_ONCE = 8

type Headers = Pick<ChainClient, 'getHeader'>
type StoredChain = Pick<ShardWriter, 'checkpoint' | 'headerAtOrBelow'>

/**
 * Compares the stored blocks with the chain's. Invariant: what is stored is one branch, and each batch is a proven descendant of
 * the one before it, as far down as a reorg may reach.
 *
 * A reorg is believed only from an endpoint whose head is at least as high as the checkpoint and which has another hash at the
 * checkpoint's height. A lower head proves nothing: load balancers ask nodes that lag (a lag of 70 blocks was once taken for a
 * 70-block reorg).
 */
export class LocalChain {
  readonly #client: Headers
  readonly #stored: StoredChain
  readonly #rollbackBlocks: number
  /** The checkpoint must be compared before blocks are stored on it: after a start, and after a batch that did not fit. */
  #isDoubted = true

  constructor(client: Headers, stored: StoredChain, options: { readonly rollbackBlocks: number }) {
    this.#client = client
    this.#stored = stored
    this.#rollbackBlocks = options.rollbackBlocks
  }

  /** Makes the next `observe` compare the checkpoint with the chain, whatever the head is. */
  doubt(): void {
    this.#isDoubted = true
  }

  /**
   * Finds out how the head and the stored blocks relate.
   * @throws RetryableError when the chain changes meanwhile.
   * @throws FatalError `reorg_too_deep` when no stored header is on the chain any more.
   */
  async observe(head: BlockHeader, signal: AbortSignal): Promise<ChainNews> {
    const checkpoint = this.#checkpoint()
    if (head.number < checkpoint.number) return { type: 'behind' }
    if (head.number === checkpoint.number) {
      if (!equalBytes(head.hash, checkpoint.hash)) return this.#reorg(checkpoint, signal)
      this.#isDoubted = false
      return { type: 'current' }
    }
    const isNext = head.number === checkpoint.number + 1
    if (isNext && isChild(head, checkpoint.hash)) {
      this.#isDoubted = false
      return { type: 'ahead' }
    }
    if (!isNext && !this.#isDoubted) return { type: 'ahead' }
    const known = await this.#client.getHeader(checkpoint.number, signal)
    if (known === undefined) return { type: 'behind' }
    if (!equalBytes(known.hash, checkpoint.hash)) return this.#reorg(checkpoint, signal)
    this.#isDoubted = false
    // The next block has another parent, and yet the checkpoint is on the chain: two nodes on two branches answered.
    return isNext ? { type: 'behind' } : { type: 'ahead' }
  }

  /**
   * Proves that `range` continues the checkpoint's branch. Below `rollbackBlocks` it is taken on trust: a reorg there could not be
   * followed anyway. Above that, the checkpoint is compared once more after the range was read. Near the head all parent hashes
   * are followed, since two calls through a load balancer may see two branches.
   */
  async isLinked(range: FetchedRange, head: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const checkpoint = this.#checkpoint()
    if (range.fromBlock !== checkpoint.number + 1)
      throw new InvariantError(`a range from ${range.fromBlock} was read for checkpoint ${checkpoint.number}`)
    if (range.head.number <= head.number - this.#rollbackBlocks) return true
    if (range.parentHash !== undefined) {
      const isLinked = equalBytes(range.parentHash, checkpoint.hash)
      if (!isLinked) this.doubt()
      return isLinked
    }
    const isNear = range.head.number > head.number - LINKED_DEPTH
    const isLinked =
      isNear && range.head.number - checkpoint.number <= LINKED_DEPTH
        ? await this.#followParents(range, checkpoint, signal)
        : await this.#stillHolds(checkpoint, signal)
    if (!isLinked) this.doubt()
    return isLinked
  }

  #checkpoint(): BlockHeader {
    const checkpoint = this.#stored.checkpoint()
    if (checkpoint === undefined) throw new InvariantError('the shard has no checkpoint yet')
    return checkpoint
  }

  async #stillHolds(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const known = await this.#client.getHeader(checkpoint.number, signal)
    return known !== undefined && equalBytes(known.hash, checkpoint.hash)
  }

  async #followParents(range: FetchedRange, checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const inRange = new Map<number, BlockHeader>(range.blocks.map(({ header }) => [header.number, header]))
    inRange.set(range.head.number, range.head)
    const known = new Map([...inRange].filter(([, { parentHash }]) => parentHash !== undefined))
    const missing: BlockNumber[] = []
    for (let number = checkpoint.number + 1; number <= range.head.number; number++)
      if (!known.has(number)) missing.push(asBlockNumber(number))
    for (let at = 0; at < missing.length; at += HEADERS_AT_ONCE) {
      const some = missing.slice(at, at + HEADERS_AT_ONCE)
      const headers = await Promise.all(some.map((number) => this.#client.getHeader(number, signal)))
      for (const header of headers) if (header !== undefined) known.set(header.number, header)
    }
    let parent = checkpoint.hash
    for (let number = checkpoint.number + 1; number <= range.head.number; number++) {
      const header = known.get(number)
      if (header === undefined || !isChild(header, parent)) return false
      parent = header.hash
      if (!equalBytes(inRange.get(number)?.hash ?? parent, parent)) return false
    }
    return true
  }

  /** Walks down the stored headers to the first one that is on the chain. */
  async #reorg(checkpoint: BlockHeader, signal: AbortSignal): Promise<ChainNews> {
    this.doubt()
    let below = checkpoint.number - 1
    while (below >= 0) {
      const stored = this.#stored.headerAtOrBelow(asBlockNumber(below))
      if (stored === undefined) break
      const known = await this.#client.getHeader(stored.number, signal)
      if (known === undefined)
        throw new RetryableError(
          `an endpoint does not know block ${stored.number}, although its head is higher`,
        )
      if (equalBytes(known.hash, stored.hash)) return { type: 'reorg', ancestor: stored }
      below = stored.number - 1
    }
    throw new FatalError(
      `a reorg replaced every block that can be taken back, from ${below + 1} to ${checkpoint.number}`,
      { reason: 'reorg_too_deep' },
    )
  }
}

/** Whether a header names `parent` as its parent. */
function isChild({ parentHash }: BlockHeader, parent: Hash): boolean {
  return parentHash !== undefined && equalBytes(parentHash, parent)
}
