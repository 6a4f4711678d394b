import type { Clock } from './clock.js'
import type { createHttpPost } from './httpPost.js'

/** Nothing that was asked has been answered for so long: perhaps nobody listens. */
const SILENT_AFTER_MS = 1_000

/**
 * Whether what is asked of one network's endpoints is answered at all. A frozen node takes connections and says nothing: each question
 * waits for its time-out, and is asked once more, before anybody knows. Any answer counts, a refusal too; a connection that fails does not.
 */
export class Silence {
  readonly #clock: Pick<Clock, 'now'>
  #pending = 0
  /** Since when nothing was heard though something was asked. */
  #sinceMs: number | undefined

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** True while questions are out and none was answered for a while. */
  get isSilent(): boolean {
    return this.#sinceMs !== undefined && this.#clock.now() - this.#sinceMs >= SILENT_AFTER_MS
  }

  /** Posts that are listened to. */
  around(openPost: typeof createHttpPost): typeof createHttpPost {
    return (options) => {
      const post = openPost(options)
      return async (body, signal) => {
        this.#pending++
        this.#sinceMs ??= this.#clock.now()
        try {
          const answer = await post(body, signal)
          this.#sinceMs = this.#pending > 1 ? this.#clock.now() : undefined
          return answer
        } finally {
          this.#pending--
        }
      }
    }
  }
}
