import type { Finality, NetworkConfig } from '../../config/config.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { decodeBlock, type RpcBlock } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcOutcome } from '../rpc/rpcTransport.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointPool } from './endpointPool.js'
import { blockCall, expectBlock, expectHead, findBlock, readHead } from './readBlocks.js'

/** How far below the head blocks count as final where nodes do not offer the tag: two epochs of Ethereum for `finalized`, one for `safe`. */
const FALLBACK_DEPTH = { safe: 32, finalized: 64 } as const
/** The tag is asked for again after this long if it was not offered, or if the head has not changed. */
const ASK_AGAIN_MS = 30_000
/** A tag that was offered must be missing for this long before blocks are counted instead: a count may call blocks final that are not. */
const TAG_GRACE_MS = 20_000

/** The block that an endpoint answers for a tag, and whether it is on the branch of the head. */
interface Tagged {
  readonly endpoint: Endpoint
  readonly block: RpcBlock | undefined
  readonly isOurs: boolean
}

type ChainHead = Pick<BlockHeader, 'number' | 'hash'>

/** The tagged block that an endpoint answered in one request with its head. */
interface BesideHead {
  readonly endpoint: Endpoint
  readonly headHash: string
  readonly block: RpcBlock | undefined
}

/** Knows the newest final block of one network under its finality setting. It goes back only after a reorg. */
export class FinalityTracker {
  readonly #finality: Finality
  readonly #isL1: boolean
  readonly #pool: EndpointPool
  readonly #clock: Clock
  readonly #logger: Logger
  /** Block 0 is final on every chain. */
  #finalized = 0
  #beside: BesideHead | undefined
  /** Hash of the head for which the tag was last answered. */
  #answeredFor: string | undefined
  /** When the tag was last asked for. */
  #askedAt: number | undefined
  #taggedAt: number | undefined
  #isOffered = true
  #hasWarned = false

  constructor(
    network: Pick<NetworkConfig, 'finality' | 'networkId'>,
    pool: EndpointPool,
    clock: Clock,
    logger: Logger,
  ) {
    this.#finality = network.finality
    this.#isL1 = network.networkId === L1_NETWORK_ID
    this.#pool = pool
    this.#clock = clock
    this.#logger = logger
  }

  /** Reads the endpoint's head, and in the same request the tagged block: so finality is known at once. @throws RpcFailure */
  async readHead(endpoint: Endpoint, signal: AbortSignal): Promise<RpcBlock> {
    const { tag } = this.#finality
    if (tag === 'latest' || !this.#isWorthAsking()) return readHead(endpoint, signal)
    const [latest, tagged] = await endpoint.callAll([blockCall('latest'), blockCall(tag)], signal)
    const head = expectHead(latest!, endpoint)
    const block = taggedBlock(tagged!, endpoint)
    this.#beside = block === 'failed' ? undefined : { endpoint, headHash: head.hash, block }
    return head
  }

  /** @returns at most the head's number. @throws RetryableError, FatalError, the signal's reason. */
  async finalizedBlock(head: ChainHead, signal: AbortSignal): Promise<number> {
    const { tag, depth } = this.#finality
    const final = tag === 'latest' ? head.number : await this.#taggedNumber(tag, head, signal)
    // A tag above the head is an endpoint's mistake. If it were remembered, later blocks would be final too early.
    if (final !== undefined) this.#finalized = Math.max(this.#finalized, Math.min(final, head.number) - depth)
    return Math.min(this.#finalized, head.number)
  }

  /** A reorg replaced the blocks above `ancestor`, final or not: the new ones are final only when the chain says so. */
  reorged(ancestor: number): void {
    if (this.#finalized <= ancestor) return
    this.#finalized = ancestor
    this.#beside = undefined
    this.#answeredFor = undefined
  }

  #isWorthAsking(): boolean {
    return this.#isOffered || !this.#isAskedLately()
  }

  #isAskedLately(): boolean {
    return this.#askedAt !== undefined && this.#clock.now() - this.#askedAt < ASK_AGAIN_MS
  }

  /** @returns undefined when nothing new is known. */
  async #taggedNumber(
    tag: 'safe' | 'finalized',
    head: ChainHead,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const headHash = encodeHex(head.hash)
    const beside = this.#beside?.headHash === headHash ? this.#beside : undefined
    if (beside === undefined) {
      if (!this.#isWorthAsking()) return this.#countBack(tag, head)
      if (this.#answeredFor === headHash && this.#isAskedLately()) return undefined
    }
    const answer = await this.#tagged(tag, beside, head, signal)
    this.#askedAt = this.#clock.now()
    // Nodes that do not track a tag always answer block 0.
    if (answer.block !== undefined && answer.block.number > 0) {
      this.#taggedAt = this.#clock.now()
      this.#isOffered = true
      if (!answer.isOurs) return undefined
      this.#answeredFor = headHash
      return answer.block.number
    }
    if (this.#taggedAt !== undefined && this.#clock.now() - this.#taggedAt < TAG_GRACE_MS) return undefined
    this.#isOffered = false
    if (!this.#hasWarned && head.number > FALLBACK_DEPTH[tag]) {
      this.#hasWarned = true
      this.#logger.warn('finality tag is not offered; counting blocks instead', {
        tag,
        depth: FALLBACK_DEPTH[tag],
      })
    }
    return this.#countBack(tag, head)
  }

  #countBack(tag: 'safe' | 'finalized', head: ChainHead): number {
    return Math.max(0, head.number - FALLBACK_DEPTH[tag])
  }

