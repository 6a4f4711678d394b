import type { HaltReason } from '../board/haltReason.js'
import { type HeadPlace, headPlaces, type StatusRow } from '../board/statusBoard.js'
import { RetryableError } from '../errors/chainErrors.js'
import type { Clock } from '../telemetry/clocks.js'
import type { Proposer } from './proposer.js'
import type { ShardCommand } from './shardCommand.types.js'
import type { NotedState } from './shardWriter.types.js'

const RETRY_MS = 1_000

export interface BoardNotesOptions {
  /** Of the network, on the board of this process. */
  readonly row: StatusRow
  /** What the shard says. */
  readonly noted: NotedState
  /** Halts that are not told: while one of them holds, what was told before it stays. */
  readonly untold: readonly HaltReason[]
  readonly proposer: Pick<Proposer, 'propose'>
  readonly clock: Clock
  /** Nothing is told any more when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * What whoever reads a network's chain knows, and answers depend on, beside what is stored: why the network stands still, and where the
 * chain's head is. Readers of this process see it on the board at once. The shard is told of each change behind that, and with it the feed and,
 * in a cluster, all other instances. What is told already is not told again, so a restart tells nothing that has not changed.
 */
export class BoardNotes {
  /** The row, to be written to in place of that of the board. */
  readonly row: StatusRow
  readonly #options: BoardNotesOptions
  /** What the board shows by this. */
  readonly #shown: { halt: HaltReason; headPlace: HeadPlace }
  readonly #noted: { halt: HaltReason; headPlace: HeadPlace }
  #isTelling = false

  constructor(options: BoardNotesOptions) {
    const { row, noted } = options
    this.#options = options
    this.#shown = { ...noted }
    this.#noted = { ...noted }
    this.row = {
      ...row,
      setHeadPlace: (place) => {
        row.setHeadPlace(place)
        this.#shown.headPlace = place
        this.look()
      },
      replaceHaltReason: (from, reason) => {
        if (!row.replaceHaltReason(from, reason)) return false
        this.#shown.halt = reason
        this.look()
        return true
      },
    }
  }

  /**
   * Tells what has changed. To be called when another thread may have halted the network, and when the shard could not be told: costs nothing
   * where nothing has changed. Never throws.
   */
  look(): void {
    if (!this.#isTelling) void this.#tellAll()
  }

  /**
   * A halt was the earlier holder's to end: whoever leads now halts again if the reason still holds. Until this one has seen the head, the
   * network is as one whose service was started anew. @throws what `propose` throws.
   */
  async takeOver(): Promise<void> {
    const { row, proposer } = this.#options
    if (row.haltReason() === 'none') return
    await proposer.propose({ type: 'noteHeadPlace', place: headPlaces.unseen })
    await proposer.propose({ type: 'noteHalt', reason: 'none' })
    for (const state of [this.#shown, this.#noted])
      Object.assign(state, { halt: 'none', headPlace: headPlaces.unseen } satisfies NotedState)
  }

  /** The term is over: the board shows what all instances show, and nothing of endpoints that are no longer asked. */
  end(): void {
    const { row } = this.#options
    row.set('rpcDown', 0)
    row.set('contractsCompared', undefined)
    row.replaceHaltReason(this.#shown.halt, this.#noted.halt)
    const { headPlace } = this.#noted
    if (row.headPlace() === this.#shown.headPlace && headPlace !== this.#shown.headPlace)
      row.setHeadPlace(headPlace)
  }

  /** Until all is told, or the shard can't be changed. */
  async #tellAll(): Promise<void> {
    const { proposer, clock, signal } = this.#options
    this.#isTelling = true
    try {
      for (let note = this.#next(); note !== undefined && !signal.aborted; note = this.#next()) {
        try {
          await proposer.propose(note)
          if (note.type === 'noteHalt') this.#noted.halt = note.reason
          else this.#noted.headPlace = note.place
        } catch (error) {
          if (!(error instanceof RetryableError)) throw error
          // The log of a cluster is full.
          await clock.sleep(RETRY_MS, signal)
        }
      }
    } catch {
      // Aborted, or what ends a term and is met there; or a full disk, which the next block meets, and then the next look tells.
    } finally {
      this.#isTelling = false
    }
  }

  /** What is to be told: only the newest of each counts. */
  #next(): Extract<ShardCommand, { readonly type: 'noteHalt' | 'noteHeadPlace' }> | undefined {
    const { row, untold } = this.#options
    const reason = row.haltReason()
    if (reason !== this.#noted.halt && !untold.includes(reason)) return { type: 'noteHalt', reason }
    const { headPlace: place } = this.#shown
    return place === this.#noted.headPlace ? undefined : { type: 'noteHeadPlace', place }
  }
}
