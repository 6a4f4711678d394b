import type { AbiEvent, ContractEventArgsFromTopics, ContractEventName, Hex } from 'viem'
// Not from 'viem' itself: every thread would then load its clients and chains as well, which are most of the package.
import { decodeAbiParameters, decodeEventLog, hexToBytes } from 'viem/utils'
import {
  addExistingRollupV4Abi,
  addExistingRollupV9Abi,
  bridgeEventsAbi,
  claimEventV1Abi,
  forwardLeavesAbi,
  globalExitRootManagerEventsAbi,
  rollupManagerEventsAbi,
  setClaimV1Abi,
} from '../protocol/abis.js'
import type { ChainEvent, EventPosition, ForwardLeaf, RollupSettledEvent } from '../protocol/chainEvent.js'
import { decodeGlobalIndex } from '../protocol/globalIndex.js'
import { L1_NETWORK_ID } from '../protocol/networks.js'
import { asDepositCount, asLeafCount, asNetworkId, type NetworkId } from '../protocol/units.js'
import type { EventName } from './eventTopics.js'

/** @throws an error of viem or a RangeError when topics or data do not fit the event. */
export type ColdDecoder = (topics: readonly string[], data: string, position: EventPosition) => ChainEvent

type EventArgs<
  TAbi extends readonly AbiEvent[],
  TName extends ContractEventName<TAbi>,
> = ContractEventArgsFromTopics<TAbi, TName, true>

/** Makes one decoder: viem reads the arguments, `toEvent` turns them into our event. */
function decoder<const TAbi extends readonly AbiEvent[], TName extends ContractEventName<TAbi>>(
  abi: TAbi,
  name: TName,
  toEvent: (args: EventArgs<TAbi, TName>, position: EventPosition) => ChainEvent,
): ColdDecoder {
  const event = abi.filter((item) => item.name === name)
  return (topics, data, { blockNumber, logIndex, transactionHash }) => {
    // `as`: viem asks for 0x text by type, and also checks it and throws.
    const decoded = decodeEventLog({ abi: event, topics: topics as [Hex, ...Hex[]], data: data as Hex })
    return toEvent((decoded.args ?? {}) as EventArgs<TAbi, TName>, {
      blockNumber,
      logIndex,
      transactionHash,
    })
  }
}

const bridge = bridgeEventsAbi
const manager = globalExitRootManagerEventsAbi
const rollups = rollupManagerEventsAbi

/**
 * Decodes every event but BridgeEvent (see `decodeBridgeEvent`) through viem. The frequent events have fast decoders
 * (`decodeHotEvents.ts`) and come here only when those meet another encoding than the one that contracts write.
 */
