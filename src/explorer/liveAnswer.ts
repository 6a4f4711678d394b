import { useEffect, useRef, useState } from 'preact/hooks'
import { BridgeApiError, BridgeClientError } from '../client/bridgeClient.js'
import { type Follows, onChange } from './changeWatch.js'

/** An answer that is asked for again whenever it may have changed. */
export interface LiveAnswer<T> {
  readonly data: T | undefined
  /** Why the last question failed; `data` is that of the one before, if any. */
  readonly failure: unknown
  /** Whether `data` answers an older question, while the new one is on its way. */
  readonly isOld: boolean
}

/** Between two questions, however fast blocks come. */
const LEAST_MS = 1_000
const FAILED_MS = 4_000

/**
 * @param question names what is asked for: another question is asked at once. Undefined asks nothing.
 * @param load asks it.
 * @param leastMs between two rounds of asking, where `load` asks so much that a second is too little.
 * @param follows after what it is asked again.
 */
export function useLive<T>(
  question: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  leastMs = 0,
  follows: Follows = 'rows',
): LiveAnswer<T> {
  const [answer, setAnswer] = useState<{ question?: string | undefined; data?: T; failure?: unknown }>({})
  const latest = useRef(load)
  latest.current = load

  useEffect(() => {
    if (question === undefined) return undefined
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isBusy = false
    let isDue = false
    const ask = async (): Promise<void> => {
      if (isBusy) {
        isDue = true
        return
      }
      isBusy = true
      isDue = false
      clearTimeout(timer)
      let waitMs = Math.max(LEAST_MS, leastMs)
      try {
        const data = await latest.current(controller.signal)
        if (!controller.signal.aborted) setAnswer({ question, data })
      } catch (failure) {
        if (controller.signal.aborted) return
        setAnswer((last) => ({ ...(last.question === question ? last : {}), question, failure }))
        if (isPassing(failure)) {
          isDue = true
          waitMs = Math.max(FAILED_MS, waitOf(failure))
        }
      }
      timer = setTimeout(() => {
        isBusy = false
        if (isDue) void ask()
      }, waitMs)
    }
    void ask()
    const end = onChange(() => void ask(), follows)
    return () => {
      end()
      clearTimeout(timer)
      controller.abort()
    }
  }, [question, leastMs, follows])

  return { data: answer.data, failure: answer.failure, isOld: answer.question !== question }
}

/** Whether the same question may be answered later. */
function isPassing(failure: unknown): boolean {
  return !(failure instanceof BridgeApiError) || failure.status === 429 || failure.status >= 500
}

function waitOf(failure: unknown): number {
  return failure instanceof BridgeClientError ? (failure.retryAfterMs ?? 0) : 0
}
