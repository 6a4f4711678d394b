import { readFileSync } from 'node:fs'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The resident memory of this process, in the parts that a container's limit treats differently. */
export interface ProcessMemory {
  /** `RssAnon`: what the process needs, and what it is killed for. */
  readonly anonymousBytes: number
  /** `RssFile`: pages of mapped files, above all of the stores. The system takes them back whenever it wants. */
  readonly fileBytes: number
}

/** @returns undefined where the system does not tell these parts: other systems than Linux. */
export function readProcessMemory(): ProcessMemory | undefined {
  try {
    return memoryOf(readFileSync('/proc/self/status', 'latin1'))
  } catch {
    return undefined
  }
}

/** Reads the parts from the text of `/proc/<pid>/status`. */
export function memoryOf(text: string): ProcessMemory | undefined {
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024
  const memory = { anonymousBytes: bytesOf('RssAnon'), fileBytes: bytesOf('RssFile') }
  return Number.isNaN(memory.anonymousBytes + memory.fileBytes) ? undefined : memory
}

/**
 * Part of its heap's limit from which on a thread has no future. V8 collects garbage before the heap has grown by half of what is left of the
 * limit, so four fifths of it are in use then.
 */
const FULL = 0.9
const MIB = 1024 ** 2

/** @returns what is to be told of this thread's heap when it is nearly full, else undefined. Once it is full, V8 ends the thread within the same turn. */
export function heapShortage(): string | undefined {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  if (used < FULL * limit) return undefined
  return `no memory is left for it: its heap has ${Math.round(used / MIB)} MiB, and ${Math.round(limit / MIB)} are the limit`
}

/**
 * Collects all garbage of this thread, which takes some tens of milliseconds. V8 does that only when a thread allocates, so one
 * that comes to rest would keep for days what it last used: buffers of answers and packed logs, above all.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // A context that is made now has the function; ours does not.
  const collect: unknown = runInNewContext('globalThis.gc')
  if (typeof collect !== 'function') return
  // Node 24 gives back with it what the young generation has grown by, up to 64 MiB. Node 20 takes any argument for a minor collection.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  collect()
}
