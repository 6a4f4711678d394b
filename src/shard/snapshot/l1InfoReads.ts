import { InvariantError } from '../../errors/invariantError.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import type { NetworkId } from '../../protocol/units.js'
import { chunkKey, uint32PairKey } from '../../store/layout/keys.js'
import {
  decodeL1InfoLeafNumbers,
  decodeL1InfoLeafRow,
  L1_INFO_LEAF_BYTES,
  type L1InfoLeafNumbers,
  type L1InfoLeafRow,
} from '../../store/layout/l1InfoLeafRow.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import { L1_INFO_LEAVES_PER_CHUNK } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { Settlement } from '../localExitRoots.types.js'
import { ChunkReader } from './chunkReader.js'
import type { SnapshotState } from './snapshotState.js'

/** What only the L1's shard holds: the L1 info tree, and the settled local exit roots of every rollup. */
export class L1InfoReads {
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly #leaves: ChunkReader

  constructor(view: ReadView, state: SnapshotState) {
    this.#view = view
    this.#state = state
    this.#leaves = new ChunkReader(view, 'l1InfoLeaves', L1_INFO_LEAVES_PER_CHUNK, (index) =>
      chunkKey(index, L1_INFO_LEAVES_PER_CHUNK),
    )
  }

  reset(): void {
    this.#leaves.reset()
  }

  get epoch(): number {
    return this.#state.epoch
  }

  get leafCount(): number {
    return this.#state.counters.l1InfoLeaves
  }

  /** @param index must be below `leafCount`. @throws InvariantError when the row is missing. */
  getLeaf(index: number): L1InfoLeafRow {
    const offset = this.#leaves.offset(index) * L1_INFO_LEAF_BYTES
    const chunk = this.#checked(index, this.#leaves.peek(index))
    return decodeL1InfoLeafRow(chunk, offset)
  }

  /** Only the numbers of a leaf, for readers that keep those of every leaf. */
  getLeafNumbers(index: number): L1InfoLeafNumbers {
    const chunk = this.#checked(index, this.#leaves.find(index))
    return decodeL1InfoLeafNumbers(chunk, this.#leaves.offset(index) * L1_INFO_LEAF_BYTES)
  }

  findIndexByGer(globalExitRoot: Hash): number | undefined {
    const index = this.#view.get('l1InfoIndexByGer', globalExitRoot)
    return index === undefined ? undefined : decodeUint32(index)
  }

  /** Newest version of the rollup exit tree. */
  get newestVersion(): number {
    return this.#state.counters.rollupExitVersion
  }

  /** Settlements of one rollup in versions `from` … `to`, ascending. */
  listSettlements(networkId: number, from: number, to: number): Settlement[] {
    return this.#view
      .list('settledLocalExitRoots', {
        start: uint32PairKey(networkId, from),
        end: uint32PairKey(networkId, to + 1),
      })
      .map(({ key, value }) => ({ version: readUint32BigEndian(key, 4), localExitRoot: value }))
  }

  /** The newest version up to `version` in which a rollup settled; undefined before its first settlement. */
  findSettledVersion(networkId: NetworkId, version: number): number | undefined {
    const [last] = this.#view.list('settledLocalExitRoots', {
      start: uint32PairKey(networkId, version + 1),
      end: uint32PairKey(networkId, 0),
      limit: 1,
      reverse: true,
    })
    return last && readUint32BigEndian(last.key, 4)
  }

  /** Every rollup, indexed here or not, that had settled a local exit root by `version`, ascending. @returns fresh memory. */
  listSettledAt(version: number): SettledRollup[] {
    const settled: SettledRollup[] = []
    for (let networkId = 0; networkId <= 0xffff_ffff; networkId++) {
      const [first] = this.#view.list('settledLocalExitRoots', {
        start: uint32PairKey(networkId, 0),
        end: uint32PairKey(0xffff_ffff, 0xffff_ffff),
        limit: 1,
      })
      if (first === undefined) break
      networkId = readUint32BigEndian(first.key, 0)
      const [last] = this.#view.list('settledLocalExitRoots', {
        start: uint32PairKey(networkId, version + 1),
        end: uint32PairKey(networkId, 0),
        limit: 1,
        reverse: true,
      })
      if (last !== undefined) settled.push({ networkId: networkId as NetworkId, localExitRoot: last.value })
    }
    return settled
  }

  #checked(index: number, chunk: Uint8Array | undefined): Uint8Array {
    if (chunk === undefined || chunk.length < (this.#leaves.offset(index) + 1) * L1_INFO_LEAF_BYTES)
      throw new InvariantError(`network 0: L1 info leaf ${index} is missing, ${this.leafCount} are counted`, {
        networkId: L1_NETWORK_ID,
      })
    return chunk
  }
}

/** A rollup and its settled local exit root: its leaf in the rollup exit tree. */
export interface SettledRollup {
  readonly networkId: NetworkId
  readonly localExitRoot: Hash
}
