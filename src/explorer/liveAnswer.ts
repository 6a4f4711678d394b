import { useEffect, useRef, useState } from 'preact/hooks'
import { BridgeApiError, BridgeClientError } from '../client/bridgeClient.js'
import { type Follows, onChange, type Touched } from './changeWatch.js'

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

/** When a question is asked again. */
interface Asking {
  /** Between two rounds, where one asks so much that a second is too little. */
  readonly leastMs?: number
  readonly follows?: Follows
  /** It asks for bridges of this network alone. */
  readonly source?: number
}

/**
 * @param question names what is asked for: another question is asked at once. Undefined asks nothing.
 * @param load asks it. It is told of which networks bridges may have changed since it was asked last: at first of any.
 */
export function useLive<T>(
  question: string | undefined,
  load: (signal: AbortSignal, touched: Touched) => Promise<T>,
  { leastMs = 0, follows = 'rows', source }: Asking = {},
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
    /** By what happened since it was asked last. */
    let touched: Touched
    const note = (more: Touched): void => {
      if (source !== undefined && more?.has(source) === false) return
      touched = touched === undefined || more === undefined ? undefined : new Set([...touched, ...more])
      if (isBusy) isDue = true
      else void ask()
    }
    const ask = async (): Promise<void> => {
      const asked = touched
      touched = new Set()
      isBusy = true
      isDue = false
      clearTimeout(timer)
      let waitMs = Math.max(LEAST_MS, leastMs)
      try {
        const data = await latest.current(controller.signal, asked)
        if (!controller.signal.aborted) setAnswer({ question, data })
      } catch (failure) {
        if (controller.signal.aborted) return
        setAnswer((last) => ({ ...(last.question === question ? last : {}), question, failure }))
        touched = undefined
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
    const end = onChange(note, follows)
    return () => {
      end()
      clearTimeout(timer)
      controller.abort()
    }
  }, [question, leastMs, follows, source])

  return { data: answer.data, failure: answer.failure, isOld: answer.question !== question }
}

/** Whether the same question may be answered later. */
function isPassing(failure: unknown): boolean {
  return !(failure instanceof BridgeApiError) || failure.status === 429 || failure.status >= 500
}

function waitOf(failure: unknown): number {
  return failure instanceof BridgeClientError ? (failure.retryAfterMs ?? 0) : 0
}
