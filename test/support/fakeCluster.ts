import { ClusterUnavailableError } from '../../src/cluster/clusterFaults.js'
import type { ClusterServers } from '../../src/cluster/clusterServers.js'
import {
  asRevision,
  type KeyBoard,
  type KeyEntry,
  type Revision,
  type WatchedEntry,
  type WriteOutcome,
} from '../../src/cluster/keyBoard.js'
import {
  asLogSequence,
  type LogBounds,
  type LogEntry,
  type LogMessage,
  type LogSequence,
  type LogStream,
  type PublishOutcome,
} from '../../src/cluster/logStream.js'
import type { ObjectStore } from '../../src/cluster/objectStore.js'
import type { NetworkId } from '../../src/protocol/units.js'
import type { Clock } from '../../src/telemetry/clocks.js'

export type FakeOperation =
  | 'publish'
  | 'findEntry'
  | 'bounds'
  | 'follow'
  | 'deliver'
  | 'find'
  | 'write'
  | 'object'

/**
 * What happens to one call: its request or its answer is lost, so the caller waits in vain, or the request is carried out long after
 * the caller has given up. Of a message that is delivered `request_lost` leaves it out.
 */
export type FakeFault = 'request_lost' | 'answer_lost' | { readonly lateMs: number }

const LATENCY_MS = 1
const PATIENCE_MS = 2_000

interface FakeLog {
  /** Sequence of the first one. */
  first: number
  readonly entries: LogEntry[]
  bytes: number
}

/** Three servers that never fail, and the ways to them, which do. All members see one log per network and two boards. */
export class FakeCluster {
  maxLogBytes = Number.POSITIVE_INFINITY
  readonly clock: Clock
  readonly #logs = new Map<NetworkId, FakeLog>()
  readonly #boards = new Map<string, Map<string, KeyEntry>>()
  readonly objects = new Map<string, Uint8Array>()
  readonly #revisions = new Map<string, number>()
  #waiting: (() => void)[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  log(networkId: NetworkId): FakeLog {
    const log = this.#logs.get(networkId) ?? { first: 1, entries: [], bytes: 0 }
    this.#logs.set(networkId, log)
    return log
  }

  board(name: string): Map<string, KeyEntry> {
    const board = this.#boards.get(name) ?? new Map<string, KeyEntry>()
    this.#boards.set(name, board)
    return board
  }

  /** Removes every message up to a sequence. */
  purge(networkId: NetworkId, upTo: number): void {
    const log = this.log(networkId)
    const removed = log.entries.splice(0, upTo - log.first + 1)
    log.bytes -= removed.reduce((sum, { payload }) => sum + payload.length, 0)
    log.first = upTo + 1
  }

  publish(networkId: NetworkId, message: LogMessage, after: LogSequence): PublishOutcome {
    const log = this.log(networkId)
    const sequence = log.first + log.entries.length
    if (after !== sequence - 1) return 'not_next'
    if (log.bytes + message.payload.length > this.maxLogBytes) return 'full'
    log.bytes += message.payload.length
    log.entries.push({ id: message.id, payload: message.payload.slice(), sequence: asLogSequence(sequence) })
    this.wake()
    return 'stored'
  }

  write(boardName: string, key: string, value: string, expected: Revision): WriteOutcome {
    const board = this.board(boardName)
    if ((board.get(key)?.revision ?? 0) !== expected) return { type: 'changed' }
    const revision = asRevision((this.#revisions.get(boardName) ?? 0) + 1)
    this.#revisions.set(boardName, revision)
    board.set(key, { key, value, revision })
    this.wake()
    return { type: 'written', revision }
  }

  /** Something has changed: whoever waits looks again. */
  wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const look of waiting) look()
  }

  /** @returns when something has changed, or the signal is aborted. */
  change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        resolve()
      }
      this.#waiting.push(end)
      signal.addEventListener('abort', end)
    })
  }
}

/** One instance: its way to the servers, and its process, which may be paused. */
export class FakeMember implements ClusterServers {
  /** Asked at each call and each delivery. */
  faultOf: (operation: FakeOperation) => FakeFault | undefined = () => undefined
  /** Runs on while the process is paused, but nobody sees a sleep end then. */
  readonly clock: Clock
  readonly #cluster: FakeCluster
  readonly #closing = new AbortController()
  #isCutOff = false
  #pauses = 0
  #pause = Promise.resolve()
  #endPause = (): void => undefined

  constructor(cluster: FakeCluster) {
    this.#cluster = cluster
    const { clock } = cluster
    this.clock = {
      now: () => clock.now(),
      unixMs: () => clock.unixMs(),
      random: () => clock.random(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal).finally(() => this.#pause)
      },
    }
  }

