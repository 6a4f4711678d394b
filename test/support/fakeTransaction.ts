import type { AbiFunction, Hex } from 'viem'
import {
  bytesToHex,
  concat,
  encodeAbiParameters,
  hexToBytes,
  numberToHex,
  parseAbi,
  slice,
  stringToHex,
  toFunctionSelector,
} from 'viem/utils'
import { bridgeAbi } from '../../src/devnet/contractAbis.js'
import { forwardLeavesAbi } from '../../src/protocol/abis.js'
import { encodeEvent, eventNamed, type FakeEventName } from './encodedLogs.js'
import type { FakeBlockBuilder } from './fakeChain.js'
import {
  account,
  archivedIn,
  claimKey,
  type FakeContracts,
  type FakeDeposit,
  type FakePosition,
  type FakeTokenMapping,
  having,
  localExitRootOf,
  tokenAddress,
  without,
} from './fakeState.js'
import {
  ContractTree,
  depositLeaf,
  globalExitRoot,
  globalIndexOf,
  keccak,
  type LeafParts,
  l1InfoLeaf,
  naiveRoot,
  rollupLeaves,
  ZERO_ADDRESS,
  ZERO_HASH,
} from './naiveTree.js'

/*
 * What a transaction changes in the contracts of the fake chain, and what they emit, in the contracts' order. Encoded by viem,
 * never by the code under test.
 */

export interface FakeLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly logIndex: number
  readonly transactionIndex: number
  readonly transactionHash: Hex
  /** Who called the contract. */
  readonly caller: Hex
}

/** One frame of geth's callTracer, with its logs (`withLog`). */
export interface FakeFrame {
  type: 'CALL' | 'DELEGATECALL' | 'STATICCALL'
  from: Hex
  to: Hex
  input: Hex
  value: Hex
  gas: Hex
  gasUsed: Hex
  output: Hex
  error?: string
  logs: Array<{ address: Hex; topics: readonly Hex[]; data: Hex; position: Hex; index: Hex }>
  calls: FakeFrame[]
}

function frame(type: FakeFrame['type'], from: Hex, to: Hex, input = RUN): FakeFrame {
  const cost = { value: '0x0', gas: '0x30d40', gasUsed: '0x5208' } as const
  return { type, from, to, input, ...cost, output: '0x', logs: [], calls: [] }
}

const functions = [...bridgeAbi, ...parseAbi(['function run(bytes payload)'])]

/** Input of a call: `args` by name, more than the function takes. */
function inputOf(name: string, args: Readonly<Record<string, unknown>>): Hex {
  const called = functions.find((each) => each.type === 'function' && each.name === name) as AbiFunction
  const values = called.inputs.map((input) => args[input.name ?? ''])
  return concat([toFunctionSelector(called), encodeAbiParameters(called.inputs, values)])
}

/** Input of a call that says nothing. */
const RUN = inputOf('run', { payload: '0x' })
const siblings = Array<Hex>(32).fill(ZERO_HASH)
/** What the fake chain does not check. */
const PROOF = {
  ...{ smtProofLocalExitRoot: siblings, smtProofRollupExitRoot: siblings },
  ...{ mainnetExitRoot: ZERO_HASH, rollupExitRoot: ZERO_HASH },
}

export interface DepositOptions extends Partial<LeafParts> {
  /** L1: publish the new mainnet exit root at once (default true). */
  readonly forceUpdate?: boolean
}

/** What a claim says of its deposit. */
export type ClaimedDeposit = LeafParts & Pick<FakeDeposit, 'networkId' | 'depositCount' | 'globalIndex'>

type FakeSender = Pick<FakeDeposit, 'caller' | 'transactionSender'>

