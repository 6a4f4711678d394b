import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { everySecond } from './clocks.js'
import { createLineOutput, LineOutput } from './lineOutput.js'

/*
 * Standard error and standard output, without any thread waiting for their readers. The descriptors that we inherit may share
 * their flags with our parent, so O_NONBLOCK is never set on them: pipes and terminals are opened again, sockets get a relay.
 * Node's own `process.stdout` and `process.stderr` set it, or wait: a service must not use them before `takeStandardStreams`.
 */

/**
 * While lines wait for a slow reader, it is offered them this often; every other line that is written offers them, too. Whether any wait
 * is looked at once a second.
 */
const DRAIN_EVERY_MS = 250
const FIRST_RELAY_RETRY_MS = 1_000
const LONGEST_RELAY_RETRY_MS = 60_000
/** Longest wait for unwritten lines at the end of the process. */
const LONGEST_FLUSH_MS = 200
/** Longest wait for a relay that gets no processor. */
const LONGEST_RELAY_MS = 5_000
/** No descriptor: every write fails. */
const NOWHERE = -1

type Stream = 1 | 2

const outputs = new Map<Stream, LineOutput>()
let isDraining = false
let nextDrain: NodeJS.Timeout | undefined
/** Descriptors that `takeStandardStreams` has opened. */
const taken = new Map<Stream, number>()

export function standardError(): LineOutput {
  return outputs.get(2) ?? openStream(2)
}

export function standardOutput(): LineOutput {
  return outputs.get(1) ?? openStream(1)
}

/**
 * Replaces descriptors 1 and 2 by non-blocking ones, so that native code that writes there does not wait either, and redirects
 * `process.stdout`, `process.stderr` and `console`. A service calls it before it opens anything else.
 */
export function takeStandardStreams(): void {
  for (const stream of [1, 2] as const) {
    const own = openAnew(stream)
    if (own !== undefined) {
      closeSync(stream)
      // It gets the lowest free number, which is the one just closed.
      const descriptor = openAnew(own) ?? own
      if (descriptor !== own) closeSync(own)
      taken.set(stream, descriptor)
    }
    // Opened here, because only threads that start later find it.
    const output = outputs.get(stream) ?? openStream(stream)
    const descriptor = taken.get(stream)
    if (descriptor !== undefined) output.useDescriptor(descriptor)
    const name = stream === 1 ? 'stdout' : 'stderr'
    Object.defineProperty(process, name, { configurable: true, enumerable: true, value: streamTo(output) })
  }
}

/** A stream for `console`, and for what the `process.stdout` of other threads passes to the main thread's. */
function streamTo(output: LineOutput): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      output.write(String(chunk))
      done()
    },
  })
}

function openStream(stream: Stream): LineOutput {
  const key = `bds standard stream ${stream}`
  // A thread finds the outputs that the main thread had opened before it started the thread.
  const shared: unknown = getEnvironmentData(key)
  const isShared = shared instanceof SharedArrayBuffer
  const memory = isShared ? shared : createLineOutput(taken.get(stream) ?? stream)
  const output = new LineOutput(memory)
  outputs.set(stream, output)
  if (isShared) return output
  setEnvironmentData(key, memory)
  if (!isDraining) everySecond(drainAll)
  isDraining = true
  const own = taken.has(stream) ? undefined : openAnew(stream)
  if (own !== undefined) output.useDescriptor(own)
  if (isMainThread && own === undefined && !taken.has(stream) && mayWait(stream))
    startRelay(stream, output, FIRST_RELAY_RETRY_MS)
  else process.on('exit', () => output.flush(LONGEST_FLUSH_MS))
  return output
}

/** Writes what waits, of all streams, and goes on until nothing does. */
function drainAll(): void {
  clearTimeout(nextDrain)
  let isDone = true
  for (const output of outputs.values()) isDone = output.drain() && isDone
  if (!isDone) nextDrain = setTimeout(drainAll, DRAIN_EVERY_MS).unref()
}

/** Whether a write may wait for the reader. A write to a file does not: files are usually local, and a full disk fails at once. */
function mayWait(descriptor: number): boolean {
  const kind = fstatSync(descriptor)
  return kind.isFIFO() || kind.isSocket() || isatty(descriptor)
}

/** Opens the same pipe or terminal again, without blocking. @returns undefined for a socket or file, and where opening fails. */
function openAnew(descriptor: number): number | undefined {
  const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants
  if (!mayWait(descriptor)) return undefined
  try {
    return openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY)
  } catch {
    return undefined
  }
}

/**
 * A socket (systemd's journal) can't be opened again, so writing to it may wait. A `cat` between us and the socket waits instead.
 * It ignores Ctrl-C and a SIGTERM to the whole process group, so that it passes on our last lines, and ends when we do.
 */
function startRelay(stream: Stream, output: LineOutput, retryMs: number): void {
  const relay = spawnRelay(stream)
  const input = relay.stdin
  const descriptor = descriptorOf(input)
  if (descriptor === undefined) return
  // Hidden from Node, which would close it when the relay ends: other threads could then write to a reused descriptor.
  relay.stdin = null
  if (input instanceof Socket) input.unref()
  relay.unref()
  output.useDescriptor(descriptor)
  const close = (): void => {
    if (output.useDescriptor(NOWHERE)) input?.destroy()
  }
  const end = (): void => {
    output.flush(LONGEST_FLUSH_MS)
    close()
    endRelay(relay)
  }
  process.on('exit', end)
  relay.once('exit', () => {
    process.off('exit', end)
    close()
    const next = Math.min(2 * retryMs, LONGEST_RELAY_RETRY_MS)
    setTimeout(() => startRelay(stream, output, next), retryMs).unref()
  })
}

function spawnRelay(stream: Stream): ChildProcess {
  const options: SpawnOptions = { stdio: ['pipe', stream, 'ignore'], detached: true }
  const relay = spawn('sh', ['-c', "trap '' HUP INT TERM; exec cat"], options).on('error', () => undefined)
  // An image may have no shell.
  return relay.pid === undefined
    ? spawn(process.execPath, ['-e', NODE_RELAY], options).on('error', () => undefined)
    : relay
}

const NODE_RELAY = `for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(name, () => undefined)
process.stdin.pipe(process.stdout)`

/** The descriptor of our end of a child's input, which does not block. Node has no public property for it. */
function descriptorOf(stream: object | null): number | undefined {
  const handle: unknown = stream === null ? undefined : Reflect.get(stream, '_handle')
  if (typeof handle !== 'object' || handle === null || !('fd' in handle)) return undefined
  return typeof handle.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined
}

/**
 * Waits until the relay has passed on our lines. One that hangs is killed: it would keep the socket open for ever. One that waits for a
 * processor, which others have, does not hang.
 */
function endRelay({ pid }: ChildProcess): void {
  if (pid === undefined) return
  const nap = new Int32Array(new SharedArrayBuffer(4))
  const untilMs = performance.now() + LONGEST_RELAY_MS
  for (let slept = 0; slept < LONGEST_FLUSH_MS && performance.now() < untilMs; ) {
    const state = stateOf(pid)
    if (state === 'Z') return
    if (state !== 'R') slept++
    Atomics.wait(nap, 0, 0, 1)
  }
  process.kill(pid, 'SIGKILL')
}

/** @returns R: runs, or waits for a processor; Z: has ended. An ended child stays a zombie until the event loop runs, which no longer happens. */
function stateOf(pid: number): string | undefined {
  return /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
}
