import { InvariantError } from '../../errors/invariantError.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import { readUint32BigEndian } from '../../store/codecs/bytes.js'
import { chunkKey, uint32PairKey } from '../../store/codecs/keys.js'
import {
  decodeL1InfoLeafRow,
  L1_INFO_LEAF_BYTES,
  type L1InfoLeafRow,
} from '../../store/codecs/l1InfoLeafRow.js'
import { decodeUint32 } from '../../store/codecs/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { L1_INFO_LEAVES_PER_CHUNK } from '../../store/tables.js'
import { ChunkReader } from '../chunkReader.js'
import type { Settlement } from '../settledCoverage.js'
import type { SnapshotState } from '../snapshotState.js'

/** What only the L1's shard holds: the L1 info tree and the settled local exit roots of every rollup of the manager. */
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

  get leafCount(): number {
    return this.#state.counters.l1InfoLeaves
  }

  /** @param index must be below `leafCount`. @throws InvariantError when the row is missing. */
  getLeaf(index: number): L1InfoLeafRow {
    const chunk = this.#leaves.find(index)
    const offset = this.#leaves.offset(index) * L1_INFO_LEAF_BYTES
    if (chunk === undefined || chunk.length < offset + L1_INFO_LEAF_BYTES)
      throw new InvariantError(`network 0: L1 info leaf ${index} is missing, ${this.leafCount} are counted`, {
        networkId: L1_NETWORK_ID,
      })
    return decodeL1InfoLeafRow(chunk, offset)
  }

  findIndexByGer(globalExitRoot: Hash): number | undefined {
    const index = this.#view.get('l1InfoIndexByGer', globalExitRoot)
    return index === undefined ? undefined : decodeUint32(index)
  }

  /** Settlements of one rollup from `version` on, ascending. */
  listSettlements(networkId: number, version: number): Settlement[] {
    return this.#view
      .list('settledLocalExitRoots', {
        start: uint32PairKey(networkId, version),
        end: uint32PairKey(networkId + 1, 0),
      })
      .map(({ key, value }) => ({ version: readUint32BigEndian(key, 4), localExitRoot: value }))
  }

  /** The rollup's leaf in the rollup exit tree at `version`; undefined before its first settlement. Fresh memory. */
  findSettled(networkId: number, version: number): Hash | undefined {
    return this.#view.list('settledLocalExitRoots', {
      start: uint32PairKey(networkId, version + 1),
      end: uint32PairKey(networkId, 0),
      limit: 1,
      reverse: true,
    })[0]?.value
  }

  /** Network ids of the manager's rollups, indexed here or not, ascending. */
  listRollups(): number[] {
    return this.#view
      .list('rollups', {
        start: uint32PairKey(0, 0).subarray(0, 4),
        end: Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0),
      })
      .map(({ key }) => readUint32BigEndian(key, 0))
  }
}
