import { readdirSync, readFileSync } from 'node:fs'

export interface CpuTimes {
  readonly frontUs: number
  /** All other threads: query worker, garbage collection, libuv. */
  readonly restUs: number
}

/** Linux counts in hundredths of a second. */
const TICK_US = 10_000

/** CPU time that a process has used: its main thread, and all others. */
export function cpuTimes(pid: number): CpuTimes {
  let [frontUs, restUs] = [0, 0]
  for (const thread of threadsOf(pid)) {
    const us = ticksOf(`/proc/${pid}/task/${thread}/stat`, 12, 13) * TICK_US
    if (thread === pid) frontUs += us
    else restUs += us
  }
  return { frontUs, restUs }
}

/** CPU time of this process's children that have ended and been waited for. */
export function endedChildrenUs(): number {
  return ticksOf('/proc/self/stat', 14, 15) * TICK_US
}

/** @param places of fields behind the thread's name, counted from 1. */
function ticksOf(file: string, ...places: readonly number[]): number {
  const stat = readFileSync(file, 'utf8')
  // The name may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return places.reduce((sum, place) => sum + Number(fields[place - 1]), 0)
}

/** CPU time of all cores since the machine's start: what any program used, and that with what none did. */
export function coreTimes(): { readonly busyUs: number; readonly allUs: number } {
  const [user, nice, system, idle, waiting, irq, softIrq] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .trim()
    .split(/ +/)
    .slice(1)
    .map((ticks) => Number(ticks) * TICK_US) as [number, number, number, number, number, number, number]
  const busyUs = user + nice + system + irq + softIrq
  return { busyUs, allUs: busyUs + idle + waiting }
}

export function threadsOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map(Number)
}

/** What the kernel has counted of some threads since their start. */
export interface ThreadTimes {
  /** On a core. */
  readonly runUs: number
  /** Could have run, but all cores were taken. */
  readonly waitUs: number
  /** How often they waited for something: voluntary switches of context. */
  readonly sleeps: number
  /** How often the core was taken away from them. */
  readonly preemptions: number
}

export function threadTimes(pid: number, threads: readonly number[]): ThreadTimes {
  const sum = { runUs: 0, waitUs: 0, sleeps: 0, preemptions: 0 }
  for (const thread of threads) {
    const folder = `/proc/${pid}/task/${thread}`
    const [run, wait] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ')
    const status = readFileSync(`${folder}/status`, 'utf8')
    sum.runUs += Number(run) / 1000
    sum.waitUs += Number(wait) / 1000
    sum.sleeps += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)![1])
    sum.preemptions += Number(/^nonvoluntary_ctxt_switches:\s+(\d+)/m.exec(status)![1])
  }
  return sum
}
