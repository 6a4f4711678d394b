import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the system allows this process, `Infinity` where it sets no limit. Sizes in bytes. */
export interface ProcessLimits {
  /** Of descriptors. Node raises the soft limit to the hard one before any of our code runs; `soft` is what holds. */
  readonly openFiles: { readonly soft: number; readonly hard: number }
  readonly addressSpace: number
  readonly dataSize: number
  readonly fileSize: number
  readonly stackSize: number
  readonly cpuSeconds: number
  /** Of threads: of all processes of the user, and of the container. */
  readonly threads: number
  readonly memory: number
}

/** How much is to be run. */
export interface Demand {
  readonly networks: number
  readonly workers: number
  /** Of the largest store that is there. */
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
 * All measured with stores of a few blocks, then rounded up: docs/operations.md has the table. A thread of a network or of
 * queries costs the most while it starts: it opens all files of its program side by side.
 */
const FILES_TO_START = { base: 256, perThread: 160 }
/** Connections to endpoints, stores, probes, and a query thread that is replaced. */
const FILES_TO_RUN = { base: 224, perNetwork: 24, perWorker: 4 }
const GOOD_CONNECTIONS = 4096
/** Each thread's wasm memories reserve addresses, not memory, beyond what can be reached. */
const ADDRESSES = { base: 32 * GIB, perThread: 32 * GIB }
const DATA = { base: 256 * MIB, perThread: 96 * MIB }
const MEMORY_TO_START = { base: 64 * MIB, perNetwork: 48 * MIB, perWorker: 24 * MIB }
const GOOD_MEMORY = { base: 512 * MIB, perNetwork: 96 * MIB, perWorker: 64 * MIB }
const THREADS = 16
/** The largest file that is made at once is LMDB's table of readers, 257 KiB; below this a store could hardly grow. */
const ROOM_TO_GROW = 64 * MIB
/** V8 assumes that nearly this much stack is available. */
const STACK = MIB

let known: ProcessLimits | undefined

/** Read once, early: later there may be no descriptor left for it. @returns undefined where the system has no /proc to tell. */
export function readLimits(): ProcessLimits | undefined {
  const text = known === undefined ? readOptional('/proc/self/limits') : undefined
  if (text !== undefined) known = { ...limitsOf(text), ...controlGroupLimits(limitsOf(text).threads) }
  return known
}

/** The limits that the text of `/proc/<pid>/limits` tells. */
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
    // Root is not bound by it.
    threads: process.getuid?.() === 0 ? Number.POSITIVE_INFINITY : pair('processes').soft,
    memory: Number.POSITIVE_INFINITY,
  }
}

function limitNumber(text: string | undefined): number {
  return text === undefined || !/^\d+$/.test(text) ? Number.POSITIVE_INFINITY : Number(text)
}

function controlGroupLimits(threads: number): Pick<ProcessLimits, 'memory' | 'threads'> {
  const group = /^0::(.*)$/m.exec(readOptional('/proc/self/cgroup') ?? '')?.[1] ?? '/'
  const told = (name: string): string | undefined =>
    readOptional(join('/sys/fs/cgroup', group, name)) ?? readOptional(join('/sys/fs/cgroup', name))
  const left = limitNumber(told('pids.max')?.trim()) - Number(told('pids.current') ?? 0)
  const memory = process.constrainedMemory()
  return {
    threads: Math.min(threads, left),
    // Without a limit the system tells none, or one beyond every machine.
    memory: memory > 0 && memory < 2 ** 50 ? memory : Number.POSITIVE_INFINITY,
  }
}

/** How many connections clients may have before descriptors run out for anything else. */
function connectionLimit({ openFiles }: ProcessLimits, demand: Demand): number {
  return Math.max(0, openFiles.soft - filesToRun(demand))
}

function filesToRun({ networks, workers }: Demand): number {
  return FILES_TO_RUN.base + FILES_TO_RUN.perNetwork * networks + FILES_TO_RUN.perWorker * workers
}

