import type { Finality, NetworkConfig } from '../../config/config.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { type BlockHead, decodeBlock } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcOutcome } from '../rpc/rpcTransport.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointPool } from './endpointPool.js'
import { blockCall, expectBlock, expectHead, findBlock, readHead } from './readBlocks.js'

/** What stands in for a tag that a node does not offer: two epochs of Ethereum for `finalized`, one for `safe`. */
const FALLBACK_DEPTH = { safe: 32, finalized: 64 } as const
/** After this long a tag that is not offered is asked for again, and so is the tag for a head that stands still. */
const ASK_AGAIN_MS = 30_000
/** A node that offered the tag before may fail to for so long before blocks are counted: they might pass what is final. */
const TAG_GRACE_MS = 20_000

/** What an endpoint offers for a tag, and whether that is a block of the branch that is followed. */
interface Tagged {
  readonly endpoint: Endpoint
  readonly block: BlockHead | undefined
  readonly isOurs: boolean
}

type ChainHead = Pick<BlockHeader, 'number' | 'hash'>

/** The tagged block that an endpoint sent in one request with its head. */
interface BesideHead {
  readonly endpoint: Endpoint
  readonly headHash: string
  readonly block: BlockHead | undefined
}

/** Newest final block of one network under its configured rule. Never goes back but with a reorg. */
export class FinalityTracker {
  readonly #finality: Finality
  readonly #isL1: boolean
  readonly #pool: EndpointPool
  readonly #clock: Clock
  readonly #logger: Logger
  #finalized = 0
  #beside: BesideHead | undefined
  /** Hash of the head for which the tag was last known, and when the tag was last asked for. */
  #answeredFor = ''
  #askedAt = Number.NEGATIVE_INFINITY
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

  /** The endpoint's newest block. The same request asks for the tag, so finality is known as soon as the head. @throws RpcFailure */
  async readHead(endpoint: Endpoint, signal: AbortSignal): Promise<BlockHead> {
    const { tag } = this.#finality
    if (tag === 'latest' || !this.#isWorthAsking()) return readHead(endpoint, signal)
    const [latest, tagged] = await endpoint.callAll([blockCall('latest'), blockCall(tag)], signal)
    const head = expectHead(latest!, endpoint)
    const told = toldBlock(tagged!, endpoint)
    this.#beside = told === 'nothing' ? undefined : { endpoint, headHash: head.hash, block: told }
    return head
  }

  /** @returns at most the head's number. @throws RetryableError, FatalError, the signal's reason. */
  async finalizedBlock(head: ChainHead, signal: AbortSignal): Promise<number> {
    const { tag, depth } = this.#finality
    const final = tag === 'latest' ? head.number : await this.#taggedNumber(tag, head, signal)
    // A tag above the head is an endpoint's mistake: remembered, it would make later blocks final before their time.
    this.#finalized = Math.max(this.#finalized, Math.min(final, head.number) - depth)
    return Math.min(this.#finalized, head.number)
  }

  /** The chain has left its blocks above `ancestor`, whatever was final: what replaces them is not, until the chain says so. */
  reorged(ancestor: number): void {
    if (this.#finalized <= ancestor) return
    this.#finalized = ancestor
    this.#beside = undefined
    this.#answeredFor = ''
  }

  #isWorthAsking(): boolean {
    return this.#isOffered || this.#clock.now() - this.#askedAt >= ASK_AGAIN_MS
  }

  /** @returns 0 where nothing new is known. */
  async #taggedNumber(tag: 'safe' | 'finalized', head: ChainHead, signal: AbortSignal): Promise<number> {
    const headHash = encodeHex(head.hash)
    const beside = this.#beside?.headHash === headHash ? this.#beside : undefined
    if (beside === undefined) {
      if (!this.#isWorthAsking()) return this.#countBack(tag, head)
      if (this.#answeredFor === headHash && this.#clock.now() - this.#askedAt < ASK_AGAIN_MS) return 0
    }
    const answer = await this.#tagged(tag, beside, head, signal)
    this.#askedAt = this.#clock.now()
    // Nodes that do not track a tag answer block 0 for ever.
    if (answer.block !== undefined && answer.block.number > 0) {
      this.#taggedAt = this.#clock.now()
      this.#isOffered = true
      if (!answer.isOurs) return 0
      this.#answeredFor = headHash
      return answer.block.number
    }
    if (this.#taggedAt !== undefined && this.#clock.now() - this.#taggedAt < TAG_GRACE_MS) return 0
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
      beside === undefined ? await this.#pool.run(look, signal) : await this.#judge(beside, head, signal)
    return answer.isOurs ? answer : ((await this.#askOthers(answer.endpoint, look, signal)) ?? answer)
  }

  /**
   * A gateway may hand the calls of one request to several nodes, so the tagged block may be of another branch than the head.
   * On the L1 the block is compared with the head's chain: proofs and readiness depend on it, and the tag moves only in epochs.
   * On an L2 the tag moves with each block, and only caching depends on it.
   */
  async #judge(beside: BesideHead, head: ChainHead, signal: AbortSignal): Promise<Tagged> {
    const { endpoint, block } = beside
    const isOurs =
      !this.#isL1 || (await this.#pool.run((any) => this.#isOurs(block, head, any, signal), signal))
    return { endpoint, block, isOurs }
  }

  /** A tag that makes no further block final needs no comparison. */
  async #isOurs(
    block: BlockHead | undefined,
    head: ChainHead,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isNews = block !== undefined && this.#wouldGrow(block.number, head.number)
    return !isNews || (await isBelow(block, head, endpoint, signal))
  }

  /** One endpoint of another branch must not hold finality up while others tell of ours. */
  async #askOthers(
    asked: Endpoint,
    look: (endpoint: Endpoint) => Promise<Tagged>,
    signal: AbortSignal,
  ): Promise<Tagged | undefined> {
    const { answer } = await this.#pool.tryEach(
      (endpoint) => endpoint !== asked && endpoint.serves('logs'),
      async (endpoint) => {
        const told = await look(endpoint)
        return told.block !== undefined && told.isOurs ? told : undefined
      },
      signal,
    )
    return answer
  }

  #wouldGrow(tagged: number, head: number): boolean {
    return Math.min(tagged, head) - this.#finality.depth > this.#finalized
  }
}

/** A refusal is an answer here, as good as null: it must not make the endpoint look ill. */
async function findTagged(
  tag: 'safe' | 'finalized',
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<BlockHead | undefined> {
  try {
    return await findBlock(tag, endpoint, signal)
  } catch (error) {
    if (error instanceof RpcFailure && error.kind === 'rpc') return undefined
    throw error
  }
}

/** The tagged block from the request for the head. @returns `nothing` when the tag must be asked for by itself. */
function toldBlock(outcome: RpcOutcome, endpoint: Endpoint): BlockHead | undefined | 'nothing' {
  if (!outcome.ok) return outcome.failure.kind === 'rpc' ? undefined : 'nothing'
  try {
    return decodeBlock(outcome.result, endpoint.alias)
  } catch (error) {
    if (error instanceof RpcFailure) return 'nothing'
    throw error
  }
}

/**
 * Is the tagged block one of the chain that ends in `head`? After a reorg a node may still stand on the other branch, and a
 * balancer may ask one for the tag and another for the head: then the number says nothing of the block that we have there.
 */
async function isBelow(
  tagged: BlockHead,
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
