import { simulate } from './simulation.js'

/**
 * `node dist/test/simulation/runSeeds.js [first seed] [number of seeds]`: runs one simulation per seed and names those that
 * fail. The same seed gives the same run: `runSeeds.js 17 1` repeats it.
 */
const first = Number(process.argv[2] ?? 1)
const count = Number(process.argv[3] ?? 200)
const failed: number[] = []
const totals = { requests: 0, reorgs: 0, restarts: 0, blocks: 0 }
const startedMs = performance.now()
for (let seed = first; seed < first + count; seed++) {
  try {
    const result = await simulate(seed)
    for (const name of Object.keys(totals) as Array<keyof typeof totals>) totals[name] += result[name]
  } catch (error) {
    failed.push(seed)
    console.error(`SEED=${seed} ${error instanceof Error ? error.message : String(error)}`)
  }
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
console.log(
  `${count} seeds from ${first} in ${seconds} s: ${totals.blocks} blocks, ${totals.reorgs} reorgs, ${totals.restarts} restarts, ${totals.requests} requests, ${failed.length} failed`,
)
if (failed.length > 0) console.error(`failed seeds: ${failed.join(' ')}`)
process.exitCode = failed.length > 0 || count < 1 ? 1 : 0