/** One finding per limit. Under a `fail` the system would end the process without a message, at once or under load. */
export function judgeLimits(limits: ProcessLimits, demand: Demand): LimitFinding[] {
  const { networks, workers } = demand
  const threads = networks + workers
  const sized = ({ base, perThread }: { readonly base: number; readonly perThread: number }): number =>
    base + perThread * threads
  const forMemory = (cost: typeof GOOD_MEMORY): number =>
    cost.base + cost.perNetwork * networks + cost.perWorker * workers
  const fewestFiles = sized(FILES_TO_START)
  const goodFiles = fewestFiles + GOOD_CONNECTIONS
  const { soft, hard } = limits.openFiles
  const unlimited = `set it to ${UNLIMITED}`
  return [
    judge('open files', soft, fewestFiles, goodFiles, {
      tell: countText,
      told: `soft ${countText(soft)}, hard ${countText(hard)} (Node raises the soft limit by itself), for ${countText(connectionLimit(limits, demand))} connections`,
      cure: 'raise the hard limit with ulimit -n, LimitNOFILE or --ulimit nofile',
    }),
    judge('address space', limits.addressSpace, sized(ADDRESSES), sized(ADDRESSES), {
      tell: sizeText,
      cure: `${unlimited} (ulimit -v, LimitAS) and limit the container's memory`,
    }),
    judge('data size', limits.dataSize, sized(DATA), Number.POSITIVE_INFINITY, {
      tell: sizeText,
      cure: `${unlimited} (ulimit -d, LimitDATA) and limit the container's memory`,
    }),
    judge('file size', limits.fileSize, demand.storeBytes + ROOM_TO_GROW, Number.POSITIVE_INFINITY, {
      tell: sizeText,
      cure: `${unlimited} (ulimit -f, LimitFSIZE): stores grow`,
    }),
    judge('stack size', limits.stackSize, STACK, STACK, {
      tell: sizeText,
      cure: '8 MiB are usual (ulimit -s, LimitSTACK)',
    }),
    judge('threads', limits.threads, THREADS + threads, THREADS + threads, {
      tell: countText,
      cure: 'raise ulimit -u, LimitNPROC, TasksMax or --pids-limit',
    }),
    judge('CPU time', limits.cpuSeconds, 0, Number.POSITIVE_INFINITY, {
      tell: (seconds) => (seconds === Number.POSITIVE_INFINITY ? UNLIMITED : `${seconds} s`),
      cure: `${unlimited} (ulimit -t, LimitCPU): the system kills the process then`,
    }),
    judge('memory', limits.memory, forMemory(MEMORY_TO_START), forMemory(GOOD_MEMORY), {
      tell: sizeText,
      cure: 'raise the memory limit of the container',
    }),
  ]
}

/** Limits under which the system ends every process that opens a store or starts a thread. */
export function deadlyLimits(limits: ProcessLimits): LimitFinding[] {
  const deadly = ['address space', 'data size', 'file size', 'stack size']
  return judgeLimits(limits, { networks: 0, workers: 0, storeBytes: 0 }).filter(
    ({ what, outcome }) => outcome === 'fail' && deadly.includes(what),
  )
}

/** One line for limits that are too low. */
export function tooLow(findings: readonly LimitFinding[]): string {
  const told = findings.map(({ what, detail }) => `${what}: ${detail}`).join('; ')
  return `a limit of this process is too low: ${told}`
}

interface Words {
  tell(limit: number): string
  /** Default: the limit as `tell` tells it. */
  readonly told?: string
  readonly cure: string
}

function judge(what: string, limit: number, fewest: number, good: number, words: Words): LimitFinding {
  const { tell, told = tell(limit), cure } = words
  if (limit < fewest)
    return { what, outcome: 'fail', detail: `${told}; at least ${tell(fewest)} needed: ${cure}` }
  if (limit < good) return { what, outcome: 'warn', detail: `${told}; ${tell(good)} recommended: ${cure}` }
  return { what, outcome: 'ok', detail: told }
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
