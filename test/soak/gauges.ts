import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Gauges that must not grow while a service does the same work for a long time. */
export interface Gauges {
  readonly rssMb: number
  readonly fileMb: number
  readonly handles: number
  readonly threads: number
}

export function readGauges(pid: number, dataDir: string): Gauges {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    rssMb: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024,
    fileMb: folderBytes(dataDir) / 1024 ** 2,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]),
  }
}

function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  return bytes
}

/** Growth that still counts as flat: a share of the gauge, and an allowance for noise. */
const ALLOWED: { readonly [Name in keyof Gauges]: { readonly share: number; readonly plus: number } } = {
  rssMb: { share: 0.1, plus: 25 },
  fileMb: { share: 0.1, plus: 4 },
  handles: { share: 0, plus: 24 },
  threads: { share: 0, plus: 2 },
}

/**
 * Compares the last third with the second one: in the first one caches fill and code is compiled.
 * @returns what grew, in words.
 */
export function findGrowth(samples: readonly Gauges[]): string[] {
  const third = Math.floor(samples.length / 3)
  if (third < 2) return [`${samples.length} samples tell nothing`]
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)]
  return (Object.keys(ALLOWED) as (keyof Gauges)[]).flatMap((name) => {
    const [before, after] = [median(middle, name), median(last, name)]
    const { share, plus } = ALLOWED[name]
    return after > before * (1 + share) + plus
      ? [`${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)}`]
      : []
  })
}

function median(samples: readonly Gauges[], name: keyof Gauges): number {
  const sorted = samples.map((sample) => sample[name]).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