export interface ClaimOptions {
  readonly deposit: ClaimedDeposit
  /** Also where it is claimed already, which the contract refuses. */
  readonly again?: boolean
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

/** `silent`: a legacy manager, whose node writes the map without an event. */
type GerForm = 'hashChain' | 'insert' | 'silent'

/** One transaction. Bridge contracts answer calls through a DELEGATECALL to their implementation, as on real chains. */
export class FakeTransactionBuilder {
  readonly hash: Hex
  readonly index: number
  readonly from: Hex
  private readonly block: FakeBlockBuilder
  /** Frames that are not closed yet, outermost first. */
  private readonly stack: FakeFrame[] = []
  private top: FakeFrame | undefined

  constructor(block: FakeBlockBuilder, hash: Hex, from: Hex, to: Hex | undefined) {
    this.block = block
    this.hash = hash
    this.index = block.transactions.length
    this.from = from
    if (to === undefined) return
    this.top = frame('CALL', from, to)
    this.stack.push(this.top)
  }

  /** The transaction as callTracer returns it. */
  trace(): FakeFrame {
    return this.top ?? frame('CALL', this.from, account(0), '0x')
  }

  /** Runs `body` inside a call of another contract, which becomes the caller of the calls in `body`. */
  through(contract: Hex, body: () => void): void {
    this.inFrame(frame('CALL', this.caller, contract), body)
  }

  /** A log of a contract other than the bridge's. */
  noise(address: Hex = tokenAddress(0)): void {
    const args = { from: this.from, to: ZERO_ADDRESS, value: BigInt(this.index + 1) }
    this.through(address, () => this.emit(address, 'Transfer', args))
  }

  /** A reverted call of a bridge contract inside the transaction: it is in the trace and leaves no log. */
  revertedCall(target: Hex, input: Hex): void {
    this.inFrame({ ...frame('CALL', this.caller, target, input), error: 'execution reverted' }, () => {})
  }

  /** A log of any shape, for logs that no contract here emits. @returns its log index. */
  emitRaw(address: Hex, { topics, data }: { topics: readonly Hex[]; data: Hex }): number {
    if (this.index !== this.block.transactions.length - 1)
      throw new Error('a later transaction has begun already')
    const current = this.stack.at(-1)
    if (current === undefined) throw new Error('a log needs a call: name `to` or make an operation first')
    const logIndex = this.block.logs.length
    const transaction = { transactionIndex: this.index, transactionHash: this.hash }
    // A proxy's DELEGATECALL is part of the call of the proxy.
    const caller = this.stack.findLast(({ type }) => type !== 'DELEGATECALL')!.from
    this.block.logs.push({ address, topics, data, logIndex, ...transaction, caller })
    const position = numberToHex(current.calls.length)
    current.logs.push({ address, topics, data, position, index: numberToHex(logIndex) })
    return logIndex
  }

  deposit(options: DepositOptions = {}): FakeDeposit {
    const { network } = this.block
    const { forceUpdate = true, ...parts } = options
    const { caller, sender } = this
    const leaf: LeafParts = {
      ...{ leafType: 0, originNetwork: 0, originAddress: ZERO_ADDRESS, amount: 1n, metadata: '0x' },
      ...{ destinationNetwork: network.networkId === 0 ? 1 : 0, destinationAddress: account(99) },
      ...parts,
      ...(parts.leafType === 1 ? { originNetwork: network.networkId, originAddress: caller } : {}),
    }
    const name = leaf.leafType === 1 ? 'bridgeMessage' : 'bridgeAsset'
    const call = { token: leaf.originAddress, forceUpdateGlobalExitRoot: true, permitData: '0x' }
    let made: FakeDeposit | undefined
    this.inContract('bridge', inputOf(name, { ...leaf, ...call }), (bridge) => {
      if (leaf.leafType === 0 && leaf.originAddress !== ZERO_ADDRESS) this.noise()
      const depositCount = this.block.state.deposits.length
      const logIndex = this.emit(bridge, 'BridgeEvent', { ...leaf, depositCount })
      made = this.addLeaf(leaf, logIndex, sender, false)
      if (network.networkId === 0 && forceUpdate) this.publishMainnetExitRoot()
    })
    return made!
  }

