import type { Hex } from 'viem'
import { encodeAbiParameters, numberToHex, parseAbiParameters } from 'viem/utils'
import { encodeCall } from './fakeChainAbi.js'
import { FakeManagerTransaction } from './fakeChainManagers.js'
import { claimKey, type FakeDeposit, localExitRootOf } from './fakeChainState.js'
import { account, tokenAddress } from './fakeChainTransaction.js'
import {
  append,
  depositLeaf,
  EMPTY_FRONTIER,
  globalIndexOf,
  keccak,
  type LeafParts,
  ZERO_ADDRESS,
  ZERO_HASH,
} from './fakeChainTrees.js'

export interface DepositOptions extends Partial<LeafParts> {
  /** L1: publish the new mainnet exit root at once (default true). */
  readonly forceUpdate?: boolean
}

export interface ClaimOptions {
  readonly deposit: FakeDeposit
  /** As emitted. Default: the canonical global index. */
  readonly globalIndex?: bigint
  readonly generation?: 'v1' | 'v2'
  /** What the receiver of a message does during the call: nested claims, deposits. */
  readonly during?: () => void
  /** Wrapped token that this claim deploys. */
  readonly newWrappedToken?: Hex
  /** ClaimEvent before everything else (from al-v0.3.1 on) or last (older). Default: first. */
  readonly eventLast?: boolean
}

/** Default of `transactionSender`: the current transaction's. */
interface Sender {
  readonly caller: Hex
  readonly transactionSender?: Hex
}

const proof = Array<Hex>(32).fill(ZERO_HASH)

/**
 * One transaction: the bridge's operations here, those of the managers: each changes the contracts' state and emits what the contracts emit, in
 * their order.
 */
export class FakeTransactionBuilder extends FakeManagerTransaction {
  deposit(options: DepositOptions = {}): FakeDeposit {
    const { contracts, networkId } = this.block
    const isMessage = options.leafType === 1
    const caller = this.caller
    const parts: LeafParts = {
      leafType: options.leafType ?? 0,
      originNetwork: isMessage ? networkId : (options.originNetwork ?? 0),
      originAddress: isMessage ? caller : (options.originAddress ?? ZERO_ADDRESS),
      destinationNetwork: options.destinationNetwork ?? (networkId === 0 ? 1 : 0),
      destinationAddress: options.destinationAddress ?? account(99),
      amount: options.amount ?? 1n,
      metadata: options.metadata ?? '0x',
    }
    let made: FakeDeposit | undefined
    this.inContract(contracts.bridge, depositInput(parts), () => {
      if (!isMessage && parts.originAddress !== ZERO_ADDRESS) this.noise(tokenAddress(0))
      made = this.emitDeposit(parts, caller)
      if (networkId === 0 && options.forceUpdate !== false) this.publishMainnetExitRoot()
    })
    return made!
  }

  /** A BridgeEvent with deposit count `count`, whatever the tree's leaf count: a chain that breaks its own rules. */
  depositWithCount(count: number): void {
    const parts = { ...defaultParts, destinationNetwork: this.block.networkId === 0 ? 1 : 0 }
    this.inContract(this.block.contracts.bridge, depositInput(parts), () => {
      this.emit(this.block.contracts.bridge, 'bridge', { ...parts, depositCount: count })
    })
  }

  /** `updateGlobalExitRoot()` of the L1 bridge: publishes unforced deposits. */
  updateGlobalExitRoot(): void {
    this.inContract(this.block.contracts.bridge, encodeCall('updateGlobalExitRoot'), () => {
      if (this.block.state.lastUpdatedDepositCount < this.block.state.deposits.length)
        this.publishMainnetExitRoot()
    })
  }

