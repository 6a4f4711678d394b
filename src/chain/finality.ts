import type { Finality } from '../config/config.types.js'
import type { Logger } from '../telemetry/logger.js'
import type { Clock } from './clock.js'
import type { EndpointPool } from './endpointPool.js'
import { findBlock } from './readBlocks.js'
import { RpcFailure } from './rpcFailure.js'

/** What stands in for a tag that a node does not offer: two epochs of Ethereum for `finalized`, one for `safe`. */
const FALLBACK_DEPTH = { safe: 32, finalized: 64 } as const
/** A tag is asked for when the head moved this far or this long passed: it moves in epochs, not in blocks. */
const ASK_AFTER_BLOCKS = 3
const ASK_AFTER_MS = 30_000
/** A node that offered the tag before may fail to for so long before blocks are counted: they might pass what is final. */
const TAG_GRACE_MS = 20_000

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

  /** @returns at most `head`. @throws RetryableError, FatalError, the signal's reason. */
  async finalizedBlock(head: number, signal: AbortSignal): Promise<number> {
    const { tag, depth } = this.#finality
    if (tag === 'latest') this.#finalized = Math.max(this.#finalized, head - depth)
    else if (this.#isDue(head)) {
      const tagged = await this.#taggedBlock(tag, head, signal)
      // A tag above the head is an endpoint's mistake: remembered, it would make later blocks final before their time.
      this.#finalized = Math.max(this.#finalized, Math.min(tagged, head) - depth)
      this.#askedAt = this.#clock.now()
      this.#askedAtHead = head
    }
    return Math.min(this.#finalized, head)
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

  async #taggedBlock(tag: 'safe' | 'finalized', head: number, signal: AbortSignal): Promise<number> {
    // A refusal is an answer here, as good as null: it must not make the endpoint look ill.
    const answer = await this.#pool.run(async (endpoint) => {
      try {
        return (await findBlock(tag, endpoint, signal))?.number
      } catch (error) {
        if (error instanceof RpcFailure && error.kind === 'rpc') return undefined
        throw error
      }
    }, signal)
    // Nodes that do not track a tag answer block 0 for ever.
    if (answer !== undefined && answer > 0) {
      this.#taggedAt = this.#clock.now()
      return answer
    }
    if (this.#taggedAt !== undefined && this.#clock.now() - this.#taggedAt < TAG_GRACE_MS) return 0
    if (!this.#hasWarned && head > FALLBACK_DEPTH[tag]) {
      this.#hasWarned = true
      this.#logger.warn('finality tag is not offered; counting blocks instead', {
        tag,
        depth: FALLBACK_DEPTH[tag],
      })
    }
    return Math.max(0, head - FALLBACK_DEPTH[tag])
  }
}