  /** `updateGlobalExitRoot()` of the L1 bridge: publishes unforced deposits. */
  updateGlobalExitRoot(): void {
    const { state } = this.block
    this.inContract('bridge', inputOf('updateGlobalExitRoot', {}), () => {
      if (state.lastUpdatedDepositCount < state.deposits.length) this.publishMainnetExitRoot()
    })
  }

  claim({ deposit, generation, ...options }: ClaimOptions): void {
    const { sender } = this
    const { state, network } = this.block
    const { depositCount } = deposit
    const isV1 = generation === 'v1'
    const globalIndex = isV1 ? BigInt(depositCount) : (options.globalIndex ?? deposit.globalIndex)
    const claimed = { ...deposit, globalIndex, originTokenAddress: deposit.originAddress }
    const key = claimKey(deposit.networkId, depositCount)
    if (state.claims.has(key) && !options.again)
      throw new Error(`AlreadyClaimed ${key} on network ${network.networkId}`)
    const input = inputOf(deposit.leafType === 1 ? 'claimMessage' : 'claimAsset', { ...PROOF, ...claimed })
    this.inContract('bridge', input, (bridge) => {
      const emitClaim = () => {
        const name = isV1 ? 'ClaimEventV1' : 'ClaimEvent'
        const logIndex = this.emit(bridge, name, { index: depositCount, ...claimed })
        this.addClaim(logIndex, { ...claimed, ...sender }, false)
      }
      // Sovereign bridges also emit every claim in a hash chain.
      if (network.networkId > 0 && network.world.sovereign && !isV1) {
        const claimedGlobalIndex = numberToHex(globalIndex, { size: 32 })
        const newClaimedGlobalIndexHashChain = keccak(claimedGlobalIndex)
        const args = { claimedGlobalIndex, newClaimedGlobalIndexHashChain }
        this.emit(bridge, 'UpdatedClaimedGlobalIndexHashChain', args)
      }
      if (!options.eventLast) emitClaim()
      if (options.newWrappedToken) {
        const args = { ...claimed, wrappedTokenAddress: options.newWrappedToken }
        this.addMapping(this.emit(bridge, 'NewWrappedToken', args), args)
      }
      if (options.during) this.through(deposit.destinationAddress, options.during)
      if (options.eventLast) emitClaim()
    })
  }

  unsetClaim(deposit: ClaimedDeposit, form: 'v9' | 'v10' = 'v10'): void {
    const { state } = this.block
    const unsetGlobalIndex = numberToHex(deposit.globalIndex, { size: 32 })
    this.on('bridge', form === 'v9' ? 'UnsetClaim' : 'UpdatedUnsetGlobalIndexHashChain', {
      ...{ leafIndex: deposit.depositCount, sourceBridgeNetwork: deposit.networkId },
      ...{ unsetGlobalIndex, newUnsetGlobalIndexHashChain: keccak(unsetGlobalIndex) },
    })
    state.claims = without(state.claims, claimKey(deposit.networkId, deposit.depositCount))
  }

  /** A claim that an administrator sets. */
  setClaim(deposit: ClaimedDeposit, form: 'index' | 'globalIndex' = 'globalIndex'): void {
    const { sender } = this
    const { depositCount, networkId: sourceNetwork, globalIndex } = deposit
    const logIndex = this.on('bridge', form === 'index' ? 'SetClaimV1' : 'SetClaim', {
      ...{ leafIndex: depositCount, sourceNetwork, globalIndex: numberToHex(globalIndex, { size: 32 }) },
    })
    if (!this.block.state.claims.has(claimKey(sourceNetwork, depositCount)))
      this.addClaim(logIndex, { ...deposit, ...sender }, true)
  }

  setSovereignToken(
    originNetwork: number,
    originTokenAddress: Hex,
    sovereignTokenAddress: Hex,
    isNotMintable = false,
  ): void {
    const told = { originNetwork, originTokenAddress, sovereignTokenAddress, isNotMintable }
    const logIndex = this.on('bridge', 'SetSovereignTokenAddress', told)
    this.addMapping(logIndex, { ...told, wrappedTokenAddress: sovereignTokenAddress })
  }

