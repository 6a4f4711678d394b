import { CLAIM_LINK_BYTES } from '../../store/layout/claimRow.js'
import { CLAIM_LINKS_PER_CHUNK } from '../../store/layout/tables.js'
import { NOWHERE } from './chunkSlots.js'
import type { RowArena } from './rowArena.js'

/** Links from deposits of one network to their claims on another, in the arena. */
export class PlacedLinks {
  readonly #arena: RowArena
  readonly #owner: number
  readonly #read: (depositCount: number) => Uint8Array | undefined
  #version = -1

  /** @param read gives the chunk with a deposit's link, as the store's own bytes; undefined where nothing is claimed. */
  constructor(arena: RowArena, read: (depositCount: number) => Uint8Array | undefined) {
    this.#arena = arena
    this.#owner = arena.nextOwner()
    this.#read = read
  }

  /** Begins a page. @param version of the destination's shard, in the task at hand. */
  begin(version: number): void {
    this.#version = version
  }

  /** Ordinal of the claim in force of a deposit; NOWHERE while there is none. */
  findOf(depositCount: number): number {
    const { links } = this.#arena.slots
    const link = depositCount % CLAIM_LINKS_PER_CHUNK
    const number = (depositCount - link) / CLAIM_LINKS_PER_CHUNK
    let place = links.find(this.#owner, number, this.#version, 0)
    if (place === NOWHERE) place = links.put(this.#owner, number, this.#version, this.#read(depositCount))
    const at = link * CLAIM_LINK_BYTES
    // A chunk ends after its last claimed deposit; a link is the ordinal and one more, 0 for none.
    return at >= links.lengthAt(place) ? NOWHERE : this.#arena.view.getUint32(place + at, true) - 1
  }
}
