import { equalBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { BlockHeader, Hash, RollupSettledEvent } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import { uint32PairKey } from '../../store/layout/keys.js'
import { encodeEventPlace, eventPlaceKey, placeOfEvent } from '../../store/places/eventPlace.js'
import type { WriteTransaction } from './writeTransaction.js'

/**
 * The rollups' last settled local exit roots, inside one transaction. Each settlement makes a version of the rollup exit tree. Table
 * `settledLocalExitRoots` has each rollup's root and the version from which it counts.
 */
export class RollupExits {
  readonly #transaction: WriteTransaction
  /** By network id; read from the store at first use. */
  #localExitRoots: Map<number, Hash> | undefined

  constructor(transaction: WriteTransaction) {
    this.#transaction = transaction
  }

  /** The current rollup exit root. */
  root(): Hash {
    const exits = [...this.#current()]
      .sort(([a], [b]) => a - b)
      .map(([networkId, localExitRoot]) => ({ rollupIndex: networkId - 1, localExitRoot }))
    return this.#transaction.memory.rollupExitTree.root(exits)
  }

  /** Sets the root that a rollup is added with. It counts from the next settlement of any rollup on. */
  setInitial(networkId: NetworkId, localExitRoot: Hash): void {
    if (localExitRoot.every((byte) => byte === 0)) return
    this.#set(networkId, localExitRoot, this.#transaction.counters.rollupExitVersion + 1)
  }

  /** Makes the next version. @returns its root. */
  settle(header: BlockHeader, event: RollupSettledEvent): Hash {
    const { view, counters } = this.#transaction
    const version = ++counters.rollupExitVersion
    this.#set(event.networkId, event.localExitRoot, version)
    view.put(
      'eventPlaces',
      eventPlaceKey('rollupExitVersion', version),
      encodeEventPlace(placeOfEvent(header, event)),
    )
    return this.root()
  }

  /** Makes the next version only if its root is `wanted`. */
  settleIf(header: BlockHeader, event: RollupSettledEvent, wanted: Hash): Hash | undefined {
    const { networkId, localExitRoot } = event
    const current = this.#current()
    const before = current.get(networkId)
    current.set(networkId, localExitRoot)
    const root = this.root()
    if (equalBytes(root, wanted)) return this.settle(header, event)
    if (before === undefined) current.delete(networkId)
    else current.set(networkId, before)
    return undefined
  }

  #set(networkId: NetworkId, localExitRoot: Hash, version: number): void {
    this.#current().set(networkId, localExitRoot)
    this.#transaction.view.put('settledLocalExitRoots', uint32PairKey(networkId, version), localExitRoot)
  }

  #current(): Map<number, Hash> {
    if (this.#localExitRoots !== undefined) return this.#localExitRoots
    const roots = new Map<number, Hash>()
    const { view } = this.#transaction
    const end = uint32PairKey(0xffff_ffff, 0xffff_ffff)
    for (let networkId = 0; ; ) {
      const [first] = view.list('settledLocalExitRoots', {
        start: uint32PairKey(networkId, 0),
        end,
        limit: 1,
      })
      if (first === undefined) break
      networkId = readUint32BigEndian(first.key, 0)
      const [last] = view.list('settledLocalExitRoots', {
        start: uint32PairKey(networkId + 1, 0),
        end: uint32PairKey(networkId, 0),
        limit: 1,
        reverse: true,
      })
      roots.set(networkId, last!.value)
      networkId++
    }
    this.#localExitRoots = roots
    return roots
  }
}
