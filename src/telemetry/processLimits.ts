import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the system allows this process; `Infinity` = no limit. Sizes are in bytes. */
export interface ProcessLimits {
  /** Of descriptors. Node raises the soft limit to the hard one before any of our code runs; the soft limit is in force. */
  readonly openFiles: { readonly soft: number; readonly hard: number }
  readonly addressSpace: number
  readonly dataSize: number
  readonly fileSize: number
  readonly stackSize: number
  readonly cpuSeconds: number
  /** Threads that may still start: the lower limit of the user's and the container's. */
  readonly threads: number
  readonly memory: number
}

/** How much this process is to run. */
export interface Demand {
  readonly networks: number
  readonly fronts: number
  /** Query threads of all front threads together. */
  readonly workers: number
  /** Size of the largest store that exists. */
  readonly storeBytes: number
}

export interface LimitFinding {
  readonly what: string
  readonly outcome: 'ok' | 'warn' | 'fail'
  readonly detail: string
}

const MIB = 2 ** 20
const GIB = 2 ** 30

/*
 * All measured with stores of a few blocks, then rounded up: docs/operations.md has the table. An indexer, front or query thread
 * costs most while it starts, because it opens all files of its program at the same time.
 */
const FILES_TO_START = { base: 256, perThread: 160 }
/** For connections to endpoints, stores, probes, and a query thread that is being replaced. */
const FILES_TO_RUN = { base: 224, perNetwork: 24, perFront: 16, perWorker: 4 }
const GOOD_CONNECTIONS = 4096
/** Each wasm memory of a thread reserves far more addresses than it has bytes. Reserved addresses take no memory. */
const ADDRESSES = { base: 32 * GIB, perThread: 32 * GIB }
const DATA = { base: 256 * MIB, perThread: 96 * MIB }
const MEMORY_TO_START = { base: 64 * MIB, perNetwork: 48 * MIB, perFront: 16 * MIB, perWorker: 24 * MIB }
const GOOD_MEMORY = { base: 512 * MIB, perNetwork: 96 * MIB, perFront: 64 * MIB, perWorker: 64 * MIB }
const THREADS = 16
/** Room for a store to grow. The largest file of a store that is still empty is LMDB's table of readers, 257 KiB. */
const ROOM_TO_GROW = 64 * MIB
/** V8 relies on having nearly this much stack. */
const STACK = MIB

let known: ProcessLimits | undefined

/** Reads the limits once, early, since later no descriptor may be left for it. @returns undefined where there is no /proc. */
export function readLimits(): ProcessLimits | undefined {
  const text = known === undefined ? readOptional('/proc/self/limits') : undefined
  if (text !== undefined) known = { ...limitsOf(text), ...controlGroupLimits(limitsOf(text).threads) }
  return known
}

/** Reads the limits from the text of `/proc/<pid>/limits`. */
export function limitsOf(text: string): ProcessLimits {
  const pair = (name: string): { soft: number; hard: number } => {
    const [, soft, hard] = new RegExp(`^Max ${name} +(\\S+) +(\\S+)`, 'm').exec(text) ?? []
    return { soft: limitNumber(soft), hard: limitNumber(hard) }
  }
  return {
    openFiles: pair('open files'),
    addressSpace: pair('address space').soft,
    dataSize: pair('data size').soft,
    fileSize: pair('file size').soft,
    stackSize: pair('stack size').soft,
    cpuSeconds: pair('cpu time').soft,
    // Root is not bound by this limit.
    threads: process.getuid?.() === 0 ? Number.POSITIVE_INFINITY : pair('processes').soft,
    memory: Number.POSITIVE_INFINITY,
  }
}

function limitNumber(text: string | undefined): number {
  return text === undefined || !/^\d+$/.test(text) ? Number.POSITIVE_INFINITY : Number(text)
}

function controlGroupLimits(threads: number): Pick<ProcessLimits, 'memory' | 'threads'> {
  const group = /^0::(.*)$/m.exec(readOptional('/proc/self/cgroup') ?? '')?.[1] ?? '/'
  const read = (name: string): string | undefined =>
    readOptional(join('/sys/fs/cgroup', group, name)) ?? readOptional(join('/sys/fs/cgroup', name))
  const left = limitNumber(read('pids.max')?.trim()) - Number(read('pids.current') ?? 0)
  const memory = process.constrainedMemory()
  return {
    threads: Math.min(threads, left),
    // Without a limit the system reports 0, or more than any machine has.
    memory: memory > 0 && memory < 2 ** 50 ? memory : Number.POSITIVE_INFINITY,
  }
}

/** Connections that clients may have before the service lacks descriptors. */
export function connectionLimit(
  { openFiles }: Pick<ProcessLimits, 'openFiles'>,
  demand: Omit<Demand, 'storeBytes'>,
): number {
  return Math.max(0, openFiles.soft - filesToRun(demand))
}