  async #tagged(
    tag: 'safe' | 'finalized',
    beside: BesideHead | undefined,
    head: ChainHead,
    signal: AbortSignal,
  ): Promise<Tagged> {
    const look = async (endpoint: Endpoint): Promise<Tagged> => {
      const block = await findTagged(tag, endpoint, signal)
      return { endpoint, block, isOurs: await this.#isOurs(block, head, endpoint, signal) }
    }
    const answer =
      beside === undefined
        ? await this.#pool.run(look, signal)
        : await this.#checkBeside(beside, head, signal)
    return answer.isOurs ? answer : ((await this.#askOthers(answer.endpoint, look, signal)) ?? answer)
  }

  /**
   * Checks a tagged block that came in one request with the head. A gateway may hand the calls of one request to several nodes,
   * so the block may be on another branch than the head. On the L1 it is compared with the head's branch: proofs and readiness
   * depend on it, and the tag moves only in epochs. On an L2 the tag moves with each block, and only caching depends on it.
   */
  async #checkBeside(beside: BesideHead, head: ChainHead, signal: AbortSignal): Promise<Tagged> {
    const { endpoint, block } = beside
    const isOurs =
      !this.#isL1 || (await this.#pool.run((any) => this.#isOurs(block, head, any, signal), signal))
    return { endpoint, block, isOurs }
  }

  /** Whether the tagged block is on the head's branch. Not checked when it makes no further block final. */
  async #isOurs(
    block: RpcBlock | undefined,
    head: ChainHead,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isNews = block !== undefined && this.#wouldGrow(block.number, head.number)
    return !isNews || (await isBelow(block, head, endpoint, signal))
  }

  /** Asks the other endpoints: an endpoint that is on another branch must not hold finality up. */
  async #askOthers(
    asked: Endpoint,
    look: (endpoint: Endpoint) => Promise<Tagged>,
    signal: AbortSignal,
  ): Promise<Tagged | undefined> {
    const { answer } = await this.#pool.tryEach(
      (endpoint) => endpoint !== asked && endpoint.serves('logs'),
      async (endpoint) => {
        const found = await look(endpoint)
        return found.block !== undefined && found.isOurs ? found : undefined
      },
      signal,
    )
    return answer
  }

  #wouldGrow(tagged: number, head: number): boolean {
    return Math.min(tagged, head) - this.#finality.depth > this.#finalized
  }
}

/** @returns undefined also when the endpoint refuses: not offering the tag must not count as a failure. */
async function findTagged(
  tag: 'safe' | 'finalized',
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<RpcBlock | undefined> {
  try {
    return await findBlock(tag, endpoint, signal)
  } catch (error) {
    if (error instanceof RpcFailure && error.kind === 'rpc') return undefined
    throw error
  }
}

/** The tagged block from the request for the head. @returns `failed` when the tag must be asked for by itself. */
function taggedBlock(outcome: RpcOutcome, endpoint: Endpoint): RpcBlock | undefined | 'failed' {
  if (!outcome.ok) return outcome.failure.kind === 'rpc' ? undefined : 'failed'
  try {
    return decodeBlock(outcome.result, endpoint.alias)
  } catch (error) {
    if (error instanceof RpcFailure) return 'failed'
    throw error
  }
}

/**
 * Is the tagged block on the branch that ends in `head`? After a reorg a node may still be on the other branch, and a load
 * balancer may ask one node for the tag and another one for the head: then the tag's number says nothing about our block.
 */
async function isBelow(
  tagged: RpcBlock,
  head: ChainHead,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean> {
  const headHash = encodeHex(head.hash)
  if (tagged.number === head.number) return tagged.hash === headHash
  const wanted = new Map<number, string>([[head.number, headHash]])
  if (tagged.number < head.number) wanted.set(tagged.number, tagged.hash)
  const outcomes = await endpoint.callAll([...wanted.keys()].map(blockCall), signal)
  return [...wanted].every(
    ([number, hash], index) => expectBlock(outcomes[index]!, number, endpoint)?.hash === hash,
  )
}
