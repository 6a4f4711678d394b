import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

/**
 * Asks again until the answer is good; for state of another process that sends no event.
 * @param everyMs time between two questions; longer where a question takes from what is waited for.
 * @throws with the last answer when it does not become good in time.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  isGood: (answer: T) => boolean,
  what: string,
  withinMs = 30_000,
  everyMs = 10,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isGood(answer)) return answer
    if (Date.now() > deadline)
      throw new Error(`${what}: not within ${withinMs} ms, last ${JSON.stringify(answer)}`)
    await delay(everyMs)
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
