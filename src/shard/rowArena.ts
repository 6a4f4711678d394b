import { MAX_ROWS, ROW_BASES, ROW_VALUES, type RowWriter } from '../protocol/packedRows.js'

/** Text that is made of one row without its bytes of free length, at most. */
export const ROW_TEXT_BYTES = 1_400
/** Text that a row writer has room for in one go, with a margin for what kernels write past its end. */
const MAX_TEXT_BYTES = 250_000
/** What kernels read past the end of bytes. */
const SLACK = 16
/** The place of bytes that are not there. */
export const NOWHERE = -1
const ROW_WORDS = ROW_BASES + ROW_VALUES

/**
 * Collects rows in a row writer's memory and has them written when it is full; one per row writer, used page after page. Bytes are copied in once: chunks whole, so that
 * the rows of a page that lie in one chunk share it.
 */
export class RowArena {
  readonly input: Uint8Array
  readonly numbers: Uint32Array
  /** Numbers of the stored rows, little-endian. */
  readonly view: DataView
  readonly writer: RowWriter
  #emit: (text: Uint8Array) => void = ignore
  readonly #inputAddress: number
  #used = 0
  #rows = 0
  #textBytes = 0
  #generation = 0

  constructor(writer: RowWriter) {
    this.writer = writer
    this.input = writer.input
    this.numbers = writer.numbers
    this.#inputAddress = writer.inputAddress
    this.view = new DataView(writer.input.buffer, writer.input.byteOffset, writer.input.length)
  }

  /** Begins a page. Whatever one that failed has left behind is dropped. @param emit takes the text of some rows. */
  begin(emit: (text: Uint8Array) => void): void {
    this.#emit = emit
    this.#rows = 0
    this.#textBytes = 0
    this.#void()
  }

  /** Ends the page. */
  end(): void {
    this.flush()
    this.#emit = ignore
  }

  /** Moves when all that was placed is void. */
  get generation(): number {
    return this.#generation
  }

  /** Whether bytes of that length have a place at all. */
  fits(length: number): boolean {
    return length <= this.input.length / 2
  }

  /**
   * Makes room for one more row that brings so many bytes along, and text for `freeBytes`: has the rows written that were
   * collected, and where that is not enough gives up what was placed. Rows that were placed and not added are void then.
   * @returns whether what was placed is void.
   */
  makeRoom(bytes: number, freeBytes: number): boolean {
    const isFull = this.#used + bytes + SLACK > this.input.length
    const textBytes = this.#textBytes + ROW_TEXT_BYTES + 2 * freeBytes
    if (isFull || this.#rows === MAX_ROWS || textBytes > MAX_TEXT_BYTES) this.flush()
    if (isFull) this.#void()
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
    return ROW_WORDS * this.#rows++
  }

  /** A place as a base of a row; none: the field is null. */
  address(place: number): number {
    return place === NOWHERE ? 0 : this.#inputAddress + place
  }

  /** Has the rows written that were collected. What was placed stays. */
  flush(): void {
    if (this.#rows > 0) this.#emit(this.writer.write(this.#rows))
    this.#rows = 0
    this.#textBytes = 0
  }

  #void(): void {
    this.#used = 0
    this.#generation++
  }
}

function ignore(): void {}
