import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ProcessRecord } from './processRecord.js'

export type FolderRole = 'write' | 'read'

/** A process that has a folder open, as read from the name of its socket. */
export interface Present {
  readonly role: FolderRole
  readonly pid: number
  readonly isOfOurNamespace: boolean
}

/**
 * A socket in the folder that accepts connections as long as its process lives. By it, others notice a process that has no
 * command `flock`, or whose lock file somebody has removed. Its name carries role and pid, because a process that is busy
 * starting can't answer questions.
 */
export interface Presence {
  readonly name: string
  withdraw(): void
}

const NAME = /^bds-(write|read)-([0-9a-f]{12})-(\d+)-[0-9a-f]{8}\.sock$/

/** Socket paths are limited to 108 bytes, on some systems 104; longer ones are cut off or refused. This leaves room for our names. */
const LONGEST_FOLDER_PATH = 50

/** How long to wait for connections. A process that has not accepted one by then counts as living. */
const LONGEST_LOOK_MS = 2_000

/** Makes this process's socket. @returns undefined where none can be made: the file system has no sockets or is read-only. */
export function announcePresence(dataDir: string, me: ProcessRecord, role: FolderRole): Presence | undefined {
  const name = `bds-${role}-${digestOf(me)}-${me.pid}-${randomUUID().slice(0, 8)}.sock`
  const own = join(dataDir, name)
  const draft = `${name.slice(-'00000000.sock'.length)}.new`
  // Others only need to know that a connection succeeds.
  const server = createServer((socket) => socket.destroy())
  server.on('error', () => undefined)
  server.unref()
  const isMade = withShortPath(dataDir, (folder) => {
    server.listen(join(folder, draft))
    return server.listening
  })
  if (isMade !== true) return undefined
  const withdraw = (): void => {
    rmSync(own, { force: true })
    server.close()
  }
  try {
    // Other users' processes must be able to connect. The final name is given only now that the socket listens.
    chmodSync(join(dataDir, draft), 0o666)
    renameSync(join(dataDir, draft), own)
  } catch {
    withdraw()
    return undefined
  }
  return { name, withdraw }
}

/** The living processes that have the folder open, except `own`. Sockets of dead processes are removed where that is allowed. */
export function whoIsPresent(dataDir: string, me: ProcessRecord, own?: Presence): Present[] {
  const found = readdirSync(dataDir).filter((name) => name !== own?.name && NAME.test(name))
  const living = livingOf(dataDir, found)
  for (const dead of found.filter((name) => !living.includes(name))) removeIfAllowed(join(dataDir, dead))
  return living.map((name) => {
    const [, role, digest, pid] = NAME.exec(name)!
    return { role: role as FolderRole, pid: Number(pid), isOfOurNamespace: digest === digestOf(me) }
  })
}

function removeIfAllowed(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // A read-only mount: a dead socket does no harm.
  }
}

/** Equal for two processes exactly when `sharesNamespace` holds for them. */
function digestOf({ bootId, pidNamespace, host }: ProcessRecord): string {
  return createHash('sha256')
    .update(`${bootId} ${pidNamespace || host}`)
    .digest('hex')
    .slice(0, 12)
}

/** The sockets whose processes live. Blocks the thread meanwhile: nothing else may run in it before the folder is locked. */
function livingOf(dataDir: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  return withShortPath(dataDir, (folder) => {
    // One cell per socket: 0 = not known yet, 1 = dead, 2 = living. The last cell counts the known ones.
    const states = new Int32Array(new SharedArrayBuffer(4 * (names.length + 1)))
    const paths = names.map((name) => join(folder, name))
    new Worker(new URL('./presence.worker.js', import.meta.url), { workerData: { paths, states } }).unref()
    const untilMs = performance.now() + LONGEST_LOOK_MS
    for (let known = 0; known < names.length; known = Atomics.load(states, names.length)) {
      const restMs = untilMs - performance.now()
      if (restMs <= 0 || Atomics.wait(states, names.length, known, restMs) === 'timed-out') break
    }
    return names.filter((_, i) => Atomics.load(states, i) !== 1)
  })!
}

/** Calls `body` with a path of the folder that is short enough for sockets. @returns undefined where there is no such path. */
function withShortPath<T>(dataDir: string, body: (folder: string) => T): T | undefined {
  const descriptor = openSync(dataDir, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const short = `/proc/self/fd/${descriptor}`
    if (existsSync(short)) return body(short)
    return dataDir.length > LONGEST_FOLDER_PATH ? undefined : body(dataDir)
  } finally {
    closeSync(descriptor)
  }
}
