import assert from 'node:assert/strict'
import type { AbiEvent } from 'viem'
import { encodeAbiParameters } from 'viem/utils'
import type { EventFilter } from '../../../src/events/decodeLog.js'
import {
  addExistingRollupV4Abi,
  addExistingRollupV9Abi,
  bridgeEventsAbi,
  claimEventV1Abi,
  forwardLeavesAbi,
  globalExitRootManagerEventsAbi,
  rollupManagerEventsAbi,
  setClaimV1Abi,
} from '../../../src/protocol/abis.js'
import { contracts, l1Filter, l2Filter } from '../../support/encodedLogs.js'

export const address = (byte: string): `0x${string}` => `0x${byte.repeat(20)}`
export const hash = (byte: string): `0x${string}` => `0x${byte.repeat(32)}`
const bytes20 = (byte: number) => new Uint8Array(20).fill(byte)
const bytes32 = (byte: number) => new Uint8Array(32).fill(byte)

/** One event of one contract generation, and how the service decodes it. */
export interface EventCase {
  readonly title: string
  readonly event: AbiEvent
  readonly args: Readonly<Record<string, unknown>>
  readonly expected: object
  readonly emitter: string
  readonly filter: EventFilter
}

export const eventNamed = (abi: readonly AbiEvent[], name: string): AbiEvent => {
  const event = abi.find((item) => item.name === name)
  assert.ok(event, name)
  return event
}
const on =
  (emitter: string, filter: EventFilter, abi: readonly AbiEvent[]) =>
  (name: string, args: Readonly<Record<string, unknown>>, expected: object, title = name): EventCase => ({
    title,
    event: eventNamed(abi, name),
    args,
    expected,
    emitter,
    filter,
  })

const bridge = on(contracts.bridge, l2Filter, bridgeEventsAbi)
const l1Manager = on(contracts.globalExitRootManager, l1Filter, globalExitRootManagerEventsAbi)
const l2Manager = on(contracts.globalExitRootManager, l2Filter, globalExitRootManagerEventsAbi)
const rollups = on(contracts.rollupManager, l1Filter, rollupManagerEventsAbi)
export const settlement = { numBatch: 5n, stateRoot: hash('51'), exitRoot: hash('e1') }
const rollup = { rollupID: 3, rollupAddress: address('c3'), chainID: 2n ** 64n - 1n }
const added = {
  type: 'rollupAdded',
  networkId: 3,
  chainId: 2n ** 64n - 1n,
  rollupAddress: bytes20(0xc3),
  initialLocalExitRoot: bytes32(0),
}
const existing = {
  ...rollup,
  forkID: 12n,
  rollupVerifierType: 1,
  rollupCompatibilityID: 1,
  lastVerifiedBatchBeforeUpgrade: 0n,
  programVKey: hash('00'),
  initPessimisticRoot: hash('01'),
}
const settled = (certainty: string) => ({
  type: 'rollupSettled',
  networkId: 3,
  localExitRoot: bytes32(0xe1),
  certainty,
})
/** Global indexes: with the mainnet flag, with rollup index 4, and the latter with unused bits set. */
const mainnetIndex = (2n ** 64n + 9n).toString(16).padStart(64, '0')
const rollupIndex = (4n * 2n ** 32n + 9n).toString(16).padStart(64, '0')
const dirtyIndex = (2n ** 200n + 4n * 2n ** 32n + 9n).toString(16).padStart(64, '0')
const token = { originNetwork: 1, originTokenAddress: address('a1') }

