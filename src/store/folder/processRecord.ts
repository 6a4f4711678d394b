import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** What a process writes about itself into the lock files of a data folder. Messages and later processes use it. */
export interface ProcessRecord {
  readonly pid: number
  readonly host: string
  /** The machine's boot. Together with the start time it tells processes of one pid apart: containers reuse pids at each restart. */
  readonly bootId: string
  /** Start of the process, in clock ticks since the boot. */
  readonly startedAt: string
  /** The kernel's name of the pid namespace, `pid:[4026531836]`: the pid is valid only inside it. Older builds do not write it. */
  readonly pidNamespace?: string
}

/** Describes this process. Boot id, start time and namespace are empty where the system has no /proc. */
export function describeProcess(): ProcessRecord & { readonly pidNamespace: string } {
  return {
    pid: process.pid,
    host: hostname(),
    bootId: readOptional('/proc/sys/kernel/random/boot_id').trim(),
    startedAt: startTimeOf(statFields('self')),
    pidNamespace: ownNamespace(),
  }
}

/** @returns undefined when the text is not a record: empty, damaged, or half written at this moment. */
export function parseRecord(text: string): ProcessRecord | undefined {
  try {
    const record = JSON.parse(text) as Partial<ProcessRecord> | null
    return typeof record?.pid === 'number' && typeof record.host === 'string'
      ? { bootId: '', startedAt: '', ...record, pid: record.pid, host: record.host }
      : undefined
  } catch {
    return undefined
  }
}

/** Whether two processes are in one pid namespace, so that a pid names the same process to both. */
export function sharesNamespace(one: ProcessRecord, other: ProcessRecord): boolean {
  // Where the kernel has no names for namespaces, host names are compared instead.
  const isNamed = one.pidNamespace !== ''
  return (
    one.bootId === other.bootId &&
    one.pidNamespace === other.pidNamespace &&
    (isNamed || one.host === other.host)
  )
}

/**
 * Whether the process that an older build's record names still runs. A process on another host counts as dead, since nothing can
 * be known of it: a container that crashed and was replaced looks the same.
 */
export function isRunning(owner: ProcessRecord, me: ProcessRecord): boolean {
  if (owner.host !== me.host || owner.bootId !== me.bootId) return false
  if (owner.pid === me.pid) return owner.startedAt === me.startedAt
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const stat = statFields(owner.pid)
  // A zombie (killed, not yet reaped by its parent) still takes signals, but runs no code and has no file open.
  if (stat[0] === 'Z' || stat[0] === 'X') return false
  return owner.startedAt === startTimeOf(stat)
}

function ownNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Fields of /proc/…/stat from the state on. The command name before it is in brackets, and may itself hold spaces and brackets. */
function statFields(pid: number | 'self'): string[] {
  const stat = readOptional(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function startTimeOf(stat: readonly string[]): string {
  return stat[19] ?? ''
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
