import { ClusterUnavailableError } from '../cluster/clusterFaults.js'
import { type KeyBoard, NEVER_WRITTEN } from '../cluster/keyBoard.js'
import type { ObjectStore } from '../cluster/objectStore.js'
import { Patience } from '../cluster/patience.js'
import { OperatorError } from '../errors/operatorError.js'
import type { ChunkSink, ChunkSource } from '../snapshot/chunkStore.js'
import type { Clock } from '../telemetry/clocks.js'

/** A set of snapshots that was read back and verified after it was made. */
export interface VerifiedSet {
  /** Begins the names of its pieces. */
  readonly id: string
  /** Unix milliseconds, by the clock of its maker. */
  readonly madeAtMs: number
  /** Name of the instance that made it, of its own stores. */
  readonly maker: string
  /** Place in each network's log: what stands behind it is all that the set lacks. */
  readonly sequences: Readonly<Record<string, number>>
  /** What the pieces of each network take in the object store. */
  readonly bytes: Readonly<Record<string, number>>
}

/** Key of the list, on the board of leases. */
const KEY = 'snapshot-sets'
/** No log loses what stands behind the older one. */
const KEPT_SETS = 2
/** Of one question, after which the servers count as silent. With the pauses between them some seconds. */
const MOST_TRIES = 8

/** The snapshots of a cluster: pieces in its object store, and on a key which sets are whole and verified. */
export class SnapshotSets {
  readonly #board: KeyBoard
  readonly #objects: ObjectStore
  readonly #clock: Clock

  constructor(board: KeyBoard, objects: ObjectStore, clock: Clock) {
    this.#board = board
    this.#objects = objects
    this.#clock = clock
  }

  /** Newest first, two at most. @throws OperatorError when the servers are silent; the signal's reason. */
  async list(signal: AbortSignal): Promise<readonly VerifiedSet[]> {
    const entry = await this.#asked(signal, () => this.#board.find(KEY, signal))
    return entry === undefined ? [] : decode(entry.value)
  }

  /** The list as it is, then each one that takes its place, until the signal is aborted. Silent servers are waited for. @throws the signal's reason. */
  async *watch(signal: AbortSignal): AsyncGenerator<readonly VerifiedSet[], void> {
    const patience = new Patience(this.#clock, signal)
    while (!signal.aborted)
      try {
        for await (const { key, value } of this.#board.watch(signal)) {
          patience.reset()
          if (key === KEY) yield decode(value)
        }
      } catch (error) {
        if (!(error instanceof ClusterUnavailableError)) throw error
        await patience.pause()
      }
  }

  /**
   * Adds a verified set as the newest one, and removes the pieces of all that are not listed any more, those of makers that have ended
   * included. Whoever calls it holds the lease of snapshots. @throws as `list`.
   */
  async add(set: VerifiedSet, signal: AbortSignal): Promise<void> {
    const kept = await this.#asked(signal, async () => {
      const entry = await this.#board.find(KEY, signal)
      const sets = [set, ...decode(entry?.value ?? '[]').filter(({ id }) => id !== set.id)].slice(
        0,
        KEPT_SETS,
      )
      const written = await this.#board.write(
        KEY,
        JSON.stringify(sets),
        entry?.revision ?? NEVER_WRITTEN,
        signal,
      )
      if (written.type === 'changed') throw new ClusterUnavailableError('another set was added')
      return sets
    })
    const names = await this.#asked(signal, () => this.#objects.names(signal))
    for (const name of names)
      if (!kept.some(({ id }) => name.startsWith(`${id}.`)))
        await this.#asked(signal, () => this.#objects.remove(name, signal))
  }

  /** Where a new set is put. */
  sink(id: string, signal: AbortSignal): ChunkSink {
    const put = (name: string, bytes: Uint8Array): Promise<void> =>
      this.#asked(signal, () => this.#objects.put(`${id}.${name}`, bytes, signal))
    const names = new Set<string>()
    return {
      put: async (name, bytes) => {
        if (names.has(name)) return
        names.add(name)
        await put(name, bytes)
      },
      finish: put,
      discard: async () => {
        // Whoever makes the next set removes what can't be removed now.
        for (const name of names) await this.#objects.remove(`${id}.${name}`, signal).catch(() => undefined)
      },
    }
  }

  source(id: string, signal: AbortSignal): ChunkSource {
    return {
      get: (name) => this.#asked(signal, () => this.#objects.find(`${id}.${name}`, signal)),
      close: async () => undefined,
    }
  }

  async #asked<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const patience = new Patience(this.#clock, signal)
    for (let tries = 1; ; tries++)
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof ClusterUnavailableError)) throw error
        if (tries === MOST_TRIES) throw new OperatorError(error.message, { cause: error })
        await patience.pause()
      }
  }
}

function decode(value: string): readonly VerifiedSet[] {
  return JSON.parse(value) as readonly VerifiedSet[]
}
