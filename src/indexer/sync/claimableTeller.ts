import type { CommitWatch } from '../../board/statusBoard.js'
import type { Proposer } from '../../shard/proposer.js'
import type { ClaimableSearch } from '../../shard/readiness/claimableSearch.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'

/** Time between two looks: networks may commit hundreds of times a second. What a commit has caused is told within 100 ms. */
const LOOKS_APART_MS = 50
/**
 * For so long at most the feed waits for the blocks that replace those of a reorg. Mostly the same injections and claims come back with them:
 * without the wait, what is claimed on either branch was told as claimable in between.
 */
const LONGEST_HOLD_MS = 2_000

export interface ClaimableTellerOptions {
  /** What the feed must be told. Nobody else calls it. */
  readonly claimables: Pick<ClaimableSearch, 'next' | 'forget' | 'isBehind'>
  readonly proposer: Proposer
  readonly commits: Pick<CommitWatch, 'count' | 'onCommit'>
  readonly clock: Clock
  readonly report: Pick<SyncReport, 'withholdsReadiness'>
  /** Reports a failure, and waits until the next try is due. Never throws. */
  readonly failed: (error: unknown, signal: AbortSignal) => Promise<void>
}

/**
 * Tells the feed what has become claimable here, after each commit of any network. It runs beside the sync loop, which may be waiting for an
 * endpoint that is slow, or dead, while other networks store what makes a deposit claimable.
 *
 * It looks when its command has its turn among those of the loop, so that none of them comes in between. It does not look while nothing here is
 * ready anyway: `halted` has told that, and what has changed meanwhile is told when it ends.
 */
export class ClaimableTeller {
  readonly #options: ClaimableTellerOptions
  /** Aborted at the end of the hold; undefined while there is none. */
  #hold: AbortController | undefined
  #releases = 0
  #wake: (() => void) | undefined

  constructor(options: ClaimableTellerOptions) {
    this.#options = options
  }

  /** To be called before blocks are taken back that others replace: nothing is told until `release`, or for two seconds. */
  hold(signal: AbortSignal): void {
    // Reorg upon reorg is no reason to wait longer.
    if (this.#hold !== undefined) return
    const hold = new AbortController()
    this.#hold = hold
    this.#options.clock.sleep(LONGEST_HOLD_MS, AbortSignal.any([signal, hold.signal])).then(
      () => this.release(),
      () => undefined,
    )
  }

  /** The blocks in the place of those that were taken back are stored, or there are none. */
  release(): void {
    if (this.#hold === undefined) return
    this.#hold.abort()
    this.#hold = undefined
    this.#releases++
    this.#wake?.()
  }

  /** Ends with the signal. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { claimables, commits, clock, failed } = this.#options
    while (!signal.aborted) {
      const [seen, releases] = [commits.count(), this.#releases]
      const lookedAtMs = clock.now()
      try {
        const isDone = await this.#tell(signal)
        if (isDone && releases === this.#releases) await this.#untilCommit(seen, signal)
        await clock.sleep(Math.max(0, lookedAtMs + LOOKS_APART_MS - clock.now()), signal)
      } catch (error) {
        if (signal.aborted) return
        claimables.forget()
        await failed(error, signal)
      }
    }
  }

  /** Tells all that there is to tell. @returns false when there may be more to find though nobody commits. */
  async #tell(signal: AbortSignal): Promise<boolean> {
    const { claimables, proposer, report } = this.#options
    let isDone = true
    for (;;) {
      const outcome = await proposer.proposeMade(() => {
        signal.throwIfAborted()
        isDone = true
        if (this.#hold !== undefined || report.withholdsReadiness) return undefined
        const news = claimables.next()
        isDone = !claimables.isBehind
        return news && { type: 'noteClaimable', news }
      })
      if (outcome === undefined) return isDone
      if (outcome.type === 'applied') continue
      claimables.forget()
      return false
    }
  }

  #untilCommit(seen: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = (): void => {
        stop()
        signal.removeEventListener('abort', end)
        this.#wake = undefined
        resolve()
      }
      const stop = this.#options.commits.onCommit(seen, end)
      this.#wake = end
      signal.addEventListener('abort', end)
    })
  }
}