/** Every event that changes the stored state, in every form. */
export const eventCases: readonly EventCase[] = [
  bridge(
    'BridgeEvent',
    {
      leafType: 1,
      originNetwork: 4,
      originAddress: address('11'),
      destinationNetwork: 2 ** 32 - 1,
      destinationAddress: address('22'),
      amount: 2n ** 256n - 1n,
      metadata: '0xabcdef',
      depositCount: 2 ** 32 - 2,
    },
    {
      type: 'deposit',
      leafType: 1,
      originNetwork: 4,
      originAddress: bytes20(0x11),
      destinationNetwork: 2 ** 32 - 1,
      destinationAddress: bytes20(0x22),
      amount: 2n ** 256n - 1n,
      metadata: Uint8Array.of(0xab, 0xcd, 0xef),
      depositCount: 2 ** 32 - 2,
      sender: null,
    },
  ),
  bridge(
    'ClaimEvent',
    {
      globalIndex: 2n ** 255n + 2n ** 64n + 5n,
      originNetwork: 0,
      originAddress: address('00'),
      destinationAddress: address('22'),
      amount: 0n,
    },
    {
      type: 'claim',
      generation: 'v2',
      globalIndex: 2n ** 255n + 2n ** 64n + 5n,
      originNetwork: 0,
      originAddress: bytes20(0),
      destinationAddress: bytes20(0x22),
      amount: 0n,
      sender: null,
    },
    'ClaimEvent keeps a global index with unused bits set as emitted',
  ),
  on(contracts.bridge, l1Filter, claimEventV1Abi)(
    'ClaimEvent',
    {
      index: 77,
      originNetwork: 0,
      originAddress: address('00'),
      destinationAddress: address('22'),
      amount: 1n,
    },
    {
      type: 'claim',
      generation: 'v1',
      globalIndex: 77n,
      originNetwork: 0,
      originAddress: bytes20(0),
      destinationAddress: bytes20(0x22),
      amount: 1n,
      sender: null,
    },
    'ClaimEvent before etrog has the bare index',
  ),
  bridge(
    'NewWrappedToken',
    { ...token, wrappedTokenAddress: address('b2'), metadata: '0x01' },
    {
      type: 'wrappedToken',
      originNetwork: 1,
      originTokenAddress: bytes20(0xa1),
      wrappedTokenAddress: bytes20(0xb2),
      metadata: Uint8Array.of(1),
    },
  ),
  bridge('EmergencyStateActivated', {}, { type: 'emergencyState', active: true }),
  bridge('EmergencyStateDeactivated', {}, { type: 'emergencyState', active: false }),
  bridge(
    'SetSovereignTokenAddress',
    { ...token, sovereignTokenAddress: address('b2'), isNotMintable: true },
    {
      type: 'sovereignToken',
      originNetwork: 1,
      originTokenAddress: bytes20(0xa1),
      sovereignTokenAddress: bytes20(0xb2),
      isNotMintable: true,
    },
  ),
  bridge(
    'SetSovereignWETHAddress',
    { sovereignWETHTokenAddress: address('b3'), isNotMintable: false },
    {
      type: 'sovereignToken',
      originNetwork: 0,
      originTokenAddress: bytes20(0),
      sovereignTokenAddress: bytes20(0xb3),
      isNotMintable: false,
    },
  ),
  bridge(
    'RemoveLegacySovereignTokenAddress',
    { sovereignTokenAddress: address('b4') },
    { type: 'legacyTokenRemoved', sovereignTokenAddress: bytes20(0xb4) },
  ),
  bridge(
    'MigrateLegacyToken',
    {
      ...{ sender: address('ac'), legacyTokenAddress: address('b4'), updatedTokenAddress: address('b5') },
      amount: 2n ** 200n,
    },
    {
      ...{ type: 'tokenMigrated', account: bytes20(0xac), legacyTokenAddress: bytes20(0xb4) },
      ...{ updatedTokenAddress: bytes20(0xb5), amount: 2n ** 200n },
    },
  ),
  bridge(
    'UnsetClaim',
    { leafIndex: 9, sourceBridgeNetwork: 5 },
    { type: 'claimUnset', sourceNetwork: 5, depositCount: 9 },
  ),
  bridge(
    'UpdatedUnsetGlobalIndexHashChain',
    { unsetGlobalIndex: `0x${rollupIndex}`, newUnsetGlobalIndexHashChain: hash('aa') },
    { type: 'claimUnset', sourceNetwork: 5, depositCount: 9, hashChain: bytes32(0xaa) },
  ),
  on(contracts.bridge, l2Filter, setClaimV1Abi)(
    'SetClaim',
    { leafIndex: 9, sourceNetwork: 0 },
    { type: 'claimSet', sourceNetwork: 0, depositCount: 9, sender: null },
    'SetClaim of v12.1',
  ),
  bridge(
    'SetClaim',
    { globalIndex: `0x${mainnetIndex}` },
    { type: 'claimSet', sourceNetwork: 0, depositCount: 9, sender: null },
  ),
  bridge(
    'SetClaim',
    { globalIndex: `0x${dirtyIndex}` },
    { type: 'claimSet', sourceNetwork: 5, depositCount: 9, sender: null },
    'SetClaim with bits above the mainnet flag',
  ),
  bridge(
    'BackwardLET',
    { previousDepositCount: 10n, previousRoot: hash('01'), newDepositCount: 6n, newRoot: hash('02') },
    {
      type: 'backwardLet',
      previousLeafCount: 10,
      previousRoot: bytes32(1),
      newLeafCount: 6,
      newRoot: bytes32(2),
    },
  ),
  bridge(
    'ForwardLET',
    {
      previousDepositCount: 6n,
      previousRoot: hash('02'),
      newDepositCount: 8n,
      newRoot: hash('03'),
      newLeaves: encodeAbiParameters(forwardLeavesAbi, [
        [
          {
            leafType: 0,
            originNetwork: 1,
            originAddress: address('11'),
            destinationNetwork: 2,
            destinationAddress: address('22'),
            amount: 3n,
            metadata: '0x',
          },
          {
            leafType: 1,
            originNetwork: 4,
            originAddress: address('33'),
            destinationNetwork: 0,
            destinationAddress: address('44'),
            amount: 0n,
            metadata: `0x${'5a'.repeat(33)}`,
          },
        ],
      ]),
    },
    {
      type: 'forwardLet',
      previousLeafCount: 6,
      previousRoot: bytes32(2),
      newLeafCount: 8,
      newRoot: bytes32(3),
      newLeaves: [
        {
          leafType: 0,
          originNetwork: 1,
          originAddress: bytes20(0x11),
          destinationNetwork: 2,
          destinationAddress: bytes20(0x22),
          amount: 3n,
          metadata: new Uint8Array(0),
        },
        {
          leafType: 1,
          originNetwork: 4,
          originAddress: bytes20(0x33),
          destinationNetwork: 0,
          destinationAddress: bytes20(0x44),
          amount: 0n,
          metadata: new Uint8Array(33).fill(0x5a),
        },
      ],
      sender: null,
    },
  ),
  l1Manager(
    'UpdateGlobalExitRoot',
    { mainnetExitRoot: hash('0a'), rollupExitRoot: hash('0b') },
    { type: 'v1GlobalExitRoot', mainnetExitRoot: bytes32(10), rollupExitRoot: bytes32(11) },
  ),
  l1Manager(
    'UpdateL1InfoTree',
    { mainnetExitRoot: hash('0a'), rollupExitRoot: hash('0b') },
    { type: 'l1InfoLeaf', mainnetExitRoot: bytes32(10), rollupExitRoot: bytes32(11) },
  ),
  l1Manager(
    'UpdateL1InfoTreeV2',
    {
      currentL1InfoRoot: hash('0c'),
      leafCount: 8,
      blockhash: BigInt(hash('01')),
      minTimestamp: 1_700_000_000n,
    },
    {
      type: 'l1InfoRoot',
      l1InfoRoot: bytes32(12),
      leafCount: 8,
      previousBlockHash: bytes32(1),
      timestampSec: 1_700_000_000,
    },
  ),
  l1Manager(
    'InitL1InfoRootMap',
    { leafCount: 0, currentL1InfoRoot: hash('0d') },
    { type: 'l1InfoRootMapInit', l1InfoRoot: bytes32(13), leafCount: 0 },
  ),
  l2Manager(
    'InsertGlobalExitRoot',
    { newGlobalExitRoot: hash('0e') },
    { type: 'gerInjected', globalExitRoot: bytes32(14) },
  ),
  l2Manager(
    'RemoveLastGlobalExitRoot',
    { removedGlobalExitRoot: hash('0e') },
    { type: 'gerRemoved', globalExitRoot: bytes32(14) },
  ),
  l2Manager(
    'UpdateHashChainValue',
    { newGlobalExitRoot: hash('0e'), newHashChainValue: hash('0f') },
    { type: 'gerInjected', globalExitRoot: bytes32(14) },
  ),
  l2Manager(
    'UpdateRemovalHashChainValue',
    { removedGlobalExitRoot: hash('0e'), newRemovalHashChainValue: hash('0f') },
    { type: 'gerRemoved', globalExitRoot: bytes32(14) },
  ),
  rollups('CreateNewRollup', { ...rollup, rollupTypeID: 2, gasTokenAddress: address('ff') }, added),
  rollups('AddExistingRollup', existing, added),
  on(contracts.rollupManager, l1Filter, addExistingRollupV4Abi)(
    'AddExistingRollup',
    existing,
    added,
    'AddExistingRollup of v4',
  ),
  on(contracts.rollupManager, l1Filter, addExistingRollupV9Abi)(
    'AddExistingRollup',
    existing,
    added,
    'AddExistingRollup of v9',
  ),
  rollups('VerifyBatches', { ...settlement, rollupID: 3, aggregator: address('66') }, settled('pending')),
  rollups(
    'VerifyBatchesTrustedAggregator',
    { ...settlement, rollupID: 3, aggregator: address('66') },
    settled('applied'),
  ),
  rollups('ConsolidatePendingState', { ...settlement, rollupID: 3, pendingStateNum: 1n }, settled('applied')),
  rollups(
    'OverridePendingState',
    { ...settlement, rollupID: 3, aggregator: address('66') },
    settled('applied'),
  ),
]
