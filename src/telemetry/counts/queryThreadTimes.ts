import { GCProfiler } from 'node:v8'
import { monotonicMs } from '../clocks.js'
import type { ThreadTimes } from '../frontCounts.js'

/** Query threads that may die and be replaced before those that come then are no longer counted. */
const SPARE_PLACES = 64

const FIELDS = ['activeSec', 'collections', 'collectingSec'] as const

/** Times of the query threads of one front thread: plain data with shared memory inside. */
export interface QueryThreadTimesHandle {
  readonly workers: number
  /** `monotonicMs()` of the start. */
  readonly startedAtMs: number
  readonly memory: SharedArrayBuffer
}

/** One number for the places that are taken, padded to the size of a count; behind it the counts of each thread. */
const HEAD_BYTES = Float64Array.BYTES_PER_ELEMENT

export function createQueryThreadTimes(
  workers: number,
  now: () => number = monotonicMs,
): QueryThreadTimesHandle {
  const counts = (workers + SPARE_PLACES) * FIELDS.length
  const memory = new SharedArrayBuffer(HEAD_BYTES + counts * Float64Array.BYTES_PER_ELEMENT)
  return { workers, startedAtMs: now(), memory }
}

/** Time between two looks at what the garbage collector did. */
const COLLECT_EVERY_MS = 1_000

/**
 * Counts the time of the calling query thread. Its event loop says nothing of it, since it sleeps outside of the loop, and an observer
 * of the garbage collector would never be called: so tasks are timed, and V8's own record is read between two of them.
 */
export class QueryThreadTimes {
  private readonly counts: Float64Array
  private readonly now: () => number
  private running = 0
  private busySinceMs = 0
  private readAtMs: number
  private profiler: GCProfiler

  constructor({ memory }: QueryThreadTimesHandle, now: () => number = monotonicMs) {
    const place = Atomics.add(new Int32Array(memory, 0, 1), 0, 1)
    const at = HEAD_BYTES + place * FIELDS.length * Float64Array.BYTES_PER_ELEMENT
    this.counts =
      at < memory.byteLength ? new Float64Array(memory, at, FIELDS.length) : new Float64Array(FIELDS.length)
    this.now = now
    this.readAtMs = now()
    this.profiler = startedProfiler()
  }

  /** A task begins. Others may begin before it ends. */
  begin(): void {
    if (this.running++ === 0) this.busySinceMs = this.now()
  }

  end(): void {
    if (--this.running > 0) return
    const nowMs = this.now()
    this.counts[0]! += (nowMs - this.busySinceMs) / 1000
    if (nowMs - this.readAtMs >= COLLECT_EVERY_MS) this.readCollections(nowMs)
  }

  private readCollections(nowMs: number): void {
    this.readAtMs = nowMs
    for (const { cost } of this.profiler.stop()?.statistics ?? []) {
      this.counts[1]! += 1
      this.counts[2]! += cost / 1_000_000
    }
    // A profiler can't be started again.
    this.profiler = startedProfiler()
  }
}

function startedProfiler(): GCProfiler {
  const profiler = new GCProfiler()
  profiler.start()
  return profiler
}

/** @returns a function that reads the times of all query threads together, in any thread. */
export function queryThreadTimesReader(
  { workers, startedAtMs, memory }: QueryThreadTimesHandle,
  now: () => number = monotonicMs,
): () => ThreadTimes {
  const counts = new Float64Array(memory, HEAD_BYTES)
  return () => {
    const sums = FIELDS.map((_, field) => {
      let sum = 0
      for (let at = field; at < counts.length; at += FIELDS.length) sum += counts[at]!
      return sum
    })
    const [activeSec, collections, collectingSec] = sums as [number, number, number]
    const idleSec = Math.max(0, (workers * (now() - startedAtMs)) / 1000 - activeSec)
    return { activeSec, idleSec, collections, collectingSec }
  }
}
