import type { StatusRow } from '../board/statusBoard.js'
import type { Clock } from '../telemetry/clocks.js'

/** An instance that leads and is of no use for so long lets another one try. */
const LONGEST_TROUBLE_MS = 30_000
/** Then it leaves the lease alone for so long: others look for it four times a second. */
const STAY_AWAY_MS = 5_000
const LOOK_EVERY_MS = 1_000

/**
 * Whether the instance that leads should let another one try, which may have other endpoints. It does so once: if the others have the same
 * trouble, the lease must not go round for ever. When it was well again, it may do so anew.
 */
export class StepDown {
  readonly #clock: Clock
  #hasSteppedDown = false
  #isAway = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Looks at the row until the signal is aborted, and calls `end` when the term is to end. Never throws.
   * @param row of a term that has just begun.
   */
  async watch(row: StatusRow, signal: AbortSignal, end: (reason: Error) => void): Promise<void> {
    const clock = this.#clock
    let wellAtMs = clock.now()
    try {
      for (;;) {
        await clock.sleep(LOOK_EVERY_MS, signal)
        if (isWell(row)) {
          wellAtMs = clock.now()
          // As long as nothing was compared with the chain it may only seem so.
          if (row.get('contractsCompared') === 1) this.#hasSteppedDown = false
        } else if (!this.#hasSteppedDown && clock.now() - wellAtMs >= LONGEST_TROUBLE_MS) {
          this.#hasSteppedDown = true
          this.#isAway = true
          end(new Error('this instance steps down, so that another one tries'))
        }
      }
    } catch {
      // The term is over.
    }
  }

  /** To be called before the next term: waits until another instance had the time to take the lease. @throws the signal's reason. */
  async stayAway(signal: AbortSignal): Promise<void> {
    if (this.#isAway) await this.#clock.sleep(STAY_AWAY_MS, signal)
    this.#isAway = false
  }
}

/** Not halted, with endpoints that answer and do not contradict what is stored. */
function isWell(row: StatusRow): boolean {
  const halt = row.haltReason()
  // A log without room has none for other instances either.
  return (
    (halt === 'none' || halt === 'log_full') && row.get('rpcDown') === 0 && row.get('contractsCompared') !== 0
  )
}
