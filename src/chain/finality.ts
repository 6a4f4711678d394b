import type { Finality } from '../config/config.types.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import { encodeHex } from '../protocol/hex.js'
import type { Logger } from '../telemetry/logger.js'
import type { Clock } from './clock.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointPool } from './endpointPool.js'
import { blockCall, expectBlock, findBlock } from './readBlocks.js'
import type { BlockHead } from './rpcBlocks.js'
import { RpcFailure } from './rpcFailure.js'

/** What stands in for a tag that a node does not offer: two epochs of Ethereum for `finalized`, one for `safe`. */
const FALLBACK_DEPTH = { safe: 32, finalized: 64 } as const
/** A tag is asked for when the head moved this far or this long passed: it moves in epochs, not in blocks. */
const ASK_AFTER_BLOCKS = 3
const ASK_AFTER_MS = 30_000
/** A node that offered the tag before may fail to for so long before blocks are counted: they might pass what is final. */
const TAG_GRACE_MS = 20_000

/** What an endpoint offers for a tag, and whether that is a block of the branch that is followed. */
interface Tagged {
  readonly endpoint: Endpoint
  readonly block: BlockHead | undefined
  readonly isOurs: boolean
}

type ChainHead = Pick<BlockHeader, 'number' | 'hash'>

/** Newest final block of one network under its configured rule. Never goes back but with a reorg. */
export class FinalityTracker {
  readonly #finality: Finality
  readonly #pool: EndpointPool
  readonly #clock: Clock
  readonly #logger: Logger
  #finalized = 0
  #askedAt = Number.NEGATIVE_INFINITY
  #askedAtHead = 0
  #taggedAt: number | undefined
  #hasWarned = false

  constructor(finality: Finality, pool: EndpointPool, clock: Clock, logger: Logger) {
    this.#finality = finality
    this.#pool = pool
    this.#clock = clock
    this.#logger = logger
  }

  /** @returns at most the head's number. @throws RetryableError, FatalError, the signal's reason. */
  async finalizedBlock(head: ChainHead, signal: AbortSignal): Promise<number> {
    const { tag, depth } = this.#finality
    if (tag === 'latest') this.#finalized = Math.max(this.#finalized, head.number - depth)
    else if (this.#isDue(head.number)) {
      const tagged = await this.#taggedBlock(tag, head, signal)
      if (tagged !== undefined) {
        // A tag above the head is an endpoint's mistake: remembered, it would make later blocks final before their time.
        this.#finalized = Math.max(this.#finalized, Math.min(tagged, head.number) - depth)
        this.#askedAt = this.#clock.now()
        this.#askedAtHead = head.number
      }
    }
    return Math.min(this.#finalized, head.number)
  }

  /** The chain has left its blocks above `ancestor`, whatever was final: what replaces them is not, until the chain says so. */
  reorged(ancestor: number): void {
    if (this.#finalized <= ancestor) return
    this.#finalized = ancestor
    this.#askedAt = Number.NEGATIVE_INFINITY
  }

  #isDue(head: number): boolean {
    return (
      Math.abs(head - this.#askedAtHead) >= ASK_AFTER_BLOCKS ||
      this.#clock.now() - this.#askedAt >= ASK_AFTER_MS
    )
  }

  /** @returns undefined when the endpoints told of another branch's block. */
  async #taggedBlock(
    tag: 'safe' | 'finalized',
    head: ChainHead,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const look = async (endpoint: Endpoint): Promise<Tagged> => {
      const block = await findTagged(tag, endpoint, signal)
      const isNews = block !== undefined && this.#wouldGrow(block.number, head.number)
      return { endpoint, block, isOurs: !isNews || (await isBelow(block, head, endpoint, signal)) }
    }
    let answer = await this.#pool.run(look, signal)
    if (!answer.isOurs) answer = (await this.#askOthers(answer.endpoint, look, signal)) ?? answer
    // Nodes that do not track a tag answer block 0 for ever.
    if (answer.block !== undefined && answer.block.number > 0) {
      this.#taggedAt = this.#clock.now()
      return answer.isOurs ? answer.block.number : undefined
    }
    if (this.#taggedAt !== undefined && this.#clock.now() - this.#taggedAt < TAG_GRACE_MS) return 0
    if (!this.#hasWarned && head.number > FALLBACK_DEPTH[tag]) {
      this.#hasWarned = true
      this.#logger.warn('finality tag is not offered; counting blocks instead', {
        tag,
        depth: FALLBACK_DEPTH[tag],
      })
    }
    return Math.max(0, head.number - FALLBACK_DEPTH[tag])
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
