import { setTimeout as delay } from 'node:timers/promises'

/**
 * Asks again until the answer is good; for state of another process that sends no event.
 * @throws with the last answer when it does not become good in time.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  isGood: (answer: T) => boolean,
  what: string,
  withinMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isGood(answer)) return answer
    if (Date.now() > deadline)
      throw new Error(`${what}: not within ${withinMs} ms, last ${JSON.stringify(answer)}`)
    await delay(10)
  }
}
