import { equalBytes } from '../../protocol/abiBytes.js'
import type {
  BlockHeader,
  Hash,
  L1InfoLeafEvent,
  L1InfoRootEvent,
  L1InfoRootMapInitEvent,
  RollupAddedEvent,
  RollupSettledEvent,
  V1GlobalExitRootEvent,
} from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { LeafCount } from '../../protocol/units.js'
import { metaKey, uint32Key } from '../../store/layout/keys.js'
import { decodeExitState, type ExitState, encodeExitState } from '../../store/layout/metaValues.js'
import { encodeRollupEntry, encodeUint32 } from '../../store/layout/smallRows.js'
import { UNRESOLVABLE_VERSION } from '../../store/layout/tables.js'
import { L1InfoTree } from './l1InfoTree.js'
import type { LocalExitTree } from './localExitTree.js'
import { getParentHash } from './prepareBatch.js'
import { refuse } from './refuse.js'
import { RollupExits } from './rollupExits.js'
import type { WriteTransaction } from './writeTransaction.js'

type Writable<T> = { -readonly [Field in keyof T]: T[Field] }

interface WaitingLeaf {
  readonly header: BlockHeader
  readonly event: L1InfoLeafEvent
  readonly mainnetLeafCount: LeafCount
  readonly isMainnetExitRootNew: boolean
}

/** A rollup that was added or settled, and where. */
interface Change {
  readonly header: BlockHeader
  readonly event: RollupAddedEvent | RollupSettledEvent
}

/** A transaction with the local exit tree of the L1, whose root is the mainnet exit root. */
interface L1Transaction extends WriteTransaction {
  readonly localExitTree: LocalExitTree
}

/**
 * Stores the L1's exit roots inside one transaction of the writer: the leaves of the L1 info tree and the rollups' settlements. Checks
 * that both agree.
 *
 * On the chain a settlement's leaf comes before the event that names the local exit root, and one Ethereum transaction may have several
 * of both. So leaves and settlements are collected and matched at the end of their Ethereum transaction.
 */
export class L1Exits {
  readonly #transaction: L1Transaction
  readonly #tree: L1InfoTree
  readonly #rollups: RollupExits
  readonly #state: Writable<ExitState>
  #storedState: Uint8Array
  #transactionHash: Hash | undefined
  #leaves: WaitingLeaf[] = []
  #changes: Change[] = []

  constructor(transaction: L1Transaction) {
    this.#transaction = transaction
    this.#tree = new L1InfoTree(transaction)
    this.#rollups = new RollupExits(transaction)
    this.#state = decodeExitState(transaction.view.get('meta', metaKey('exitState')))
    this.#storedState = encodeExitState(this.#state)
  }

  /** UpdateL1InfoTree. */
  addLeaf(header: BlockHeader, event: L1InfoLeafEvent): void {
    this.#enterTransaction(event.transactionHash)
    const isMainnetExitRootNew = this.#takeMainnetExitRoot(event.mainnetExitRoot, header, 'UpdateL1InfoTree')
    const mainnetLeafCount = this.#state.mainnetLeafCount as LeafCount
    this.#leaves.push({ header, event, mainnetLeafCount, isMainnetExitRootNew })
  }

  /** UpdateL1InfoTreeV2, which follows its leaf. @throws Refusal when it differs from block or tree. */
  checkRoot(header: BlockHeader, event: L1InfoRootEvent): void {
    this.#enterTransaction(event.transactionHash)
    const parentHash = getParentHash(header)
    if (!equalBytes(event.previousBlockHash, parentHash))
      refuse(
        'l1_info_root_mismatch',
        `UpdateL1InfoTreeV2 in block ${header.number} says parent hash ${encodeHex(event.previousBlockHash)}, but the block has ${encodeHex(parentHash)}`,
      )
    if (event.timestampSec !== header.timestampSec)
      refuse(
        'l1_info_root_mismatch',
        `UpdateL1InfoTreeV2 in block ${header.number} says timestamp ${event.timestampSec}, but the block has ${header.timestampSec}`,
      )
    this.#expectInfoRoot(header, 'UpdateL1InfoTreeV2', event)
  }

