import assert from 'node:assert/strict'
import { comparable } from '../query/comparable.js'
import type { Load, Run } from './drive.js'
import type { BenchOperation } from './operations.js'
import { cpuTimes } from './threadCpu.js'

export type Mode = 'ceiling' | 'uncached' | 'cached' | 'fastify + SQLite'

/** Medians over the rounds of one operation in one mode. */
export interface Measured {
  readonly operation: string
  readonly mode: Mode
  readonly bodyBytes: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time per request: of the front, and of all other threads of its process. */
  readonly frontUs: number
  readonly restUs: number
  /** This rate divided by the ceiling's in the same round: the median over the rounds. */
  readonly ratio: number
  /** The same for rates per CPU time of the busiest thread, which other processes on the machine do not change. */
  readonly cpuRatio: number
}

export interface Stand {
  readonly ceiling: { readonly port: number; readonly pid: number }
  readonly service: {
    readonly cached: number
    readonly uncached: number
    readonly alone: number
    readonly pid: number
  }
  readonly rival: { readonly port: number; readonly pid: number } | undefined
  readonly drive: (load: Load) => Promise<Run>
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

/** A cache would hold all of them, but more would take too long to prepare. Without a cache the number does not matter. */
const UNCACHED_PATHS = 10_000
/** So few that all are in the cache after a moment. */
const CACHED_PATHS = 64

/** Runs all in turn, round after round, so that whatever else the machine does affects all equally. */
export async function measureOperation(stand: Stand, operation: BenchOperation): Promise<Measured[]> {
  const bodyBytes = await checkAnswers(stand, operation)
  const many = Array.from({ length: UNCACHED_PATHS }, (_, at) => operation.path(at))
  const few = many.slice(0, CACHED_PATHS)
  const sides: readonly { mode: Mode; port: number; pid: number; paths: readonly string[] }[] = [
    // Requests of equal length, so that reading them costs the same.
    { mode: 'ceiling', ...stand.ceiling, paths: many.map((path) => `/${bodyBytes}?${path}`) },
    { mode: 'uncached', port: stand.service.uncached, pid: stand.service.pid, paths: many },
    { mode: 'cached', port: stand.service.cached, pid: stand.service.pid, paths: few },
    ...(stand.rival === undefined || !operation.hasRival
      ? []
      : [{ mode: 'fastify + SQLite' as const, ...stand.rival, paths: many }]),
  ]
  const runs = new Map<Mode, (Run & { frontUs: number; restUs: number })[]>()
  const { connections, seconds } = stand
  // One short run each in which code is compiled; it does not count.
  if (stand.rounds > 1)
    for (const { port, paths } of sides) await stand.drive({ port, paths, connections, seconds: 1 })
  for (let round = 0; round < stand.rounds; round++)
    for (const { mode, port, pid, paths } of sides) {
      const before = cpuTimes(pid)
      const run = await stand.drive({ port, paths, connections, seconds })
      const after = cpuTimes(pid)
      const cpu = {
        frontUs: (after.frontUs - before.frontUs) / run.requests,
        restUs: (after.restUs - before.restUs) / run.requests,
      }
      runs.set(mode, [...(runs.get(mode) ?? []), { ...run, ...cpu }])
    }
  await checkAnswers(stand, operation)
  const ceilings = runs.get('ceiling')!
  return [...runs].map(([mode, all]) => ({
    operation: operation.name,
    mode,
    bodyBytes,
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    p50Ms: median(all.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
    frontUs: median(all.map(({ frontUs }) => frontUs)),
    restUs: median(all.map(({ restUs }) => restUs)),
    ratio: median(all.map(({ perSecond }, round) => perSecond / ceilings[round]!.perSecond)),
    cpuRatio: median(
      all.map(({ frontUs, restUs }, round) => ceilings[round]!.frontUs / Math.max(frontUs, restUs)),
    ),
  }))
}

/** Checks that all ports give the same, right answers. @returns bytes of the usual body. */
async function checkAnswers(stand: Stand, operation: BenchOperation): Promise<number> {
  const { service, rival } = stand
  const sizes: number[] = []
  for (let at = 0; at < CACHED_PATHS; at++) {
    const path = operation.path(at)
    const [fromPool, fromCache, alone] = await Promise.all(
      [service.uncached, service.cached, service.alone].map((port) => ask(port, path)),
    )
    if (fromPool !== fromCache || fromPool !== alone || !operation.isRight(at, JSON.parse(fromPool!)))
      throw new Error(`wrong answer to ${path}: ${fromPool}`)
    if (rival !== undefined && operation.hasRival)
      assert.deepEqual(comparable(await ask(rival.port, path)), comparable(fromPool!), path)
    sizes.push(Buffer.byteLength(fromPool!))
  }
  return median(sizes)
}

/** The body of a success. */
export async function ask(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { 'Accept-Encoding': 'identity' },
  })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`)
  return body
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
