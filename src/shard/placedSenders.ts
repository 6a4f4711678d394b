import { isNobody, SENDER_BYTES } from '../store/codecs/senderRow.js'
import { SENDERS_PER_CHUNK } from '../store/tables.js'
import { PlacedChunk } from './placedChunk.js'
import { NOWHERE, type RowArena } from './rowArena.js'

/** Senders of deposits, or of claims, in the arena. */
export class PlacedSenders {
  readonly #arena: RowArena
  readonly #chunks: PlacedChunk
  #resolved = 0

  /** @param read gives the chunk with a sender, as the store's own bytes. */
  constructor(arena: RowArena, read: (ordinal: number) => Uint8Array) {
    this.#arena = arena
    this.#chunks = new PlacedChunk(arena, SENDERS_PER_CHUNK, SENDER_BYTES, read)
  }

  /** Begins a page. @param resolved those below have their sender. */
  begin(resolved: number): void {
    this.#resolved = resolved
  }

  /** Place of a sender in the arena; NOWHERE for one that is not known, yet or at all. */
  placeOf(ordinal: number): number {
    if (ordinal >= this.#resolved) return NOWHERE
    const place = this.#chunks.placeOf(ordinal)
    return isNobody(this.#arena.input, place) ? NOWHERE : place
  }
}