export const coldDecoders: Readonly<Record<Exclude<EventName, 'BridgeEvent'>, ColdDecoder>> = {
  ClaimEventV1: decoder(claimEventV1Abi, 'ClaimEvent', (args, position) => ({
    type: 'claim',
    ...position,
    generation: 'v1',
    globalIndex: BigInt(asDepositCount(args.index)),
    originNetwork: asNetworkId(args.originNetwork),
    originAddress: hexToBytes(args.originAddress),
    destinationAddress: hexToBytes(args.destinationAddress),
    amount: args.amount,
    sender: null,
  })),
  ClaimEvent: decoder(bridge, 'ClaimEvent', (args, position) => ({
    type: 'claim',
    ...position,
    generation: 'v2',
    globalIndex: args.globalIndex,
    originNetwork: asNetworkId(args.originNetwork),
    originAddress: hexToBytes(args.originAddress),
    destinationAddress: hexToBytes(args.destinationAddress),
    amount: args.amount,
    sender: null,
  })),
  NewWrappedToken: decoder(bridge, 'NewWrappedToken', (args, position) => ({
    type: 'wrappedToken',
    ...position,
    originNetwork: asNetworkId(args.originNetwork),
    originTokenAddress: hexToBytes(args.originTokenAddress),
    wrappedTokenAddress: hexToBytes(args.wrappedTokenAddress),
    metadata: hexToBytes(args.metadata),
  })),
  EmergencyStateActivated: decoder(bridge, 'EmergencyStateActivated', (_, position) => ({
    type: 'emergencyState',
    ...position,
    active: true,
  })),
  EmergencyStateDeactivated: decoder(bridge, 'EmergencyStateDeactivated', (_, position) => ({
    type: 'emergencyState',
    ...position,
    active: false,
  })),
  SetSovereignTokenAddress: decoder(bridge, 'SetSovereignTokenAddress', (args, position) => ({
    type: 'sovereignToken',
    ...position,
    originNetwork: asNetworkId(args.originNetwork),
    originTokenAddress: hexToBytes(args.originTokenAddress),
    sovereignTokenAddress: hexToBytes(args.sovereignTokenAddress),
    isNotMintable: args.isNotMintable,
  })),
  // The event does not say which token: WETH always stands for the L1's ETH, network 0 and address zero.
  SetSovereignWETHAddress: decoder(bridge, 'SetSovereignWETHAddress', (args, position) => ({
    type: 'sovereignToken',
    ...position,
    originNetwork: L1_NETWORK_ID,
    originTokenAddress: new Uint8Array(20),
    sovereignTokenAddress: hexToBytes(args.sovereignWETHTokenAddress),
    isNotMintable: args.isNotMintable,
  })),
  RemoveLegacySovereignTokenAddress: decoder(
    bridge,
    'RemoveLegacySovereignTokenAddress',
    (args, position) => ({
      type: 'legacyTokenRemoved',
      ...position,
      sovereignTokenAddress: hexToBytes(args.sovereignTokenAddress),
    }),
  ),
  MigrateLegacyToken: decoder(bridge, 'MigrateLegacyToken', (args, position) => ({
    type: 'tokenMigrated',
    ...position,
    account: hexToBytes(args.sender),
    legacyTokenAddress: hexToBytes(args.legacyTokenAddress),
    updatedTokenAddress: hexToBytes(args.updatedTokenAddress),
    amount: args.amount,
  })),
  UnsetClaim: decoder(bridge, 'UnsetClaim', (args, position) => ({
    type: 'claimUnset',
    ...position,
    sourceNetwork: asNetworkId(args.sourceBridgeNetwork),
    depositCount: asDepositCount(args.leafIndex),
  })),
  UpdatedUnsetGlobalIndexHashChain: decoder(bridge, 'UpdatedUnsetGlobalIndexHashChain', (args, position) => ({
    type: 'claimUnset',
    ...position,
    ...decodeGlobalIndex(BigInt(args.unsetGlobalIndex)),
    hashChain: hexToBytes(args.newUnsetGlobalIndexHashChain),
  })),
  SetClaimV1: decoder(setClaimV1Abi, 'SetClaim', (args, position) => ({
    type: 'claimSet',
    ...position,
    sourceNetwork: asNetworkId(args.sourceNetwork),
    depositCount: asDepositCount(args.leafIndex),
    sender: null,
  })),
  SetClaim: decoder(bridge, 'SetClaim', (args, position) => ({
    type: 'claimSet',
    ...position,
    ...decodeGlobalIndex(BigInt(args.globalIndex)),
    sender: null,
  })),
  BackwardLET: decoder(bridge, 'BackwardLET', (args, position) => ({
    type: 'backwardLet',
    ...position,
    previousLeafCount: asLeafCount(Number(args.previousDepositCount)),
    previousRoot: hexToBytes(args.previousRoot),
    newLeafCount: asLeafCount(Number(args.newDepositCount)),
    newRoot: hexToBytes(args.newRoot),
  })),
  ForwardLET: decoder(bridge, 'ForwardLET', (args, position) => ({
    type: 'forwardLet',
    ...position,
    previousLeafCount: asLeafCount(Number(args.previousDepositCount)),
    previousRoot: hexToBytes(args.previousRoot),
    newLeafCount: asLeafCount(Number(args.newDepositCount)),
    newRoot: hexToBytes(args.newRoot),
    newLeaves: forwardLeaves(args.newLeaves),
    sender: null,
  })),
  UpdateGlobalExitRoot: decoder(manager, 'UpdateGlobalExitRoot', (args, position) => ({
    type: 'v1GlobalExitRoot',
    ...position,
    mainnetExitRoot: hexToBytes(args.mainnetExitRoot),
    rollupExitRoot: hexToBytes(args.rollupExitRoot),
  })),
  UpdateL1InfoTree: decoder(manager, 'UpdateL1InfoTree', (args, position) => ({
    type: 'l1InfoLeaf',
    ...position,
    mainnetExitRoot: hexToBytes(args.mainnetExitRoot),
    rollupExitRoot: hexToBytes(args.rollupExitRoot),
  })),
  UpdateL1InfoTreeV2: decoder(manager, 'UpdateL1InfoTreeV2', (args, position) => ({
    type: 'l1InfoRoot',
    ...position,
    l1InfoRoot: hexToBytes(args.currentL1InfoRoot),
    leafCount: asLeafCount(args.leafCount),
    previousBlockHash: wordBytes(args.blockhash),
    timestampSec: safeNumber(args.minTimestamp),
  })),
  InitL1InfoRootMap: decoder(manager, 'InitL1InfoRootMap', (args, position) => ({
    type: 'l1InfoRootMapInit',
    ...position,
    l1InfoRoot: hexToBytes(args.currentL1InfoRoot),
    leafCount: asLeafCount(args.leafCount),
  })),
  InsertGlobalExitRoot: decoder(manager, 'InsertGlobalExitRoot', (args, position) => ({
    type: 'gerInjected',
    ...position,
    globalExitRoot: hexToBytes(args.newGlobalExitRoot),
  })),
  RemoveLastGlobalExitRoot: decoder(manager, 'RemoveLastGlobalExitRoot', (args, position) => ({
    type: 'gerRemoved',
    ...position,
    globalExitRoot: hexToBytes(args.removedGlobalExitRoot),
  })),
  UpdateHashChainValue: decoder(manager, 'UpdateHashChainValue', (args, position) => ({
    type: 'gerInjected',
    ...position,
    globalExitRoot: hexToBytes(args.newGlobalExitRoot),
  })),
  UpdateRemovalHashChainValue: decoder(manager, 'UpdateRemovalHashChainValue', (args, position) => ({
    type: 'gerRemoved',
    ...position,
    globalExitRoot: hexToBytes(args.removedGlobalExitRoot),
  })),
  CreateNewRollup: decoder(rollups, 'CreateNewRollup', rollupAdded),
  AddExistingRollupV4: decoder(addExistingRollupV4Abi, 'AddExistingRollup', rollupAdded),
  AddExistingRollupV9: decoder(addExistingRollupV9Abi, 'AddExistingRollup', rollupAdded),
  AddExistingRollup: decoder(rollups, 'AddExistingRollup', rollupAdded),
  // With a pending-state time-out, the exit root of VerifyBatches becomes valid only later.
  VerifyBatches: decoder(rollups, 'VerifyBatches', rollupSettled('pending')),
  VerifyBatchesTrustedAggregator: decoder(
    rollups,
    'VerifyBatchesTrustedAggregator',
    rollupSettled('applied'),
  ),
  ConsolidatePendingState: decoder(rollups, 'ConsolidatePendingState', rollupSettled('applied')),
  OverridePendingState: decoder(rollups, 'OverridePendingState', rollupSettled('applied')),
}

