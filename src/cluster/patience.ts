import type { Clock } from '../telemetry/clocks.js'
import { ClusterUnavailableError } from './clusterFaults.js'

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1_000

/** Pauses between tries that get longer while nothing works, with a random part so that not all instances ask at once. */
export class Patience {
  private readonly clock: Clock
  private readonly signal: AbortSignal
  private pauseMs = FIRST_PAUSE_MS

  constructor(clock: Clock, signal: AbortSignal) {
    this.clock = clock
    this.signal = signal
  }

  /**
   * @returns undefined if the servers did not answer; the pause has then been made.
   * @throws what the try throws otherwise, or the signal's reason.
   */
  async tryOnce<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await ask()
      this.reset()
      return answer
    } catch (error) {
      if (!(error instanceof ClusterUnavailableError)) throw error
      await this.pause()
      return undefined
    }
  }

  /** @throws the signal's reason when it is aborted. */
  async pause(): Promise<void> {
    const pauseMs = this.pauseMs * (0.5 + this.clock.random())
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS)
    await this.clock.sleep(pauseMs, this.signal)
  }

  reset(): void {
    this.pauseMs = FIRST_PAUSE_MS
  }
}
