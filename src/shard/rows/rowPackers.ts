import type { NetworkId } from '../../protocol/units.js'
import type { RowWriter } from '../../query/packedRows.js'
import type { ClaimFacts } from '../readiness/claimFacts.js'
import type { ShardView } from '../snapshot/shardView.js'
import { BridgePacker } from './bridgePacker.js'
import { ClaimPacker } from './claimPacker.js'
import type { RowPacker } from './packedPage.js'
import { RowArena, type SlotCounts } from './rowArena.js'

/** What rows are packed from. */
interface RowShards {
  readonly claimFacts: ClaimFacts
  readonly thresholds: { readonly slots: SlotCounts }
  /** The task's snapshot of one network; undefined for a network that is not indexed. */
  find(networkId: NetworkId): ShardView | undefined
}

/** The packers of a worker, made once: those of each page anew were a tenth of its time, and most of a single row's. */
export class RowPackers {
  readonly #shards: RowShards
  readonly #bridges = new Map<NetworkId, BridgePacker>()
  readonly #claims = new Map<NetworkId, ClaimPacker>()
  #arena: RowArena | undefined

  constructor(shards: RowShards) {
    this.#shards = shards
  }

  bridges(writer: RowWriter, source: ShardView): RowPacker {
    const arena = this.#arenaOf(writer)
    let packer = this.#bridges.get(source.networkId)
    if (packer === undefined) {
      packer = new BridgePacker(this.#shards.claimFacts, source, arena)
      this.#bridges.set(source.networkId, packer)
    }
    return packer
  }

  claims(writer: RowWriter, view: ShardView): RowPacker {
    const arena = this.#arenaOf(writer)
    let packer = this.#claims.get(view.networkId)
    if (packer === undefined) {
      packer = new ClaimPacker((networkId) => this.#shards.find(networkId), view, arena)
      this.#claims.set(view.networkId, packer)
    }
    return packer
  }

  #arenaOf(writer: RowWriter): RowArena {
    if (this.#arena?.writer !== writer) {
      this.#arena = new RowArena(writer, this.#shards.thresholds.slots)
      this.#bridges.clear()
      this.#claims.clear()
    }
    return this.#arena
  }
}
