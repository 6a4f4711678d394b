import { isNobody, SENDER_BYTES } from '../../store/layout/senderRow.js'
import { SENDERS_PER_CHUNK } from '../../store/layout/tables.js'
import { NOWHERE } from './chunkSlots.js'
import { PlacedChunks } from './placedChunks.js'
import type { RowArena } from './rowArena.js'

/** Senders of deposits, or of claims, in the arena. */
export class PlacedSenders {
  readonly #arena: RowArena
  readonly #chunks: PlacedChunks
  #resolved = 0

  /** @param read gives the chunk with a sender, as the store's own bytes. */
  constructor(arena: RowArena, read: (ordinal: number) => Uint8Array) {
    this.#arena = arena
    this.#chunks = new PlacedChunks(arena, arena.slots.senders, SENDERS_PER_CHUNK, SENDER_BYTES, read)
  }

  /** Begins a page. @param version of the shard, in the task at hand. @param resolved those below have their sender. */
  begin(version: number, resolved: number): void {
    this.#chunks.begin(version)
    this.#resolved = resolved
  }

  /** Place of a sender in the arena; NOWHERE for one that is not known, yet or at all. */
  placeOf(ordinal: number): number {
    if (ordinal >= this.#resolved) return NOWHERE
    const place = this.#chunks.placeOf(ordinal)
    return isNobody(this.#arena.input, place) ? NOWHERE : place
  }
}