  /** InitL1InfoRootMap: leaf count and root of the tree at the upgrade. */
  checkInitialRoot(header: BlockHeader, event: L1InfoRootMapInitEvent): void {
    this.#enterTransaction(event.transactionHash)
    this.#expectInfoRoot(header, 'InitL1InfoRootMap', event)
  }

  /** UpdateGlobalExitRoot before etrog. Its rollup exit root is the zkEVM's local exit root itself, not the root of a rollup exit tree. */
  applyV1(header: BlockHeader, event: V1GlobalExitRootEvent): void {
    this.#takeMainnetExitRoot(event.mainnetExitRoot, header, 'UpdateGlobalExitRoot')
    if (this.#transaction.counters.rollupExitVersion > 0) return
    this.#takeUnresolvable(event.rollupExitRoot)
  }

  /** CreateNewRollup, AddExistingRollup. */
  addRollup(header: BlockHeader, event: RollupAddedEvent): void {
    this.#enterTransaction(event.transactionHash)
    const { chainId, rollupAddress } = event
    this.#transaction.view.put(
      'rollups',
      uint32Key(event.networkId),
      encodeRollupEntry({ chainId, rollupAddress }),
    )
    this.#changes.push({ header, event })
  }

  settle(header: BlockHeader, event: RollupSettledEvent): void {
    this.#enterTransaction(event.transactionHash)
    this.#changes.push({ header, event })
  }