function filesToRun({ networks, fronts, workers }: Omit<Demand, 'storeBytes'>): number {
  const { base, perNetwork, perFront, perWorker } = FILES_TO_RUN
  return base + perNetwork * networks + perFront * fronts + perWorker * workers
}

/** Judges each limit. `fail` means that the system would end the process without a message, at once or under load. */
export function judgeLimits(limits: ProcessLimits, demand: Demand): LimitFinding[] {
  const { networks, fronts, workers } = demand
  const threads = networks + fronts + workers
  const sized = ({ base, perThread }: { readonly base: number; readonly perThread: number }): number =>
    base + perThread * threads
  // A front thread has no wasm memory.
  const addresses = ADDRESSES.base + ADDRESSES.perThread * (networks + workers)
  const forMemory = (cost: typeof GOOD_MEMORY): number =>
    cost.base + cost.perNetwork * networks + cost.perFront * fronts + cost.perWorker * workers
  const fewestFiles = sized(FILES_TO_START)
  const goodFiles = fewestFiles + GOOD_CONNECTIONS
  const { soft, hard } = limits.openFiles
  const unlimited = `set it to ${UNLIMITED}`
  return [
    judge('open files', soft, fewestFiles, goodFiles, {
      format: countText,
      value: `soft ${countText(soft)}, hard ${countText(hard)} (Node raises the soft limit by itself), for ${countText(connectionLimit(limits, demand))} connections`,
      remedy: 'raise the hard limit with ulimit -n, LimitNOFILE or --ulimit nofile',
    }),
    judge('address space', limits.addressSpace, addresses, addresses, {
      format: sizeText,
      remedy: `${unlimited} (ulimit -v, LimitAS) and limit the container's memory`,
    }),
    judge('data size', limits.dataSize, sized(DATA), Number.POSITIVE_INFINITY, {
      format: sizeText,
      remedy: `${unlimited} (ulimit -d, LimitDATA) and limit the container's memory`,
    }),
    judge('file size', limits.fileSize, demand.storeBytes + ROOM_TO_GROW, Number.POSITIVE_INFINITY, {
      format: sizeText,
      remedy: `${unlimited} (ulimit -f, LimitFSIZE): stores grow`,
    }),
    judge('stack size', limits.stackSize, STACK, STACK, {
      format: sizeText,
      remedy: '8 MiB are usual (ulimit -s, LimitSTACK)',
    }),
    judge('threads', limits.threads, THREADS + threads, THREADS + threads, {
      format: countText,
      remedy: 'raise ulimit -u, LimitNPROC, TasksMax or --pids-limit',
    }),
    judge('CPU time', limits.cpuSeconds, 0, Number.POSITIVE_INFINITY, {
      format: (seconds) => (seconds === Number.POSITIVE_INFINITY ? UNLIMITED : `${seconds} s`),
      remedy: `${unlimited} (ulimit -t, LimitCPU): at the limit the system kills the process`,
    }),
    judge('memory', limits.memory, forMemory(MEMORY_TO_START), forMemory(GOOD_MEMORY), {
      format: sizeText,
      remedy: 'raise the memory limit of the container',
    }),
  ]
}

/** The limits that are too low to open a store or start a thread: the system would end the process. */
export function deadlyLimits(limits: ProcessLimits): LimitFinding[] {
  const deadly = ['address space', 'data size', 'file size', 'stack size']
  return judgeLimits(limits, { networks: 0, fronts: 0, workers: 0, storeBytes: 0 }).filter(
    ({ what, outcome }) => outcome === 'fail' && deadly.includes(what),
  )
}

/** One line for limits that are too low. */
export function tooLow(findings: readonly LimitFinding[]): string {
  const details = findings.map(({ what, detail }) => `${what}: ${detail}`).join('; ')
  return `a limit of this process is too low: ${details}`
}

interface Words {
  format(limit: number): string
  /** Text of the limit; default: as `format` writes it. */
  readonly value?: string
  readonly remedy: string
}

function judge(what: string, limit: number, fewest: number, good: number, words: Words): LimitFinding {
  const { format, value = format(limit), remedy } = words
  if (limit < fewest)
    return { what, outcome: 'fail', detail: `${value}; at least ${format(fewest)} needed: ${remedy}` }
  if (limit < good)
    return { what, outcome: 'warn', detail: `${value}; ${format(good)} recommended: ${remedy}` }
  return { what, outcome: 'ok', detail: value }
}

const UNLIMITED = 'unlimited'

function countText(count: number): string {
  return count === Number.POSITIVE_INFINITY ? UNLIMITED : String(count)
}

function sizeText(bytes: number): string {
  if (bytes === Number.POSITIVE_INFINITY) return UNLIMITED
  if (bytes < MIB) return `${Math.ceil(bytes / 1024)} KiB`
  return bytes < 10 * GIB ? `${Math.ceil(bytes / MIB)} MiB` : `${Math.ceil(bytes / GIB)} GiB`
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
