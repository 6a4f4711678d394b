import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { FatalError } from '../errors/chainErrors.js'

/** Keeps a second process away from a data directory: LMDB would let it in, and its indexers would fight ours. */
export interface ProcessLock {
  release(): void
}

interface LockOwner {
  readonly pid: number
  readonly host: string
  /** Boot of the machine and start of the process: a pid alone is reused, in containers at every restart. */
  readonly bootId: string
  readonly startedAt: string
}

/**
 * Takes the lock, also from an owner that is gone (killed, machine rebooted, container replaced).
 * @throws FatalError naming the owner's pid when it is alive.
 */
export function acquireProcessLock(dataDir: string): ProcessLock {
  const path = join(dataDir, 'bds.lock')
  const me = describeProcess(process.pid)
  for (let attempt = 0; attempt < 2; attempt++) {
    if (createWhole(path, `${JSON.stringify(me)}\n`)) return { release: () => rmSync(path, { force: true }) }
    const owner = readOwner(path)
    if (owner !== undefined && isAlive(owner, me))
      throw new FatalError(
        `data_dir ${dataDir} is in use by process ${owner.pid}: stop it first, or choose another data_dir`,
      )
    rmSync(path, { force: true })
  }
  throw new FatalError(`data_dir ${dataDir} is being taken by another process that starts now`)
}

/** Makes the file with its content in one step, so that nobody reads half of it. @returns false when it is there already. */
function createWhole(path: string, text: string): boolean {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text)
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function readOwner(path: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockOwner
  } catch {
    // Gone meanwhile, or damaged: nobody holds it.
    return undefined
  }
}

function isAlive(owner: LockOwner, me: LockOwner): boolean {
  // Another container or machine: its pids mean nothing here. LMDB keeps the data whole, and the writer refuses a
  // batch that does not follow its checkpoint.
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

/** Boot id and start time are empty where the system has no /proc: then the pid decides alone. */
function describeProcess(pid: number): LockOwner {
  const bootId = readOptional('/proc/sys/kernel/random/boot_id').trim()
  return { pid, host: hostname(), bootId, startedAt: startTimeOf(statFields(pid)) }
}

/** From the state on: behind the command name, which is in brackets and may hold spaces and brackets. */
function statFields(pid: number): string[] {
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