  claim(options: ClaimOptions): void {
    const { deposit } = options
    const { contracts, networkId, state, sovereign } = this.block
    const caller = this.caller
    const globalIndex =
      options.generation === 'v1'
        ? BigInt(deposit.depositCount)
        : (options.globalIndex ?? deposit.globalIndex)
    const { originNetwork, originAddress, destinationAddress, amount } = deposit
    const told = { originNetwork, originAddress, destinationAddress, amount }
    const key = claimKey(deposit.networkId, deposit.depositCount)
    if (state.claims.has(key)) throw new Error(`AlreadyClaimed ${key} on network ${networkId}`)
    const emitClaim = () => {
      const logIndex =
        options.generation === 'v1'
          ? this.emit(contracts.bridge, 'claimV1', { index: deposit.depositCount, ...told })
          : this.emit(contracts.bridge, 'claim', { globalIndex, ...told })
      const source = { sourceNetwork: deposit.networkId, depositCount: deposit.depositCount }
      const who = { caller, transactionSender: this.from }
      state.claims.set(key, { ...this.position(logIndex), ...source, globalIndex, ...told, ...who })
    }
    this.inContract(contracts.bridge, claimInput(deposit, globalIndex), () => {
      if (sovereign && options.generation !== 'v1')
        this.emit(contracts.bridge, 'claimedHashChain', {
          claimedGlobalIndex: numberToHex(globalIndex, { size: 32 }),
          newClaimedGlobalIndexHashChain: keccak(numberToHex(globalIndex, { size: 32 })),
        })
      if (!options.eventLast) emitClaim()
      if (options.newWrappedToken) this.emitWrappedToken(deposit, options.newWrappedToken)
      if (options.during) this.through(destinationAddress, options.during)
      if (options.eventLast) emitClaim()
    })
  }

  unsetClaim(deposit: FakeDeposit, form: 'v9' | 'v10' = 'v10'): void {
    const unsetGlobalIndex = numberToHex(deposit.globalIndex, { size: 32 })
    this.onBridge((bridge) => {
      if (form === 'v9')
        this.emit(bridge, 'unsetClaim', {
          leafIndex: deposit.depositCount,
          sourceBridgeNetwork: deposit.networkId,
        })
      else
        this.emit(bridge, 'unsetHashChain', {
          unsetGlobalIndex,
          newUnsetGlobalIndexHashChain: keccak(unsetGlobalIndex),
        })
    })
    this.block.state.claims.delete(claimKey(deposit.networkId, deposit.depositCount))
  }

  /** A claim that an administrator sets. */
  setClaim(deposit: FakeDeposit, form: 'index' | 'globalIndex' = 'globalIndex'): void {
    const { depositCount, networkId: sourceNetwork, globalIndex, originNetwork, originAddress } = deposit
    let logIndex = 0
    this.onBridge((bridge) => {
      logIndex =
        form === 'index'
          ? this.emit(bridge, 'setClaimIndex', { leafIndex: depositCount, sourceNetwork })
          : this.emit(bridge, 'setClaimGlobalIndex', { globalIndex: numberToHex(globalIndex, { size: 32 }) })
    })
    this.block.state.claims.set(claimKey(sourceNetwork, depositCount), {
      ...this.position(logIndex),
      ...{ sourceNetwork, depositCount, globalIndex, originNetwork, originAddress },
      ...{ destinationAddress: deposit.destinationAddress, amount: deposit.amount },
      ...{ caller: null, transactionSender: this.from },
    })
  }

  setSovereignToken(originNetwork: number, originTokenAddress: Hex, sovereignTokenAddress: Hex): void {
    const told = { originNetwork, originTokenAddress, sovereignTokenAddress, isNotMintable: false }
    this.onBridge((bridge) => {
      const logIndex = this.emit(bridge, 'sovereignToken', told)
      this.addMapping(logIndex, { originNetwork, originTokenAddress }, sovereignTokenAddress, '0x', 1)
    })
  }

  removeLegacyToken(sovereignTokenAddress: Hex): void {
    this.onBridge((bridge) => this.emit(bridge, 'legacyTokenRemoved', { sovereignTokenAddress }))
  }

  setEmergency(active: boolean): void {
    this.onBridge((bridge) => this.emit(bridge, active ? 'emergencyActivated' : 'emergencyDeactivated', {}))
    this.block.state.emergency = active
  }

  /** Cuts the local exit tree to `newDepositCount` leaves. */
  backwardLet(newDepositCount: number): void {
    const { state } = this.block
    const before = {
      previousDepositCount: BigInt(state.deposits.length),
      previousRoot: localExitRootOf(state),
    }
    state.archived = [...state.archived, ...state.deposits.slice(newDepositCount)]
    state.deposits = state.deposits.slice(0, newDepositCount)
    state.localExitTree = state.deposits.reduce((tree, { leaf }) => append(tree, leaf), EMPTY_FRONTIER)
    const after = { newDepositCount: BigInt(newDepositCount), newRoot: localExitRootOf(state) }
    this.onBridge((bridge) => this.emit(bridge, 'backwardLet', { ...before, ...after }))
  }

