/** Code whose rate is measured. */
export interface Contender {
  readonly name: string
  /** Works for about `milliseconds`. @returns units of work per second of CPU time. */
  measure(milliseconds: number): number
}

/**
 * Runs the contenders in turn, round after round, so that whatever else the machine does affects all equally.
 * @returns best rate of each, per second of CPU time. There are many short rounds: a disturbance only makes a round slower, so
 * the best of many was undisturbed.
 */
export function race(
  contenders: readonly Contender[],
  { rounds = 50, roundMs = 20 }: { readonly rounds?: number; readonly roundMs?: number } = {},
): ReadonlyMap<string, number> {
  const best = new Map<string, number>()
  for (let round = 0; round < rounds; round++)
    for (const { name, measure } of contenders)
      best.set(name, Math.max(best.get(name) ?? 0, measure(roundMs)))
  return best
}

/** A contender that repeats `step`, which does `units` of work. */
export function repeating(name: string, units: number, step: () => void): Contender {
  return {
    name,
    measure(milliseconds) {
      const start = cpuMs()
      let done = 0
      let elapsed = 0
      while (elapsed < milliseconds) {
        step()
        done += units
        elapsed = cpuMs() - start
      }
      return (1000 * done) / elapsed
    },
  }
}

/**
 * CPU time of this process so far, in milliseconds. Unlike wall time it does not include time that other processes take. It does
 * not include waits for the disk either.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
