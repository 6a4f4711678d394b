import { createHash } from 'node:crypto'
import { ClusterUnavailableError } from '../cluster/clusterFaults.js'
import { type KeyBoard, NEVER_WRITTEN, type Revision } from '../cluster/keyBoard.js'
import { takeAway } from '../cluster/lease.js'
import { Patience } from '../cluster/patience.js'
import { asNetworkId, type NetworkId } from '../protocol/units.js'
import type { Clock } from '../telemetry/clocks.js'
import type { Logger } from '../telemetry/logger.js'

const TELL_EVERY_MS = 3_000
/** An instance that has not told of itself for so long is gone, or hangs. */
const GONE_AFTER_MS = 12_000
/** Between two networks that an instance gives to others: so long a network may take to find its holder, and the holder to be seen. */
const BETWEEN_GIFTS_MS = 6_000
/** Whoever got a network and lost it again may not be able to lead it, so it is not given again soon. */
const NOT_AGAIN_MS = 600_000
const PREFIX = 'instance-'

export interface SpreadOptions {
  /** The board of leases, on which instances also tell that they are there. */
  readonly board: KeyBoard
  /** Name of this instance. */
  readonly instance: string
  readonly networkIds: readonly NetworkId[]
  /** Whether this instance leads a network at this moment. */
  readonly leads: (networkId: NetworkId) => boolean
  readonly clock: Clock
  readonly logger: Logger
}

interface Seen {
  readonly revision: Revision
  readonly atMs: number
  readonly sinceMs: number
  readonly leads: number
}

/**
 * Spreads the networks over the instances that may lead: each tells how many it leads, and one that leads at least two more than another
 * gives one away. The lease is free then, and those that lead fewer look for it with less reluctance.
 */
export class Spread {
  readonly #options: SpreadOptions
  readonly #others = new Map<string, Seen>()
  readonly #givenAt = new Map<NetworkId, number>()
  #lastGiftMs = Number.NEGATIVE_INFINITY
  #revision = NEVER_WRITTEN
  #told = 0

  constructor(options: SpreadOptions) {
    this.#options = options
  }

  /** Until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    void this.#watch(signal)
    while (!signal.aborted) {
      try {
        await this.#tell(signal)
        await this.#give(signal)
      } catch (error) {
        if (!signal.aborted && !(error instanceof ClusterUnavailableError)) throw error
      }
      await clock.sleep(TELL_EVERY_MS, signal).catch(() => undefined)
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { board, clock } = this.#options
    const patience = new Patience(clock, signal)
    while (!signal.aborted)
      try {
        for await (const { key, value, revision, isNews } of board.watch(signal)) {
          patience.reset()
          if (isNews && key.startsWith(PREFIX) && key !== this.#key()) this.#see(key, value, revision)
        }
      } catch (error) {
        if (!(error instanceof ClusterUnavailableError)) throw error
        await patience.pause().catch(() => undefined)
      }
  }

  #see(key: string, value: string, revision: Revision): void {
    const atMs = this.#options.clock.now()
    const before = this.#others.get(key)
    const isBack = before === undefined || atMs - before.atMs > GONE_AFTER_MS
    const { leads } = JSON.parse(value) as { leads: number }
    this.#others.set(key, { revision, atMs, sinceMs: isBack ? atMs : before.sinceMs, leads })
  }

  async #tell(signal: AbortSignal): Promise<void> {
    const { board, instance } = this.#options
    // The number makes each value another one, also to people who look.
    const value = JSON.stringify({ instance, leads: this.#mine().length, told: ++this.#told })
    const written = await board.write(this.#key(), value, this.#revision, signal)
    if (written.type === 'written') this.#revision = written.revision
    else this.#revision = (await board.find(this.#key(), signal))?.revision ?? NEVER_WRITTEN
  }

  async #give(signal: AbortSignal): Promise<void> {
    const { board, clock, logger } = this.#options
    const nowMs = clock.now()
    if (nowMs - this.#lastGiftMs < BETWEEN_GIFTS_MS) return
    const others = [...this.#others.values()].filter(
      ({ atMs, sinceMs }) => nowMs - atMs < GONE_AFTER_MS && nowMs - sinceMs > TELL_EVERY_MS,
    )
    const mine = this.#mine()
    const gift = giftOf(
      mine.filter((networkId) => nowMs - (this.#givenAt.get(networkId) ?? -NOT_AGAIN_MS) >= NOT_AGAIN_MS),
      mine.length,
      others.map(({ leads }) => leads),
    )
    if (gift === undefined) return
    this.#lastGiftMs = nowMs
    this.#givenAt.set(gift, nowMs)
    logger.info('gives a network to an instance that leads fewer', { networkId: gift })
    await takeAway(board, String(gift), clock, signal)
  }

  #mine(): NetworkId[] {
    const { networkIds, leads } = this.#options
    return networkIds.filter((networkId) => leads(asNetworkId(networkId)))
  }

  /** Names may have signs that keys must not have. */
  #key(): string {
    return PREFIX + createHash('sha256').update(this.#options.instance).digest('hex').slice(0, 16)
  }
}

/**
 * The network that an instance gives away, if any. @param leads how many it leads. @param others how many each of the others leads.
 */
export function giftOf(
  mayGive: readonly NetworkId[],
  leads: number,
  others: readonly number[],
): NetworkId | undefined {
  return leads - Math.min(...others) >= 2 ? mayGive.at(-1) : undefined
}
