import { LISTED_METADATA_BYTES } from '../../protocol/metadata.js'
import {
  type FieldPlaces,
  MAX_ROWS,
  ROW_BASES,
  ROW_VALUES,
  type RowOutput,
  type RowWriter,
} from '../../query/packedRows.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import { ArenaSlots, NOWHERE } from './arenaSlots.js'

/** Chunks of packed tables have 4,080 bytes at most. */
const CHUNK_BYTES = 4096

/** What lies in the arena, and the size of its slots. */
const slotBytes = {
  deposits: CHUNK_BYTES,
  senders: CHUNK_BYTES,
  claims: CHUNK_BYTES,
  claimHashes: CHUNK_BYTES,
  claimLinks: CHUNK_BYTES,
  /** Those of one tile of an exit tree: 64 hashes. */
  leaves: 64 * 32,
  /** TOKEN_ENTRY_BYTES, rounded up. */
  tokens: 32,
  /** A token's metadata has 192 to 320 bytes. */
  metadata: 384,
  /** Behind `metadata`: a place tells which of the two it is in. */
  longMetadata: LISTED_METADATA_BYTES,
} as const

type SlotKind = keyof typeof slotBytes

/** Number of slots of each kind. */
export type SlotCounts = Readonly<Record<SlotKind, number>>

const ROW_WORDS = ROW_BASES + ROW_VALUES

/** Bytes that each row has of its own, for what lies nowhere else. */
const OWN_BYTES = 64

/** Takes the text of some rows, with commas between them. */
export type RowSink = Pick<RowOutput<never>, 'append'>

/** Between pages nothing is written. */
const NOWHERE_TO_GO: RowSink = { append: () => undefined }

/**
 * All that lies in a row writer's memory: stored bytes in slots, which stay from page to page, and rows that wait to be written from
 * them. One per row writer.
 */
export class RowArena {
  readonly input: Uint8Array
  /** Bases and values of the rows that wait. */
  readonly numbers: Uint32Array
  /** Numbers of the stored bytes, little-endian. */
  readonly view: DataView
  readonly writer: RowWriter
  readonly slots: Readonly<Record<SlotKind, ArenaSlots>>
  readonly #inputAddress: number
  /** Behind the slots: the rows' own bytes. */
  readonly #ownFrom: number
  #sink: RowSink = NOWHERE_TO_GO
  #owners = 0
  #nextRow = 0
  #firstUnwritten = 0
  /** Characters of the longest row of the page, without the digits of its bytes. */
  #rowBytes = 0
  /** Characters of the rows that wait, at most. */
  #textBytes = 0

  constructor(writer: RowWriter, counts: SlotCounts) {
    this.writer = writer
    this.input = writer.input
    this.numbers = writer.numbers
    this.#inputAddress = writer.inputAddress
    this.view = new DataView(writer.input.buffer, writer.input.byteOffset, writer.input.length)
    let end = 0
    const slotsOf = (kind: SlotKind): ArenaSlots => {
      const from = end
      end += slotBytes[kind] * counts[kind]
      return new ArenaSlots(this, from, counts[kind], slotBytes[kind])
    }
    this.slots = {
      deposits: slotsOf('deposits'),
      senders: slotsOf('senders'),
      claims: slotsOf('claims'),
      claimHashes: slotsOf('claimHashes'),
      claimLinks: slotsOf('claimLinks'),
      leaves: slotsOf('leaves'),
      tokens: slotsOf('tokens'),
      metadata: slotsOf('metadata'),
      longMetadata: slotsOf('longMetadata'),
    }
    this.#ownFrom = end
    end += OWN_BYTES * MAX_ROWS
    if (end > this.input.length) throw new RangeError(`slots of ${end} bytes exceed ${this.input.length}`)
  }

  /** Begins a page. Rows that one which failed has left behind are dropped. */
  begin(template: RowTemplate, places: FieldPlaces, sink: RowSink): void {
    this.#rowBytes = this.writer.use(template, places)
    this.#sink = sink
    this.#firstUnwritten = this.#nextRow
    this.#textBytes = 0
  }

  /** Ends the page. */
  end(): void {
    this.flush()
    this.#sink = NOWHERE_TO_GO
  }

  /** A number for a table that has bytes in the slots. */
  nextOwner(): number {
    return this.#owners++
  }

  /** Number of the row that is added next. */
  get nextRow(): number {
    return this.#nextRow
  }

  /** Rows from this one on are not written yet: what they lie in must stay. */
  get firstUnwritten(): number {
    return this.#firstUnwritten
  }

  /**
   * Adds a row; where there is no room for it, those that wait are written first.
   * @param freeBytes of free length in it. @returns where its bases begin in `numbers`, and behind them its values.
   */
  addRow(freeBytes: number): number {
    const text = this.#rowBytes + 2 * freeBytes
    if (
      this.#nextRow - this.#firstUnwritten === MAX_ROWS ||
      this.#textBytes + text + this.#rowBytes > this.writer.maxText
    )
      this.flush()
    this.#textBytes += text
    return ROW_WORDS * (this.#nextRow++ - this.#firstUnwritten)
  }

  /** Place of a row's own 64 bytes. @param at what `addRow` returned. */
  ownPlace(at: number): number {
    return this.#ownFrom + OWN_BYTES * (at / ROW_WORDS)
  }

  /** A place as a base of a row; none: the field is null. */
  address(place: number): number {
    return place === NOWHERE ? 0 : this.#inputAddress + place
  }

  /** Has the rows written that wait. What they lie in stays. */
  flush(): void {
    const rows = this.#nextRow - this.#firstUnwritten
    this.#firstUnwritten = this.#nextRow
    this.#textBytes = 0
    if (rows > 0) this.#sink.append(this.#write(rows))
  }

  #write(rows: number): Uint8Array {
    try {
      return this.writer.write(rows)
    } catch (error) {
      // Some number was not what we took it for: nothing here is to be believed any more.
      for (const slots of Object.values(this.slots)) slots.forgetAll()
      throw error
    }
  }
}
