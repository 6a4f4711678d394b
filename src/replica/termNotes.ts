import type { HaltReason } from '../board/haltReason.js'
import { type HeadPlace, headPlaces, type StatusRow } from '../board/statusBoard.js'
import { RetryableError } from '../errors/chainErrors.js'
import type { Proposer } from '../shard/proposer.js'
import type { ShardCommand } from '../shard/shardCommand.types.js'
import type { Clock } from '../telemetry/clocks.js'

/** Halts for which the machine of one instance is to blame: others may be well. */
const OF_ONE_MACHINE: readonly HaltReason[] = [
  'disk_full',
  'data_folder_lost',
  'corrupt_store',
  'newer_command',
  'log_full',
  'diverged',
  'behind_log',
]
const RETRY_MS = 1_000

type Note = Extract<ShardCommand, { readonly type: 'noteHalt' | 'noteHeadPlace' }>

export interface TermNotesOptions {
  /** This instance's own. */
  readonly row: StatusRow
  readonly proposer: Proposer
  readonly clock: Clock
  /** Of the term. */
  readonly signal: AbortSignal
}

/**
 * What the instance that leads a network knows and answers depend on, beside what is stored: why the network stands still, and where the
 * chain's head is. Its own readers see it at once, all others when it comes in the log.
 */
export class TermNotes {
  /** The row as the one that leads writes it. */
  readonly row: StatusRow
  readonly #options: TermNotesOptions
  /** What the board shows by this term. */
  readonly #shown: { halt: HaltReason; headPlace: HeadPlace }
  /** What all instances have of it. */
  readonly #told: { halt: HaltReason; headPlace: HeadPlace }
  readonly #waiting = new Map<Note['type'], Note>()
  #isTelling = false

  constructor(options: TermNotesOptions) {
    const { row } = options
    this.#options = options
    const headPlace = row.headPlace()
    this.#shown = { halt: 'none', headPlace }
    this.#told = { halt: 'none', headPlace }
    this.row = {
      ...row,
      setHeadPlace: (place) => {
        row.setHeadPlace(place)
        this.#shown.headPlace = place
        this.#tell({ type: 'noteHeadPlace', place })
      },
      replaceHaltReason: (from, reason) => {
        if (!row.replaceHaltReason(from, reason)) return false
        this.#shown.halt = reason
        this.#tell({ type: 'noteHalt', reason: OF_ONE_MACHINE.includes(reason) ? 'none' : reason })
        return true
      },
    }
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
    this.#shown.headPlace = headPlaces.unseen
    this.#told.headPlace = headPlaces.unseen
  }

  /** The term is over: the board shows what all instances show, and nothing of endpoints that are no longer asked. */
  end(): void {
    const { row } = this.#options
    row.set('rpcDown', 0)
    row.set('contractsCompared', undefined)
    row.replaceHaltReason(this.#shown.halt, this.#told.halt)
    const { headPlace } = this.#told
    if (row.headPlace() === this.#shown.headPlace && headPlace !== this.#shown.headPlace)
      row.setHeadPlace(headPlace)
  }

  /** Only the newest note of each kind counts. */
  #tell(note: Note): void {
    this.#waiting.set(note.type, note)
    if (!this.#isTelling) void this.#tellAll()
  }

  /** Never throws: whatever ends it ends the term, and is met there. */
  async #tellAll(): Promise<void> {
    const { proposer, clock, signal } = this.#options
    this.#isTelling = true
    try {
      for (const [type, note] of this.#waiting) {
        this.#waiting.delete(type)
        try {
          await proposer.propose(note)
          if (note.type === 'noteHalt') this.#told.halt = note.reason
          else this.#told.headPlace = note.place
        } catch (error) {
          // The log is full.
          if (!(error instanceof RetryableError)) return
          if (!this.#waiting.has(type)) this.#waiting.set(type, note)
          await clock.sleep(RETRY_MS, signal)
        }
      }
    } catch {
      // The term is over.
    } finally {
      this.#isTelling = false
    }
  }
}
