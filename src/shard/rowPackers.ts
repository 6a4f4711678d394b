import type { RowWriter } from '../protocol/packedRows.js'
import type { NetworkId } from '../protocol/units.js'
import { BridgePacker } from './bridgePacker.js'
import { ClaimPacker } from './claimPacker.js'
import type { ShardReaders } from './reader.js'
import { RowArena } from './rowArena.js'
import type { ShardView } from './shardView.js'

/** The packers of a worker, made once: those of each page anew were a tenth of its time, and most of a single row's. */
export class RowPackers {
  readonly #shards: ShardReaders
  readonly #bridges = new Map<NetworkId, BridgePacker>()
  readonly #claims = new Map<NetworkId, ClaimPacker>()
  #arena: RowArena | undefined

  constructor(shards: ShardReaders) {
    this.#shards = shards
  }

  bridges(writer: RowWriter, source: ShardView): BridgePacker {
    const arena = this.#arenaOf(writer)
    let packer = this.#bridges.get(source.networkId)
    if (packer === undefined) {
      packer = new BridgePacker(this.#shards, source, arena)
      this.#bridges.set(source.networkId, packer)
    }
    return packer
  }

  claims(writer: RowWriter, view: ShardView): ClaimPacker {
    const arena = this.#arenaOf(writer)
    let packer = this.#claims.get(view.networkId)
    if (packer === undefined) {
      packer = new ClaimPacker(this.#shards, view, arena)
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
