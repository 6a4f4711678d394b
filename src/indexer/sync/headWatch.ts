import type { ChainClient } from '../../chain/chainClient.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'

/** A head may be below the checkpoint because one node lags: it counts only after the longest of these three times. */
const SHORTEST_PATIENCE_MS = 5_000
const PATIENCE_IN_POLLS = 2
const PATIENCE_IN_BLOCKS = 2
/** How many of the newest blocks the chain's block time is computed from. */
const TIMED_BLOCKS = 20
/** With fewer stored headers among those blocks (they were read in one range) the chain is asked for them. */
const FEWEST_STEPS = 5
/** Headers read at once: with more, Node would warn of too many listeners on one signal. */
const HEADERS_AT_ONCE = 8
/** Endpoints that answer, but whose chain has lacked the checkpoint for this long, count as down. Perhaps it is another chain. */
const STRANGE_MS = 60_000

export interface HeadWatchOptions {
  readonly client: Pick<ChainClient, 'getHeader'>
  readonly stored: Pick<ShardWriter, 'checkpoint' | 'headerAtOrBelow'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: Pick<SyncReport, 'inStep' | 'behind' | 'rpcDown'>
  readonly pollIntervalMs: number
}

/**
 * Watches whether the head is as high as the checkpoint. A chain that was put back (restored from an older state) shows no reorg
 * that could be followed until it has grown past the checkpoint. Until then, claims of deposits that were ready may be refused.
 */
export class HeadWatch {
  readonly #options: HeadWatchOptions
  #isInStep = false
  /** Since when every head was below the checkpoint. */
  #belowSinceMs: number | undefined
  /** How long heads must stay below to count; undefined until it is needed. */
  #patienceMs: number | undefined
  /** Since when the checkpoint was not found on the chain. */
  #outOfStepSinceMs: number | undefined
  #doubtedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: HeadWatchOptions) {
    this.#options = options
  }

  /**
   * The height that a head must have; if one endpoint's head is lower, the others are asked. While the head is in step, a lower
   * head most likely comes from a lagging node behind the same address, and no other endpoint need be asked.
   * @returns undefined when any head will do.
   */
  wantedHeight(): BlockNumber | undefined {
    return this.#isInStep ? undefined : this.#options.stored.checkpoint()?.number
  }

  /** The checkpoint is on the chain, and the head is not below it. */
  inStep(): void {
    this.#isInStep = true
    this.#belowSinceMs = undefined
    this.#patienceMs = undefined
    this.#outOfStepSinceMs = undefined
    this.#options.report.rpcDown(false)
    this.#options.report.inStep()
  }

  /**
   * The last look did not find the checkpoint on the chain.
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
    const seconds = this.#storedBlockSeconds() ?? (await this.#readBlockSeconds(head, signal))
    return Math.max(
      SHORTEST_PATIENCE_MS,
      PATIENCE_IN_POLLS * this.#options.pollIntervalMs,
      PATIENCE_IN_BLOCKS * 1000 * median(seconds),
    )
  }

  /**
   * Seconds per block of the newest stored blocks. Blocks without a stored header share the time between their neighbours.
   * @returns undefined when too few headers are stored.
   */
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

  /** Seconds per block of the newest blocks on the chain. */
  async #readBlockSeconds(head: BlockHeader, signal: AbortSignal): Promise<number[]> {
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

/** Never below 0, although on some chains a block's time may be before its parent's. */
function secondsBetween(header: BlockHeader, above: BlockHeader): number {
  return Math.max(0, above.timestampSec - header.timestampSec)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}
