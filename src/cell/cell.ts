import { Worker } from 'node:worker_threads'
import type { RateLimitConfig } from '../config/config.types.js'
import { ConfigError } from '../config/configError.js'
import { FatalError } from '../errors/chainErrors.js'
import { OperatorError } from '../errors/operatorError.js'
import { bundledThread } from '../telemetry/buildInfo.js'
import { FrontCountsReader } from '../telemetry/frontCounts.js'
import type { CellData, CellFault, CellMessage, CellOrder } from './cellMessages.js'

export interface CellOptions {
  readonly data: CellData
  /** Called when the thread ended, or met an unexpected error, without being asked to end. */
  readonly onDied: (message: string) => void
  /** The thread's entry file; tests pass another one. */
  readonly entry?: URL
}

/** Main's side of a cell: a front thread with query threads of its own. */
export interface Cell {
  readonly thread: Worker
  /** Resolves when the query threads have opened the stores. Rejects with what the start throws. */
  readonly ready: Promise<void>
  /** Opens the port. @returns the port. @throws OperatorError when it can't be had. */
  open(port: number): Promise<number>
  /** Changes the rate limit. @param rateLimit this cell's share. */
  limit(rateLimit: RateLimitConfig): void
  /** Closes the port, and the connections when no answer is due on them. */
  drain(): Promise<void>
  /** Ends the query threads and the thread. A second call returns the first one's promise. */
  stop(): Promise<void>
  /**
   * Ends the thread at once. Not by `terminate` alone: a thread that ends with an open app of uWebSockets.js leaves handles in its
   * event loop, for which Node aborts the process. So the thread is asked to close the app; one that does not hear is waited for.
   */
  end(): Promise<void>
  /** Milliseconds without a sign of life, on the clock of `nowMs`, since the first call of this; 0 once the thread has ended. */
  silentForMs(nowMs: number): number
  /** Whether the thread has told that its port is open. Before that nobody is served by it. */
  isServing(): boolean
  /** From now on nothing waits for this thread but `end`. */
  giveUp(): void
}

type Reply = Extract<CellMessage['type'], 'ready' | 'listening' | 'drained' | 'cut'>

/** Starts a cell's thread. The stores must have been opened before. */
export function startCell({ data, onDied, entry }: CellOptions): Cell {
  const thread = new Worker(entry ?? bundledThread('cell.worker'), {
    name: `front ${data.cell + 1}`,
    workerData: data,
  })
  const replies = new Replies()
  let stopping: Promise<void> | undefined
  let hasOpened = false
  let isServing = false
  let hasEnded = false
  let failure: Error | undefined
  const ended = new Promise<void>((resolve) => {
    thread.once('exit', (code) => {
      hasEnded = true
      const message = failure === undefined ? `it ended with code ${code}` : failure.message || failure.name
      replies.endWith(new OperatorError(`a front thread has gone: ${message}`))
      if (stopping === undefined || failure !== undefined) onDied(message)
      resolve()
    })
  })
  const givenUp = signal()
  thread.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error))
  })
  thread.on('message', (message: CellMessage) => {
    if (message.type === 'died') {
      replies.failStart(new OperatorError(`a front thread failed: ${message.message}`))
      onDied(message.message)
    } else if (message.type === 'failed') replies.failStart(faultOf(message.fault))
    else replies.take(message)
  })
  const order = (message: CellOrder): void => thread.postMessage(message)
  const unlessGone = async (work: Promise<unknown>): Promise<void> => {
    await Promise.race([work.catch(() => undefined), ended, givenUp.promise])
  }
  const counts = new FrontCountsReader(data.counts)
  const life: { beats: number; sinceMs: number | undefined } = { beats: 0, sinceMs: undefined }
  const ready = replies.next('ready').then(() => undefined)
  ready.catch(() => undefined)
  return {
    thread,
    ready,
    open: async (port) => {
      hasOpened = true
      const listening = replies.next('listening')
      order({ type: 'open', port })
      const { port: opened } = await listening
      isServing = true
      return opened
    },
    limit: (rateLimit) => order({ type: 'limit', rateLimit }),
    drain: () => {
      if (!hasOpened) return Promise.resolve()
      const drained = replies.next('drained')
      order({ type: 'drain' })
      return unlessGone(drained)
    },
    stop: () => {
      stopping ??= (() => {
        order({ type: 'stop' })
        return unlessGone(ended)
      })()
      return stopping
    },
    end: async () => {
      stopping ??= ended
      if (hasOpened) {
        const cut = replies.next('cut')
        order({ type: 'cut' })
        await Promise.race([cut.catch(() => undefined), ended])
      }
      await thread.terminate()
    },
    silentForMs: (nowMs) => {
      const beats = counts.beats()
      if (life.sinceMs === undefined || beats !== life.beats) {
        life.beats = beats
        life.sinceMs = nowMs
      }
      return hasEnded ? 0 : nowMs - life.sinceMs
    },
    isServing: () => isServing,
    giveUp: () => givenUp.resolve(),
  }
}

/** The replies that main waits for, by type. */
class Replies {
  /** Why the thread gives no reply of these types any more. */
  private readonly failures = new Map<Reply, Error>()
  private readonly waiting = new Map<
    Reply,
    { resolve(message: CellMessage): void; reject(error: Error): void }
  >()

  next<T extends Reply>(type: T): Promise<Extract<CellMessage, { type: T }>> {
    const reply = new Promise<CellMessage>((resolve, reject) => {
      const failure = this.failures.get(type)
      if (failure === undefined) this.waiting.set(type, { resolve, reject })
      else reject(failure)
    })
    // Nobody may be waiting any more when the thread fails.
    reply.catch(() => undefined)
    return reply as Promise<Extract<CellMessage, { type: T }>>
  }

  take(message: CellMessage & { readonly type: Reply }): void {
    this.waiting.get(message.type)?.resolve(message)
    this.waiting.delete(message.type)
  }

  /** The thread does not start any more, but still does what it is told at the end. */
  failStart(error: Error): void {
    this.fail(error, ['ready', 'listening'])
  }

  /** The thread is gone. */
  endWith(error: Error): void {
    this.fail(error, ['ready', 'listening', 'drained', 'cut'])
  }

  private fail(error: Error, types: readonly Reply[]): void {
    for (const type of types) {
      if (!this.failures.has(type)) this.failures.set(type, error)
      this.waiting.get(type)?.reject(error)
      this.waiting.delete(type)
    }
  }
}

function faultOf(fault: CellFault): Error {
  switch (fault.kind) {
    case 'config':
      return new ConfigError(fault.mistakes)
    case 'operator':
      return new OperatorError(fault.error.message, { cause: fault.error })
    case 'fatal':
      return new FatalError(fault.error.message, { cause: fault.error })
    case 'other':
      return fault.error
  }
}

function signal(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve: () => resolve() }
}