  cutOff(): void {
    this.#isCutOff = true
    this.#cluster.wake()
  }

  rejoin(): void {
    this.#isCutOff = false
  }

  /** SIGSTOP: nothing of this member goes on until it is resumed as often as it was paused. */
  pause(): void {
    if (this.#pauses++ > 0) return
    this.#pause = new Promise((resolve) => {
      this.#endPause = resolve
    })
  }

  resume(): void {
    if (--this.#pauses === 0) this.#endPause()
  }

  async openLogStream(networkId: NetworkId, _signal: AbortSignal): Promise<LogStream> {
    const cluster = this.#cluster
    const log = cluster.log(networkId)
    return {
      publish: (message, after, signal) =>
        this.#call('publish', signal, () => cluster.publish(networkId, message, after)),
      findEntry: (sequence, signal) =>
        this.#call('findEntry', signal, () => log.entries[sequence - log.first]),
      bounds: (signal): Promise<LogBounds> =>
        this.#call('bounds', signal, () => ({
          first: asLogSequence(log.first),
          last: asLogSequence(log.first + log.entries.length - 1),
        })),
      usedBytes: (signal) => this.#call('bounds', signal, () => log.bytes),
      forget: (upTo, signal) => this.#call('publish', signal, () => cluster.purge(networkId, upTo)),
      follow: (after, signal) => this.#follow(log, after, signal),
    }
  }

  async openKeyBoard(name: 'leases' | 'heads', _signal: AbortSignal): Promise<KeyBoard> {
    const cluster = this.#cluster
    return {
      find: (key, signal) => this.#call('find', signal, () => cluster.board(name).get(key)),
      write: (key, value, expected, signal) =>
        this.#call('write', signal, () => cluster.write(name, key, value, expected)),
      watch: (signal) => this.#watch(name, signal),
    }
  }

  async openObjectStore(_signal: AbortSignal): Promise<ObjectStore> {
    const { objects } = this.#cluster
    return {
      put: (name, bytes, signal) => this.#call('object', signal, () => void objects.set(name, bytes.slice())),
      find: (name, signal) => this.#call('object', signal, () => objects.get(name)?.slice()),
      remove: (name, signal) => this.#call('object', signal, () => void objects.delete(name)),
      names: (signal) => this.#call('object', signal, () => [...objects.keys()]),
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#cluster.wake()
  }

  async #call<T>(operation: FakeOperation, signal: AbortSignal, act: () => T): Promise<T> {
    await this.#pause
    signal.throwIfAborted()
    const fault = this.faultOf(operation)
    await this.clock.sleep(LATENCY_MS, signal)
    const isLost = this.#isUnreachable() || fault === 'request_lost'
    const isLate = !isLost && typeof fault === 'object'
    if (isLate) void this.#cluster.clock.sleep(fault.lateMs, new AbortController().signal).then(act)
    const answer = isLost || isLate ? undefined : { is: act() }
    if (answer === undefined || fault === 'answer_lost') await this.#waitInVain(signal)
    await this.clock.sleep(LATENCY_MS, signal)
    if (this.#isUnreachable()) await this.#waitInVain(signal)
    return answer!.is
  }

  async *#follow(log: FakeLog, after: LogSequence, signal: AbortSignal): AsyncGenerator<LogEntry, void> {
    await this.#call('follow', signal, () => undefined)
    for (let next = Math.max(after + 1, log.first); ; ) {
      const entry = log.entries[next - log.first]
      if (entry === undefined) await this.#cluster.change(signal)
      await this.#pause
      if (signal.aborted) return
      if (this.#isUnreachable()) await this.#waitInVain(signal)
      if (entry === undefined) continue
      next++
      if (this.faultOf('deliver') !== 'request_lost') yield { ...entry, payload: entry.payload.slice() }
    }
  }

  async *#watch(name: string, signal: AbortSignal): AsyncGenerator<WatchedEntry, void> {
    await this.#call('follow', signal, () => undefined)
    const seen = new Map<string, Revision>()
    for (let isNews = false; ; isNews = true) {
      for (const entry of this.#cluster.board(name).values()) {
        if (seen.get(entry.key) === entry.revision) continue
        seen.set(entry.key, entry.revision)
        yield { ...entry, isNews }
      }
      await this.#cluster.change(signal)
      await this.#pause
      if (signal.aborted) return
      if (this.#isUnreachable()) await this.#waitInVain(signal)
    }
  }

  #isUnreachable(): boolean {
    return this.#isCutOff || this.#closing.signal.aborted
  }

  async #waitInVain(signal: AbortSignal): Promise<never> {
    await this.clock.sleep(PATIENCE_MS, signal)
    throw new ClusterUnavailableError('nobody answers')
  }
}
