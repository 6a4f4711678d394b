import type { Hex } from 'viem'
import { encodeCall } from './fakeChainAbi.js'
import {
  currentRollupExitRoot,
  type FakePosition,
  type FakeState,
  localExitRootOf,
  rollupLocalExitRoots,
} from './fakeChainState.js'
import { account, FakeTransactionFrames, type TransactionContext } from './fakeChainTransaction.js'
import {
  append,
  globalExitRoot,
  keccak,
  l1InfoLeaf,
  rootOf,
  ZERO_ADDRESS,
  ZERO_HASH,
} from './fakeChainTrees.js'

export interface BlockContext extends TransactionContext {
  readonly networkId: number
  readonly blockNumber: number
  readonly parentHash: Hex
  readonly timestampSec: number
  readonly state: FakeState
  /** False: an L1 before banana, which emits no UpdateL1InfoTreeV2. */
  readonly l1InfoTreeV2: boolean
  /** Sovereign bridges also emit every claim in a hash chain. */
  readonly sovereign: boolean
}

/** How a settlement reaches the manager. `verifyBatchesPending`: the root is not applied before it is consolidated. */
export type SettlementEvent = 'trusted' | 'verifyBatches' | 'verifyBatchesPending'

/**
 * Operations of the managers: global exit roots (L2), rollups and their settlement (network 0). Each changes the contracts'
 * state and emits what the contracts emit, in their order.
 */
export class FakeManagerTransaction extends FakeTransactionFrames {
  protected readonly block: BlockContext

  constructor(block: BlockContext, options: { hash: Hex; index: number; from: Hex; to?: Hex }) {
    super(block, options)
    this.block = block
  }

  /** `silent`: a legacy manager, whose node writes the map without an event. */
  injectGer(ger: Hex, form: 'hashChain' | 'insert' | 'silent' = 'hashChain'): void {
    const { state, timestampSec, contracts } = this.block
    state.globalExitRoots.set(ger, BigInt(timestampSec))
    if (form === 'silent') return
    this.inContract(contracts.globalExitRootManager, encodeCall('run', [ger]), () => {
      if (form === 'insert')
        return void this.emit(contracts.globalExitRootManager, 'insertGer', { newGlobalExitRoot: ger })
      state.injectionHashChain = keccak(state.injectionHashChain, ger)
      const args = { newGlobalExitRoot: ger, newHashChainValue: state.injectionHashChain }
      this.emit(contracts.globalExitRootManager, 'gerHashChain', args)
    })
  }

  removeGer(ger: Hex, form: 'hashChain' | 'insert' | 'silent' = 'hashChain'): void {
    const { state, contracts } = this.block
    state.globalExitRoots.delete(ger)
    if (form === 'silent') return
    this.inContract(contracts.globalExitRootManager, encodeCall('run', [ger]), () => {
      if (form === 'insert')
        return void this.emit(contracts.globalExitRootManager, 'removeLastGer', {
          removedGlobalExitRoot: ger,
        })
      state.removalHashChain = keccak(state.removalHashChain, ger)
      const args = { removedGlobalExitRoot: ger, newRemovalHashChainValue: state.removalHashChain }
      this.emit(contracts.globalExitRootManager, 'gerRemovalHashChain', args)
    })
  }

  createRollup(networkId: number, chainId: number): void {
    const address = account(1000 + networkId)
    this.block.state.rollups.set(networkId, { networkId, chainId, address, localExitRoot: ZERO_HASH })
    this.onManager((manager) =>
      this.emit(manager, 'createRollup', {
        ...{ rollupID: networkId, rollupTypeID: 1, rollupAddress: address, chainID: BigInt(chainId) },
        gasTokenAddress: ZERO_ADDRESS,
      }),
    )
  }

  /** `localExitRoot` is in no event, and enters the rollup exit root with the next settlement. */
  addExistingRollup(
    networkId: number,
    chainId: number,
    localExitRoot: Hex,
    form: 'v4' | 'v10' = 'v10',
  ): void {
    const address = account(1000 + networkId)
    this.block.state.rollups.set(networkId, { networkId, chainId, address, localExitRoot })
    const common = { rollupID: networkId, forkID: 0n, rollupAddress: address, chainID: BigInt(chainId) }
    this.onManager((manager) =>
      form === 'v4'
        ? this.emit(manager, 'addExistingRollupV4', {
            ...common,
            ...{ rollupCompatibilityID: 0, lastVerifiedBatchBeforeUpgrade: 0n },
          })
        : this.emit(manager, 'addExistingRollupV10', {
            ...common,
            ...{ rollupVerifierType: 1, lastVerifiedBatchBeforeUpgrade: 0n },
            ...{ programVKey: ZERO_HASH, initPessimisticRoot: ZERO_HASH },
          }),
    )
  }

