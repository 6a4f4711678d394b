import { watchAnonymousMemory } from './backfill/anonymousMemory.js'
import type { BackfillCounts, ContenderName, ContenderTask } from './backfill/contenders.js'

// Entry of a contender's process, which `bench/backfill.ts` starts: it does the task and prints the cost.

const [name, task] = process.argv.slice(2) as [ContenderName, string]
const contenders: Record<ContenderName, () => Promise<(task: ContenderTask) => Promise<BackfillCounts>>> = {
  parse: async () => (await import('./backfill/parseOnly.js')).parseOnly,
  service: async () => (await import('./backfill/ourThreads.js')).ourThreads,
  viem: async () => {
    const { ourThreads } = await import('./backfill/ourThreads.js')
    const entry = new URL('./backfillViem.worker.js', import.meta.url)
    return (task) => ourThreads(task, entry)
  },
}
const peakAnonymous = watchAnonymousMemory()
const run = await contenders[name]()
const counts = await run(JSON.parse(task) as ContenderTask)
const { user, system } = process.cpuUsage()
const result = {
  ...counts,
  cpuMs: (user + system) / 1000,
  wallMs: performance.now(),
  peakRssBytes: process.resourceUsage().maxRSS * 1024,
  peakAnonymousBytes: peakAnonymous(),
}
process.stdout.write(JSON.stringify(result), () => process.exit(0))
