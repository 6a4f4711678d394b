import { cpuMs } from '../micro/race.js'

/** Length of a round, which has at least one call. */
const ROUND_MS = 15
const ROUNDS = 11
/** A question whose call takes longer than this gets fewer rounds. */
const SLOW_MS = 100
const SLOW_ROUNDS = 3
const WARM_UP_MS = 150

/** A call that is measured; each time it takes the next variant of its question. */
export type Call = (at: number) => unknown

/**
 * Measures the calls in turn, round after round.
 * @returns µs of CPU time per call, for each: the median of the rounds.
 */
export function medianUs(calls: readonly Call[]): number[] {
  const plans = calls.map(plan)
  const samples = calls.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++)
    for (const [at, call] of calls.entries()) {
      const { repeats, rounds } = plans[at]!
      if (round >= rounds) continue
      const startedAt = cpuMs()
      for (let repeat = 0; repeat < repeats; repeat++) call(repeat)
      samples[at]!.push((1000 * (cpuMs() - startedAt)) / repeats)
    }
  return samples.map((of) => of.sort((a, b) => a - b)[of.length >> 1]!)
}

/** Warms the call up, and counts how often it fits into a round. */
function plan(call: Call): { readonly repeats: number; readonly rounds: number } {
  const startedAt = cpuMs()
  let calls = 0
  let elapsed = 0
  for (let batch = 1; elapsed < WARM_UP_MS; batch *= 2) {
    for (let repeat = 0; repeat < batch; repeat++) call(calls++)
    elapsed = cpuMs() - startedAt
  }
  const each = elapsed / calls
  return { repeats: Math.max(1, Math.round(ROUND_MS / each)), rounds: each > SLOW_MS ? SLOW_ROUNDS : ROUNDS }
}