  removeLegacyToken(sovereignTokenAddress: Hex): void {
    const { state } = this.block
    this.on('bridge', 'RemoveLegacySovereignTokenAddress', { sovereignTokenAddress })
    state.tokenMappings = state.tokenMappings.map((each) =>
      each.wrappedTokenAddress === sovereignTokenAddress ? { ...each, isRemoved: true } : each,
    )
  }

  /** An account changes its balance of a token that was replaced. */
  migrateLegacyToken(legacyTokenAddress: Hex, updatedTokenAddress: Hex, amount: bigint): void {
    this.on('bridge', 'MigrateLegacyToken', {
      sender: this.caller,
      legacyTokenAddress,
      updatedTokenAddress,
      amount,
    })
  }

  setEmergency(active: boolean): void {
    this.on('bridge', active ? 'EmergencyStateActivated' : 'EmergencyStateDeactivated', {})
    this.block.state.emergency = active
  }

  /** Cuts the local exit tree to `newDepositCount` leaves. */
  backwardLet(newDepositCount: number): void {
    const { state } = this.block
    this.moveTree('BackwardLET', {}, () => {
      state.deposits = state.deposits.slice(0, newDepositCount)
      state.localExitTree = state.deposits.reduce(
        (tree, { leaf }) => tree.append(hexToBytes(leaf)),
        new ContractTree(),
      )
    })
  }

  /** Appends leaves without BridgeEvents. A leaf that was archived once, and only once, keeps its sender. */
  forwardLet(leaves: readonly LeafParts[]): void {
    const { sender } = this
    const { state, logs } = this.block
    this.moveTree('ForwardLET', { newLeaves: encodeAbiParameters(forwardLeavesAbi, [leaves]) }, () => {
      for (const parts of leaves) {
        const leaf = depositLeaf(parts)
        const twins = archivedIn(state).filter((each) => each.leaf === leaf)
        this.addLeaf(parts, logs.length, twins.length === 1 ? twins[0]! : sender, true)
      }
    })
  }

  injectGer(ger: Hex, form: GerForm = 'hashChain'): void {
    const { state, timestampSec } = this.block
    if (!state.globalExitRoots.has(ger)) state.injections = [...state.injections, ger]
    state.globalExitRoots = having(state.globalExitRoots, ger, BigInt(timestampSec))
    if (form === 'hashChain') state.injectionHashChain = keccak(state.injectionHashChain, ger)
    const args = { newGlobalExitRoot: ger, newHashChainValue: state.injectionHashChain }
    const name = form === 'insert' ? 'InsertGlobalExitRoot' : 'UpdateHashChainValue'
    if (form !== 'silent') this.on('globalExitRootManager', name, args)
  }

  removeGer(ger: Hex, form: GerForm = 'hashChain'): void {
    const { state } = this.block
    state.globalExitRoots = without(state.globalExitRoots, ger)
    if (form === 'hashChain') state.removalHashChain = keccak(state.removalHashChain, ger)
    const args = { removedGlobalExitRoot: ger, newRemovalHashChainValue: state.removalHashChain }
    const name = form === 'insert' ? 'RemoveLastGlobalExitRoot' : 'UpdateRemovalHashChainValue'
    if (form !== 'silent') this.on('globalExitRootManager', name, args)
  }

  createRollup(networkId: number, chainId: number): void {
    this.addRollup('CreateNewRollup', networkId, chainId, ZERO_HASH)
  }

  /** `localExitRoot` is in no event, and enters the rollup exit root with the next settlement. */
  addExistingRollup(networkId: number, chainId: number, localExitRoot: Hex): void {
    this.addRollup('AddExistingRollup', networkId, chainId, localExitRoot)
  }

