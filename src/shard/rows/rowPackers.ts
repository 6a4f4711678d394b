import type { NetworkId } from '../../protocol/units.js'
import type { RowWriter } from '../../query/packedRows.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import type { ShardView } from '../snapshot/shardView.js'
import { BridgeRows } from './bridgeRows.js'
import { ClaimRows } from './claimRows.js'
import type { RowPacker } from './packedPage.js'
import { PlacedShard, type RowShards } from './placedShard.js'
import { RowArena, type SlotCounts } from './rowArena.js'

const lists = { bridges: BridgeRows, claims: ClaimRows } as const

/** The arena of a worker and its packers, made once: those of each page anew were a tenth of its time, and most of a single row's. */
export class RowPackers {
  readonly #shards: RowShards
  readonly #slots: () => SlotCounts
  readonly #packers = { bridges: new Map<NetworkId, RowPacker>(), claims: new Map<NetworkId, RowPacker>() }
  readonly #placed = new Map<NetworkId, PlacedShard>()
  #arena: RowArena | undefined

  /** @param slots is asked when the first row is packed. */
  constructor(shards: Omit<RowShards, 'placed'>, slots: () => SlotCounts) {
    this.#shards = {
      claimFacts: shards.claimFacts,
      find: (networkId) => shards.find(networkId),
      placed: (view) => this.#placedOf(view),
    }
    this.#slots = slots
  }

  /** The packer of a network's list, at the beginning of a page whose rows are spelled by `template`. */
  of(list: keyof typeof lists, writer: RowWriter, view: ShardView, template: RowTemplate): RowPacker {
    if (this.#arena?.writer !== writer) {
      this.#arena = new RowArena(writer, this.#slots())
      this.#placed.clear()
      for (const packers of Object.values(this.#packers)) packers.clear()
    }
    const packers = this.#packers[list]
    let packer = packers.get(view.networkId)
    if (packer === undefined) {
      packer = new lists[list](this.#shards, this.#arena, this.#placedOf(view))
      packers.set(view.networkId, packer)
    }
    packer.begin(template)
    return packer
  }

  #placedOf(view: ShardView): PlacedShard {
    let placed = this.#placed.get(view.networkId)
    if (placed === undefined) {
      placed = new PlacedShard(this.#arena!, view)
      this.#placed.set(view.networkId, placed)
    }
    placed.follow()
    return placed
  }
}
