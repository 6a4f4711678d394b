import { MAX_ROWS, ROW_BASES, ROW_VALUES, type RowOutput, type RowWriter } from '../../query/packedRows.js'
import { ChunkSlots, NOWHERE, SLOT_BYTES } from './chunkSlots.js'

/** Text that is made of one row without its bytes of free length, at most. */
export const ROW_TEXT_BYTES = 1_400
/** Text that a row writer has room for in one go, with a margin for what kernels write past its end. */
const MAX_TEXT_BYTES = 250_000
/** Tokens and metadata of some rows. */
const MIN_FREE_BYTES = 65_536
/** What kernels read past the end of bytes. */
const SLACK = 16
const ROW_WORDS = ROW_BASES + ROW_VALUES

/** Takes the text of some rows, with commas between them. */
export type RowSink = Pick<RowOutput<never>, 'append'>

/** Between pages nothing is written. */
const NOWHERE_TO_GO: RowSink = { append: () => undefined }

/** Chunks that stay in the arena, by what they hold. */
export type SlotCounts = Readonly<Record<'deposits' | 'senders' | 'claims' | 'hashes' | 'links', number>>

/**
 * Collects rows in a row writer's memory and has them written when it is full; one per row writer, used page after page. Rows
 * lie in the chunks that they are stored in, which stay from page to page; tokens and metadata have the rest of the memory,
 * which is given up when it is full.
 */
export class RowArena {
  readonly input: Uint8Array
  readonly numbers: Uint32Array
  /** Numbers of the stored rows, little-endian. */
  readonly view: DataView
  readonly writer: RowWriter
  readonly slots: Readonly<Record<keyof SlotCounts, ChunkSlots>>
  #sink: RowSink = NOWHERE_TO_GO
  readonly #inputAddress: number
  readonly #freeFrom: number
  #used: number
  #owners = 0
  #nextRow = 0
  #firstUnwritten = 0
  #textBytes = 0
  #generation = 0

  constructor(writer: RowWriter, counts: SlotCounts) {
    this.writer = writer
    this.input = writer.input
    this.numbers = writer.numbers
    this.#inputAddress = writer.inputAddress
    this.view = new DataView(writer.input.buffer, writer.input.byteOffset, writer.input.length)
    let at = 0
    const slotsOf = (kind: keyof SlotCounts): ChunkSlots => {
      const from = at
      at += SLOT_BYTES * counts[kind]
      return new ChunkSlots(this, from, counts[kind])
    }
    this.slots = {
      deposits: slotsOf('deposits'),
      senders: slotsOf('senders'),
      claims: slotsOf('claims'),
      hashes: slotsOf('hashes'),
      links: slotsOf('links'),
    }
    if (at + MIN_FREE_BYTES > this.input.length) throw new RangeError(`${at} bytes of chunks leave no room`)
    this.#freeFrom = at
    this.#used = at
  }

  /** Begins a page. Rows that one which failed has left behind are dropped. */
  begin(sink: RowSink): void {
    this.#sink = sink
    this.#firstUnwritten = this.#nextRow
    this.#textBytes = 0
  }

  /** Ends the page. */
  end(): void {
    this.flush()
    this.#sink = NOWHERE_TO_GO
  }

  /** A number for whoever keeps chunks in the slots. */
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

  /** Moves when all that was placed is void. */
  get generation(): number {
    return this.#generation
  }

  /**
   * Makes room for one more row, for so many bytes to be placed for it, and for text of `freeBytes`: has the rows written that
   * were collected, and where that is not enough gives up what was placed.
   * @returns whether what was placed is void.
   */
  makeRoom(bytes: number, freeBytes: number): boolean {
    const isFull = this.#used + bytes + SLACK > this.input.length
    const textBytes = this.#textBytes + ROW_TEXT_BYTES + 2 * freeBytes
    if (isFull || this.#nextRow - this.#firstUnwritten === MAX_ROWS || textBytes > MAX_TEXT_BYTES)
      this.flush()
    if (isFull) {
      this.#used = this.#freeFrom
      this.#generation++
    }
    return isFull
  }

  /** @returns the place of the copy in `input`, good until `generation` moves. Only where room was made. */
  place(bytes: Uint8Array): number {
    const at = this.#used
    this.input.set(bytes, at)
    this.#used = at + bytes.length
    return at
  }

  /** Adds a row. @returns where its bases begin in `numbers`, and behind them its values. */
  addRow(freeBytes: number): number {
    this.#textBytes += ROW_TEXT_BYTES + 2 * freeBytes
    return ROW_WORDS * (this.#nextRow++ - this.#firstUnwritten)
  }

  /** A place as a base of a row; none: the field is null. */
  address(place: number): number {
    return place === NOWHERE ? 0 : this.#inputAddress + place
  }

  /** Has the rows written that were collected. What was placed stays. */
  flush(): void {
    const rows = this.#nextRow - this.#firstUnwritten
    if (rows > 0) this.#sink.append(this.writer.write(rows))
    this.#firstUnwritten = this.#nextRow
    this.#textBytes = 0
  }
}