  /** Settles a rollup's local exit root: L1 info leaf first, then the manager's event, as on chain. `pending`: no leaf yet. */
  settle(networkId: number, localExitRoot: Hex, form: 'trusted' | 'untrusted' | 'pending' = 'trusted'): void {
    const { state } = this.block
    if (!state.rollups.has(networkId))
      throw new Error(`network ${networkId} is not registered: createRollup first`)
    this.inContract('rollupManager', RUN, (manager) => {
      if (form !== 'pending') {
        state.rollups = having(state.rollups, networkId, localExitRoot)
        state.rollupExitRoot = naiveRoot(rollupLeaves(state.rollups))
        state.rollupExitRoots = having(state.rollupExitRoots, state.rollupExitRoot, state.rollups)
        this.addL1InfoLeaf()
      }
      const name = form === 'trusted' ? 'VerifyBatchesTrustedAggregator' : 'VerifyBatches'
      const batch = { numBatch: 0n, stateRoot: ZERO_HASH, aggregator: this.from }
      this.emit(manager, name, { rollupID: networkId, exitRoot: localExitRoot, ...batch })
    })
  }

  /** InitL1InfoRootMap: emitted once at the upgrade to banana. */
  initL1InfoRootMap(): void {
    const { leafCount, root } = this.block.state.l1InfoTree
    this.on('globalExitRootManager', 'InitL1InfoRootMap', { leafCount, currentL1InfoRoot: bytesToHex(root) })
  }

  /** The caller of the next call. */
  private get caller(): Hex {
    return this.stack.at(-1)?.to ?? this.from
  }

  /** The sender of a deposit or claim that the next call makes. */
  private get sender(): FakeSender {
    return { caller: this.caller, transactionSender: this.from }
  }

  private inFrame(next: FakeFrame, body: () => void): void {
    const parent = this.stack.at(-1)
    if (parent) parent.calls.push(next)
    else if (this.top)
      throw new Error('a direct transaction makes one call: name a contract as `to` for more')
    else this.top = next
    this.stack.push(next)
    body()
    this.stack.pop()
  }

  private inContract(name: keyof FakeContracts, input: Hex, body: (address: Hex) => void): void {
    const target = this.block.network.contracts[name]
    const implementation = slice(keccak(target, stringToHex('implementation')), 12)
    this.inFrame(frame('CALL', this.caller, target, input), () =>
      this.inFrame(frame('DELEGATECALL', target, implementation, input), () => body(target)),
    )
  }

  /** A call of a contract that does nothing but emit one event. @returns its log index. */
  private on(contract: keyof FakeContracts, name: FakeEventName, args: Record<string, unknown>): number {
    let logIndex = 0
    this.inContract(contract, RUN, (address) => {
      logIndex = this.emit(address, name, args)
    })
    return logIndex
  }

  private emit(address: Hex, name: FakeEventName, args: Record<string, unknown>): number {
    return this.emitRaw(address, encodeEvent(eventNamed(name), args))
  }

  private position(logIndex: number): FakePosition {
    const { network, number, timestampSec } = this.block
    const { networkId } = network
    return { networkId, blockNumber: number, timestampSec, transactionHash: this.hash, logIndex }
  }

  private addLeaf(
    { ...parts }: LeafParts,
    logIndex: number,
    { caller, transactionSender }: FakeSender,
    isForwardLeaf: boolean,
  ): FakeDeposit {
    const { state, network } = this.block
    const depositCount = state.deposits.length
    const leaf = depositLeaf(parts)
    const globalIndex = globalIndexOf(network.networkId, depositCount)
    const named = { depositCount, leaf, globalIndex, caller, transactionSender, isForwardLeaf }
    const deposit = { ...parts, ...this.position(logIndex), ...named }
    state.deposits = [...state.deposits, deposit]
    state.localExitTree = state.localExitTree.append(hexToBytes(leaf))
    const leaves = state.deposits.map((each) => each.leaf)
    state.localExitRoots = having(state.localExitRoots, localExitRootOf(state), leaves)
    return deposit
  }

