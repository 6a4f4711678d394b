import type { ChainClient } from '../../chain/chainClient.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'

/** A head that stays below the checkpoint for less than this may come from one lagging node among several. */
const SHORTEST_PATIENCE_MS = 5_000
const PATIENCE_IN_POLLS = 2
const PATIENCE_IN_BLOCKS = 2
/** Newest blocks from which the chain's block time is computed. */
const TIMED_BLOCKS = 20
/** With fewer stored headers over those blocks (they were read in one range) no median can be computed: the chain is asked. */
const FEWEST_STEPS = 5
/** More at once would be more listeners on one signal than Node takes without a warning. */
const HEADERS_AT_ONCE = 8
/** Endpoints that answer, but have not shown our checkpoint for this long, count as down. Perhaps the chain was started anew. */
const STRANGE_MS = 60_000

export interface HeadWatchOptions {
  readonly client: Pick<ChainClient, 'getHeader'>
  readonly stored: Pick<ShardWriter, 'checkpoint' | 'headerAtOrBelow'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: Pick<SyncReport, 'inStep' | 'behind' | 'rpcDown'>
  readonly pollIntervalMs: number
}

/**
 * Watches whether the chain's head reaches the checkpoint. A chain that was put back (restored from an older state) shows no
 * reorg that could be followed until it has grown past the checkpoint, while deposits that were ready may be refused.
 */
export class HeadWatch {
  readonly #options: HeadWatchOptions
  #isInStep = false
  /** Since when no head was as high as the checkpoint. */
  #belowSinceMs: number | undefined
  /** How long heads must stay below to count; undefined until it is first needed. */
  #patienceMs: number | undefined
  /** Since when no look found our checkpoint on the chain. */
  #outOfStepSinceMs: number | undefined
  #doubtedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: HeadWatchOptions) {
    this.#options = options
  }

  /**
   * The height below which one endpoint's head is not enough and the others must be asked. Right after a head that fits, a lower
   * one is most likely a lagging node behind the same address, so nothing else is asked.
   * @returns undefined where any head will do.
   */
  wantedHeight(): BlockNumber | undefined {
    return this.#isInStep ? undefined : this.#options.stored.checkpoint()?.number
  }

  /** The chain stands on our checkpoint. */
  inStep(): void {
    this.#isInStep = true
    this.#belowSinceMs = undefined
    this.#patienceMs = undefined
    this.#outOfStepSinceMs = undefined
    this.#options.report.rpcDown(false)
    this.#options.report.inStep()
  }

  /**
   * The last head did not show our checkpoint on the chain.
   * @returns true when the chain's identity must be checked again.
   * @throws what the client throws.
   */
  async outOfStep(head: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { clock, report, stored } = this.#options
    const now = clock.now()
    const checkpoint = stored.checkpoint()!
    this.#isInStep = false
    this.#outOfStepSinceMs ??= now
    const isBelow = head.number < checkpoint.number
    this.#belowSinceMs = isBelow ? (this.#belowSinceMs ?? now) : undefined
    if (isBelow) this.#patienceMs ??= await this.#findPatience(head, signal)
    const isBehind =
      this.#belowSinceMs !== undefined && clock.now() - this.#belowSinceMs >= (this.#patienceMs ?? 0)
    if (isBehind) report.behind(head, checkpoint)
    const isStrange = now - this.#outOfStepSinceMs >= STRANGE_MS
    report.rpcDown(isStrange && !isBehind)
    if (!(isBehind || isStrange) || now - this.#doubtedAtMs < STRANGE_MS) return false
    this.#doubtedAtMs = now
    return true
  }

  async #findPatience(head: BlockHeader, signal: AbortSignal): Promise<number> {
    const seconds = this.#storedBlockSeconds() ?? (await this.#toldBlockSeconds(head, signal))
    return Math.max(
      SHORTEST_PATIENCE_MS,
      PATIENCE_IN_POLLS * this.#options.pollIntervalMs,
      PATIENCE_IN_BLOCKS * 1000 * median(seconds),
    )
  }

  /** Seconds per block of the newest stored blocks; blocks without a stored header share the time of their gap. @returns undefined where gaps are too wide. */
  #storedBlockSeconds(): number[] | undefined {
    const { stored } = this.#options
    const seconds: number[] = []
    let above = stored.checkpoint()!
    for (let steps = 0; seconds.length < TIMED_BLOCKS; steps++) {
      const header = above.number > 0 ? stored.headerAtOrBelow(asBlockNumber(above.number - 1)) : undefined
      if (header === undefined) return steps < FEWEST_STEPS ? undefined : seconds
      const blocks = above.number - header.number
      if (blocks > TIMED_BLOCKS / FEWEST_STEPS) return undefined
      const each = secondsBetween(header, above) / blocks
      for (let block = 0; block < blocks; block++) seconds.push(each)
      above = header
    }
    return seconds
  }

  /** Seconds per block of the newest blocks that the chain still has. */
  async #toldBlockSeconds(head: BlockHeader, signal: AbortSignal): Promise<number[]> {
    const { client } = this.#options
    const numbers = Array.from({ length: Math.min(TIMED_BLOCKS, head.number) }, (_, i) => head.number - 1 - i)
    const headers: (BlockHeader | undefined)[] = []
    for (let at = 0; at < numbers.length; at += HEADERS_AT_ONCE)
      headers.push(
        ...(await Promise.all(
          numbers
            .slice(at, at + HEADERS_AT_ONCE)
            .map((number) => client.getHeader(asBlockNumber(number), signal)),
        )),
      )
    const all = [head, ...headers]
    return all.slice(1).flatMap((header, i) => {
      const above = all[i]
      return header === undefined || above === undefined ? [] : [secondsBetween(header, above)]
    })
  }
}

/** At least 0: on some chains a block may be older than the one before it. */
function secondsBetween(header: BlockHeader, above: BlockHeader): number {
  return Math.max(0, above.timestampSec - header.timestampSec)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}
