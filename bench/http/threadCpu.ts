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
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    // The name may hold blanks; user and system time are the 12th and 13th fields behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const us = (Number(fields[11]) + Number(fields[12])) * TICK_US
    if (Number(thread) === pid) frontUs += us
    else restUs += us
  }
  return { frontUs, restUs }
}