  private addClaim(
    logIndex: number,
    { networkId: sourceNetwork, depositCount, globalIndex, ...told }: ClaimedDeposit & FakeSender,
    isSetByAdministrator: boolean,
  ): void {
    const { state } = this.block
    const { originNetwork, originAddress, destinationAddress, amount, caller, transactionSender } = told
    const claim = {
      ...this.position(logIndex),
      ...{ sourceNetwork, depositCount, globalIndex, originNetwork, originAddress },
      ...{ destinationAddress, amount, caller, transactionSender, isSetByAdministrator },
    }
    state.claims = having(state.claims, claimKey(sourceNetwork, depositCount), claim)
    state.claimHistory = [...state.claimHistory, claim]
  }

  private addMapping(
    logIndex: number,
    told: Pick<FakeTokenMapping, 'originNetwork' | 'originTokenAddress' | 'wrappedTokenAddress'>,
  ): void {
    const { state } = this.block
    const { originNetwork, originTokenAddress, wrappedTokenAddress } = told
    const token = { originNetwork, originTokenAddress, wrappedTokenAddress }
    const mapping = { ...this.position(logIndex), ...token, isRemoved: false }
    state.tokenMappings = [...state.tokenMappings, mapping]
  }

  private moveTree(name: 'BackwardLET' | 'ForwardLET', args: object, move: () => void): void {
    const { state } = this.block
    const before = state.deposits
    const previous = { previousDepositCount: BigInt(before.length), previousRoot: localExitRootOf(state) }
    move()
    const after = state.deposits
    state.treeMoves = [...state.treeMoves, { isCut: name === 'BackwardLET', before, after }]
    const next = { newDepositCount: BigInt(after.length), newRoot: localExitRootOf(state) }
    this.on('bridge', name, { ...previous, ...next, ...args })
  }

  private addRollup(
    name: 'CreateNewRollup' | 'AddExistingRollup',
    networkId: number,
    chainId: number,
    localExitRoot: Hex,
  ): void {
    const { state } = this.block
    state.rollups = having(state.rollups, networkId, localExitRoot)
    this.on('rollupManager', name, {
      ...{ rollupID: networkId, rollupTypeID: 1, rollupAddress: account(1000 + networkId) },
      ...{ chainID: BigInt(chainId), gasTokenAddress: ZERO_ADDRESS, forkID: 0n, rollupVerifierType: 1 },
      ...{ lastVerifiedBatchBeforeUpgrade: 0n, programVKey: ZERO_HASH, initPessimisticRoot: ZERO_HASH },
    })
  }

  private publishMainnetExitRoot(): void {
    const { state } = this.block
    state.lastUpdatedDepositCount = state.deposits.length
    state.mainnetExitRoot = localExitRootOf(state)
    this.addL1InfoLeaf()
  }

  private addL1InfoLeaf(): void {
    const { state, parentHash, timestampSec, network } = this.block
    const { mainnetExitRoot, rollupExitRoot } = state
    const ger = globalExitRoot(mainnetExitRoot, rollupExitRoot)
    this.inContract('globalExitRootManager', RUN, (manager) => {
      if (state.globalExitRoots.has(ger)) return
      state.globalExitRoots = having(state.globalExitRoots, ger, BigInt(parentHash))
      const leaf = l1InfoLeaf(ger, parentHash, timestampSec)
      state.l1InfoTree = state.l1InfoTree.append(hexToBytes(leaf))
      const logIndex = this.emit(manager, 'UpdateL1InfoTree', { mainnetExitRoot, rollupExitRoot })
      const roots = { mainnetExitRoot, rollupExitRoot, globalExitRoot: ger }
      const entry = { index: state.l1InfoLeaves.length, previousBlockHash: parentHash, leaf }
      state.l1InfoLeaves = [...state.l1InfoLeaves, { ...this.position(logIndex), ...roots, ...entry }]
      if (!network.world.l1InfoTreeV2) return
      const { leafCount, root } = state.l1InfoTree
      this.emit(manager, 'UpdateL1InfoTreeV2', {
        ...{ currentL1InfoRoot: bytesToHex(root), leafCount },
        ...{ blockhash: BigInt(parentHash), minTimestamp: BigInt(timestampSec) },
      })
    })
  }
}