  /**
   * Ends the open Ethereum transaction, if any: finds the rollup exit tree's version for each leaf.
   * @throws Refusal when no settlement gives a leaf's rollup exit root, or a new root has no leaf.
   */
  endTransaction(): void {
    if (this.#transactionHash === undefined) return
    this.#transactionHash = undefined
    const changes = this.#changes
    for (const leaf of this.#leaves) {
      const { rollupExitRoot } = leaf.event
      if (!equalBytes(rollupExitRoot, this.#state.rollupExitRoot)) this.#reach(leaf, changes)
      const isNew = this.#tree.append(
        leaf.header,
        leaf.event,
        leaf.mainnetLeafCount,
        this.#state.rollupExitVersion,
      )
      if (!isNew) this.#rejectRepeatedLeaf(leaf)
    }
    this.#leaves = []
    this.#changes = []
    for (const change of changes) {
      const root = this.#apply(change, undefined)
      if (root !== undefined) this.#takeLeafless(change, root)
    }
  }

  flush(): void {
    this.#tree.flush()
    const state = encodeExitState(this.#state)
    if (Buffer.compare(state, this.#storedState) === 0) return
    this.#transaction.view.put('meta', metaKey('exitState'), state)
    this.#storedState = state
  }

  #enterTransaction(hash: Hash): void {
    if (this.#transactionHash !== undefined && !equalBytes(this.#transactionHash, hash)) this.endTransaction()
    this.#transactionHash = hash
  }

  /**
   * The mainnet exit root of an update is the one before, or the root of all deposits so far. (Deposits that do not force an update
   * wait for the next one.) @returns whether it is new.
   */
  #takeMainnetExitRoot(root: Hash, header: BlockHeader, source: string): boolean {
    if (equalBytes(root, this.#state.mainnetExitRoot)) return false
    const { localExitTree, counters } = this.#transaction
    localExitTree.noteRoot({
      root,
      reason: 'exit_root_mismatch',
      source: `${source} in block ${header.number}`,
    })
    this.#state.mainnetExitRoot = root
    this.#state.mainnetLeafCount = counters.deposits
    return true
  }

  #takeUnresolvable(root: Hash): void {
    this.#state.rollupExitRoot = root
    this.#state.rollupExitVersion = root.every((byte) => byte === 0) ? 0 : UNRESOLVABLE_VERSION
    if (this.#state.rollupExitVersion !== 0) this.#noteVersion(root, UNRESOLVABLE_VERSION)
  }

  /** Applies changes in order until the rollup exit root is the leaf's. */
  #reach(leaf: WaitingLeaf, changes: Change[]): void {
    const wanted = leaf.event.rollupExitRoot
    const passed: [Change, Hash][] = []
    for (let change = changes.shift(); change !== undefined; change = changes.shift()) {
      const root = this.#apply(change, wanted)
      if (root === undefined) continue
      if (!equalBytes(root, wanted)) {
        passed.push([change, root])
        continue
      }
      for (const [leafless, itsRoot] of passed) this.#takeLeafless(leafless, itsRoot)
      this.#takeRollupExitRoot(root)
      return
    }
    // From the etrog upgrade to the first settlement, leaves repeat the V1 rollup exit root, which no settlement gives. Such a leaf comes
    // from a deposit, so its mainnet exit root is new. If it is not new, the leaf comes from a settlement whose log is missing.
    const isUpgradeEra =
      this.#transaction.counters.rollupExitVersion === 0 && this.#state.rollupExitVersion === 0
    if (isUpgradeEra && leaf.isMainnetExitRootNew) {
      this.#takeUnresolvable(wanted)
      return
    }
    refuse(
      'rollup_exit_root_mismatch',
      `UpdateL1InfoTree in block ${leaf.header.number} says rollup exit root ${encodeHex(wanted)}, but ${this.#transaction.counters.rollupExitVersion} settlements give ${encodeHex(this.#rollups.root())}`,
    )
  }

  /** Applies one change. @returns the root after a settlement; undefined when the change makes no new root. */
  #apply({ header, event }: Change, wanted: Hash | undefined): Hash | undefined {
    if (event.type === 'rollupAdded') {
      this.#rollups.setInitial(event.networkId, event.initialLocalExitRoot)
      return undefined
    }
    if (event.certainty === 'applied') return this.#rollups.settle(header, event)
    // The manager may have postponed this settlement: then no leaf has its root.
    return wanted === undefined ? undefined : this.#rollups.settleIf(header, event, wanted)
  }

  /** A settlement without a leaf: the global exit root that it gives must be that of an older leaf. */
  #takeLeafless({ event }: Change, root: Hash): void {
    if (equalBytes(root, this.#state.rollupExitRoot)) return
    const globalExitRoot = this.#transaction.memory.hasher.hashPair(this.#state.mainnetExitRoot, root)
    if (!this.#tree.has(globalExitRoot))
      refuse(
        'missing_log',
        `settlement of network ${event.networkId} in block ${event.blockNumber} gives rollup exit root ${encodeHex(root)}, but no UpdateL1InfoTree has it`,
      )
    this.#takeRollupExitRoot(root)
  }

  #takeRollupExitRoot(root: Hash): void {
    this.#state.rollupExitRoot = root
    this.#state.rollupExitVersion = this.#transaction.counters.rollupExitVersion
    this.#noteVersion(root, this.#state.rollupExitVersion)
  }

  /** A root that comes again keeps its first version: both versions have the same local exit roots. */
  #noteVersion(root: Hash, version: number): void {
    const { view } = this.#transaction
    if (view.get('rollupExitVersions', root) === undefined)
      view.put('rollupExitVersions', root, encodeUint32(version))
  }

  #expectInfoRoot(
    header: BlockHeader,
    source: string,
    event: { leafCount: LeafCount; l1InfoRoot: Hash },
  ): void {
    const known = this.#transaction.counters.l1InfoLeaves
    const leafCount = known + this.#leaves.length
    if (event.leafCount !== leafCount)
      refuse(
        known === 0 && event.leafCount > leafCount ? 'start_block_too_late' : 'l1_info_root_mismatch',
        `${source} in block ${header.number} says leaf count ${event.leafCount}, but there are ${leafCount} leaves`,
      )
    this.#tree.expectRoot(leafCount, event.l1InfoRoot, `${source} in block ${header.number}`)
  }

  #rejectRepeatedLeaf({ header, event }: WaitingLeaf): never {
    refuse(
      'l1_info_root_mismatch',
      `UpdateL1InfoTree in block ${header.number}, log ${event.logIndex} repeats the global exit root of an older leaf`,
    )
  }
}
