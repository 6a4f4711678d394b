import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

/**
 * Asks again until the answer is good; for state of another process that sends no event.
 * @param everyMs time between two questions; longer where a question takes from what is waited for. By default a twentieth of what has
 * been waited, from 10 ms to 100: two questions to a service take a hundredth of a core, and many tests ask at a time.
 * @throws with the last answer when it does not become good in time.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  isGood: (answer: T) => boolean,
  what: string,
  withinMs = 30_000,
  everyMs?: number,
): Promise<T> {
  const begin = Date.now()
  for (;;) {
    const answer = await ask()
    if (isGood(answer)) return answer
    const waitedMs = Date.now() - begin
    if (waitedMs > withinMs)
      throw new Error(`${what}: not within ${withinMs} ms, last ${JSON.stringify(answer)}`)
    await delay(everyMs ?? Math.min(100, Math.max(10, waitedMs / 20)))
  }
}

/** Asks again until the answer equals `expected`. @throws AssertionError with the difference when it does not in time. */
export async function untilEqual<T>(ask: () => Promise<T>, expected: T, what: string): Promise<void> {
  let last: T | undefined
  const keep = async (): Promise<T> => {
    last = await ask()
    return last
  }
  await until(keep, (answer) => isDeepStrictEqual(answer, expected), what).catch((error: unknown) => {
    assert.deepEqual(last, expected, what)
    throw error
  })
}
