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
    this.#clear()
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

  /** Whether there is room for one more row that brings so many bytes along, `freeBytes` of which become text of their own. */
  hasRoom(bytes: number, freeBytes: number): boolean {
    return (
      this.#rows < MAX_ROWS &&
      this.#used + bytes + SLACK <= this.input.length &&
      this.#textBytes + ROW_TEXT_BYTES + 2 * freeBytes <= MAX_TEXT_BYTES
    )
  }

  /** @returns the place of the copy in `input`, good until `generation` moves. Only where there is room. */
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

  /** Has the rows written that were collected. */
  flush(): void {
    if (this.#rows > 0) this.#emit(this.writer.write(this.#rows))
    this.#clear()
  }

  #clear(): void {
    this.#rows = 0
    this.#used = 0
    this.#textBytes = 0
    this.#generation++
  }
}

function ignore(): void {}