  /** Appends leaves without BridgeEvents. */
  forwardLet(leaves: readonly LeafParts[]): void {
    const { state } = this.block
    const caller = this.caller
    const before = {
      previousDepositCount: BigInt(state.deposits.length),
      previousRoot: localExitRootOf(state),
    }
    const newLeaves = encodeAbiParameters(
      parseAbiParameters(
        '(uint8 leafType, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata)[]',
      ),
      [leaves],
    )
    this.onBridge((bridge) => {
      const logIndex = this.block.logs.length
      for (const parts of leaves) this.addLeaf(parts, logIndex, this.archivedSender(parts) ?? { caller })
      const after = { newDepositCount: BigInt(state.deposits.length), newRoot: localExitRootOf(state) }
      this.emit(bridge, 'forwardLet', { ...before, ...after, newLeaves })
    })
  }

  private emitDeposit(parts: LeafParts, caller: Hex): FakeDeposit {
    const depositCount = this.block.state.deposits.length
    const logIndex = this.emit(this.block.contracts.bridge, 'bridge', { ...parts, depositCount })
    return this.addLeaf(parts, logIndex, { caller })
  }

  /** Sender of the one archived deposit with this content. Undefined when there is none, or more than one. */
  private archivedSender(parts: LeafParts): Sender | undefined {
    const leaf = depositLeaf(parts)
    const twins = this.block.state.archived.filter((each) => each.leaf === leaf)
    return twins.length === 1 ? twins[0] : undefined
  }

  private addLeaf(parts: LeafParts, logIndex: number, sender: Sender): FakeDeposit {
    const { state, networkId } = this.block
    const depositCount = state.deposits.length
    const leaf = depositLeaf(parts)
    const globalIndex = globalIndexOf(networkId, depositCount)
    const { caller, transactionSender = this.from } = sender
    const who = { caller, transactionSender }
    const deposit = { ...this.position(logIndex), ...parts, depositCount, leaf, globalIndex, ...who }
    state.deposits.push(deposit)
    state.localExitTree = append(state.localExitTree, leaf)
    state.localExitRoots.set(
      localExitRootOf(state),
      state.deposits.map((each) => each.leaf),
    )
    return deposit
  }

  private emitWrappedToken(deposit: FakeDeposit, wrappedTokenAddress: Hex): void {
    const { originNetwork, originAddress: originTokenAddress, metadata } = deposit
    const args = { originNetwork, originTokenAddress, wrappedTokenAddress, metadata }
    const logIndex = this.emit(this.block.contracts.bridge, 'wrappedToken', args)
    this.addMapping(logIndex, { originNetwork, originTokenAddress }, wrappedTokenAddress, metadata, 0)
  }

  private addMapping(
    logIndex: number,
    origin: { originNetwork: number; originTokenAddress: Hex },
    wrappedTokenAddress: Hex,
    metadata: Hex,
    tokenType: number,
  ): void {
    const token = { ...origin, wrappedTokenAddress, metadata, isNotMintable: false, tokenType }
    this.block.state.tokenMappings.push({ ...this.position(logIndex), ...token })
  }

  private onBridge(body: (bridge: Hex) => void): void {
    const { bridge } = this.block.contracts
    this.inContract(bridge, encodeCall('run', ['0x']), () => body(bridge))
  }
}

const defaultParts: LeafParts = {
  leafType: 0,
  originNetwork: 0,
  originAddress: ZERO_ADDRESS,
  destinationNetwork: 1,
  destinationAddress: account(99),
  amount: 1n,
  metadata: '0x',
}

function depositInput(parts: LeafParts): Hex {
  const { destinationNetwork, destinationAddress, amount, originAddress, metadata } = parts
  return parts.leafType === 1
    ? encodeCall('bridgeMessage', [destinationNetwork, destinationAddress, true, metadata])
    : encodeCall('bridgeAsset', [destinationNetwork, destinationAddress, amount, originAddress, true, '0x'])
}

function claimInput(deposit: FakeDeposit, globalIndex: bigint): Hex {
  const { originNetwork, originAddress, destinationNetwork, destinationAddress, amount, metadata } = deposit
  return encodeCall(deposit.leafType === 1 ? 'claimMessage' : 'claimAsset', [
    ...[proof, proof, globalIndex, ZERO_HASH, ZERO_HASH],
    ...[originNetwork, originAddress, destinationNetwork, destinationAddress, amount, metadata],
  ])
}