function rollupAdded(
  args: { readonly rollupID: number; readonly chainID: bigint; readonly rollupAddress: Hex },
  position: EventPosition,
): ChainEvent {
  return {
    type: 'rollupAdded',
    ...position,
    networkId: rollupNetwork(args.rollupID),
    chainId: args.chainID,
    rollupAddress: hexToBytes(args.rollupAddress),
    initialLocalExitRoot: new Uint8Array(32),
  }
}

function rollupSettled(certainty: RollupSettledEvent['certainty']) {
  return (
    args: { readonly rollupID: number; readonly exitRoot: Hex },
    position: EventPosition,
  ): ChainEvent => ({
    type: 'rollupSettled',
    ...position,
    networkId: rollupNetwork(args.rollupID),
    localExitRoot: hexToBytes(args.exitRoot),
    certainty,
  })
}

/** Rollup ids start at 1. An id of 0 must not be taken for the L1, nor become leaf −1 of the rollup exit tree. */
function rollupNetwork(rollupId: number): NetworkId {
  if (rollupId === 0) throw new RangeError('rollup id 0 does not exist')
  return asNetworkId(rollupId)
}

function uint8(value: number): number {
  if (value > 0xff) throw new RangeError(`${value} is not a uint8`)
  return value
}

function safeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError(`${value} is not a time`)
  return Number(value)
}

function wordBytes(value: bigint): Uint8Array {
  return hexToBytes(`0x${value.toString(16).padStart(64, '0')}`)
}

function forwardLeaves(newLeaves: Hex): ForwardLeaf[] {
  const [leaves] = decodeAbiParameters(forwardLeavesAbi, newLeaves)
  return leaves.map((leaf) => ({
    leafType: uint8(leaf.leafType),
    originNetwork: asNetworkId(leaf.originNetwork),
    originAddress: hexToBytes(leaf.originAddress),
    destinationNetwork: asNetworkId(leaf.destinationNetwork),
    destinationAddress: hexToBytes(leaf.destinationAddress),
    amount: leaf.amount,
    metadata: hexToBytes(leaf.metadata),
  }))
}