  /** Settles a rollup's local exit root: L1 info leaf first, then the manager's event, as on chain. */
  settle(networkId: number, localExitRoot: Hex, event: SettlementEvent = 'trusted'): void {
    const { state, contracts } = this.block
    const rollup = state.rollups.get(networkId)
    if (!rollup) throw new Error(`network ${networkId} is not registered: createRollup first`)
    const args = { rollupID: networkId, numBatch: 0n, stateRoot: ZERO_HASH, exitRoot: localExitRoot }
    this.onManager((manager) => {
      if (event !== 'verifyBatchesPending') {
        state.rollups.set(networkId, { ...rollup, localExitRoot })
        this.publishRollupExitRoot(contracts.globalExitRootManager)
      }
      this.emit(manager, event === 'trusted' ? 'verifyBatchesTrusted' : 'verifyBatches', {
        ...args,
        aggregator: this.from,
      })
    })
  }

  /** Applies a root that `settle(…, 'verifyBatchesPending')` left pending. */
  consolidate(networkId: number, localExitRoot: Hex): void {
    const { state, contracts } = this.block
    this.onManager((manager) => {
      state.rollups.set(networkId, { ...state.rollups.get(networkId)!, localExitRoot })
      this.publishRollupExitRoot(contracts.globalExitRootManager)
      const args = { rollupID: networkId, numBatch: 0n, stateRoot: ZERO_HASH, exitRoot: localExitRoot }
      this.emit(manager, 'consolidatePendingState', { ...args, pendingStateNum: 1n })
    })
  }

  /** InitL1InfoRootMap: emitted once at the upgrade to banana. */
  initL1InfoRootMap(): void {
    const { state, contracts } = this.block
    const currentL1InfoRoot = rootOf(state.l1InfoTree)
    this.inContract(contracts.globalExitRootManager, encodeCall('run', ['0x']), () => {
      const leafCount = state.l1InfoTree.leafCount
      this.emit(contracts.globalExitRootManager, 'initL1InfoRootMap', { leafCount, currentL1InfoRoot })
    })
  }

  protected publishMainnetExitRoot(): void {
    const { state, contracts } = this.block
    state.lastUpdatedDepositCount = state.deposits.length
    state.mainnetExitRoot = localExitRootOf(state)
    this.inContract(contracts.globalExitRootManager, encodeCall('run', ['0x']), () => this.addL1InfoLeaf())
  }

  private publishRollupExitRoot(manager: Hex): void {
    const { state } = this.block
    state.rollupExitRoot = currentRollupExitRoot(state)
    state.rollupExitRoots.set(state.rollupExitRoot, rollupLocalExitRoots(state))
    this.inContract(manager, encodeCall('run', ['0x']), () => this.addL1InfoLeaf())
  }

  private addL1InfoLeaf(): void {
    const { state, contracts, parentHash, timestampSec, l1InfoTreeV2 } = this.block
    const { mainnetExitRoot, rollupExitRoot } = state
    const ger = globalExitRoot(mainnetExitRoot, rollupExitRoot)
    if (state.globalExitRoots.has(ger)) return
    state.globalExitRoots.set(ger, BigInt(parentHash))
    const index = state.l1InfoLeaves.length
    const leaf = l1InfoLeaf(ger, parentHash, timestampSec)
    state.l1InfoTree = append(state.l1InfoTree, leaf)
    const root = rootOf(state.l1InfoTree)
    state.l1InfoRoots.set(index + 1, root)
    const logIndex = this.emit(contracts.globalExitRootManager, 'l1InfoTree', {
      mainnetExitRoot,
      rollupExitRoot,
    })
    const roots = { mainnetExitRoot, rollupExitRoot, globalExitRoot: ger }
    state.l1InfoLeaves.push({
      ...this.position(logIndex),
      ...{ index, ...roots, previousBlockHash: parentHash, leaf, root },
    })
    if (l1InfoTreeV2)
      this.emit(contracts.globalExitRootManager, 'l1InfoTreeV2', {
        ...{ currentL1InfoRoot: root, leafCount: index + 1 },
        ...{ blockhash: BigInt(parentHash), minTimestamp: BigInt(timestampSec) },
      })
  }

  private onManager(body: (manager: Hex) => void): void {
    const { rollupManager } = this.block.contracts
    this.inContract(rollupManager, encodeCall('run', ['0x']), () => body(rollupManager))
  }

  protected position(logIndex: number): FakePosition {
    const { networkId, blockNumber, timestampSec } = this.block
    return { networkId, blockNumber, timestampSec, transactionHash: this.hash, logIndex }
  }
}
