import type { Clock } from '../../telemetry/clocks.js'
import type { createHttpPost } from '../rpc/httpPost.js'

/** Requests are pending and none was answered for this long: the endpoints may be frozen. */
const SILENT_AFTER_MS = 1_000

/**
 * Notices that no endpoint of a network answers any more. A frozen node accepts connections and never answers: otherwise that
 * would show only after a request and its retry have timed out. A refusal counts as an answer, a failed connection does not.
 */
export class Silence {
  readonly #clock: Pick<Clock, 'now'>
  #pending = 0
  /** Since when requests have been pending without any answer. */
  #sinceMs: number | undefined
  #onAsk: (() => void) | undefined

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** True while requests are pending, and while all since the last answer have failed. */
  get awaitsAnswer(): boolean {
    return this.#sinceMs !== undefined
  }

  /** Resolves as soon as an answer is awaited, or when the signal aborts. For one caller at a time. */
  untilAsked(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.awaitsAnswer || signal.aborted) return resolve()
      const end = (): void => {
        this.#onAsk = undefined
        signal.removeEventListener('abort', end)
        resolve()
      }
      this.#onAsk = end
      signal.addEventListener('abort', end)
    })
  }

  /** True while requests are pending and none was answered for a while. */
  get isSilent(): boolean {
    return this.#sinceMs !== undefined && this.#clock.now() - this.#sinceMs >= SILENT_AFTER_MS
  }

  /** Wraps `openPost` so that its requests and answers are counted. */
  around(openPost: typeof createHttpPost): typeof createHttpPost {
    return (options) => {
      const post = openPost(options)
      return async (body, signal, maxBodyBytes) => {
        this.#pending++
        this.#sinceMs ??= this.#clock.now()
        this.#onAsk?.()
        try {
          const answer = await post(body, signal, maxBodyBytes)
          this.#sinceMs = this.#pending > 1 ? this.#clock.now() : undefined
          return answer
        } finally {
          this.#pending--
        }
      }
    }
  }
}
