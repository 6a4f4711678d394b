import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** What a process writes about itself into the lock files of a data folder, for messages and for its successors. */
export interface ProcessRecord {
  readonly pid: number
  readonly host: string
  /** Boot of the machine and start of the process: a pid alone is reused, in containers at every restart. */
  readonly bootId: string
  readonly startedAt: string
  /** As the kernel names it, `pid:[4026531836]`: a pid means something only inside it. Absent: a build before it was told. */
  readonly pidNamespace?: string
}

/** Boot id, start time and namespace are empty where the system has no /proc. */
export function describeProcess(): ProcessRecord & { readonly pidNamespace: string } {
  return {
    pid: process.pid,
    host: hostname(),
    bootId: readOptional('/proc/sys/kernel/random/boot_id').trim(),
    startedAt: startTimeOf(statFields('self')),
    pidNamespace: ownNamespace(),
  }
}

/** @returns undefined for what is no record: empty, damaged, or half written at this moment. */
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

/** Whether the pids of two processes mean the same processes to both. */
export function sharesNamespace(one: ProcessRecord, other: ProcessRecord): boolean {
  // Where the kernel names no namespace, the host's name has to do.
  const isNamed = one.pidNamespace !== ''
  return (
    one.bootId === other.bootId &&
    one.pidNamespace === other.pidNamespace &&
    (isNamed || one.host === other.host)
  )
}

/**
 * Whether the process of an older build's record still runs. Of one on another host nothing can be known: it has perhaps been
 * killed and replaced, as at every crash of a container.
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
  // Killed and not yet reaped by its parent: it still takes signals, but runs no code and has no file open.
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

/** From the state on: behind the command name, which is in brackets and may hold spaces and brackets. */
function statFields(pid: number | 'self'): string[] {
  const stat = readOptional(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** In clock ticks since the boot. */
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
