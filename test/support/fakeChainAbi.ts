import type { AbiEvent, Hex } from 'viem'
import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  parseAbi,
  parseAbiItem,
} from 'viem/utils'

/** Every event that the fake contracts emit, as in the contracts' source. Encoded by viem, never by `src`. */
const eventText = {
  bridge:
    'event BridgeEvent(uint8 leafType, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata, uint32 depositCount)',
  claimV1:
    'event ClaimEvent(uint32 index, uint32 originNetwork, address originAddress, address destinationAddress, uint256 amount)',
  claim:
    'event ClaimEvent(uint256 globalIndex, uint32 originNetwork, address originAddress, address destinationAddress, uint256 amount)',
  claimedHashChain:
    'event UpdatedClaimedGlobalIndexHashChain(bytes32 claimedGlobalIndex, bytes32 newClaimedGlobalIndexHashChain)',
  unsetClaim: 'event UnsetClaim(uint32 leafIndex, uint32 sourceBridgeNetwork)',
  unsetHashChain:
    'event UpdatedUnsetGlobalIndexHashChain(bytes32 unsetGlobalIndex, bytes32 newUnsetGlobalIndexHashChain)',
  setClaimIndex: 'event SetClaim(uint32 leafIndex, uint32 sourceNetwork)',
  setClaimGlobalIndex: 'event SetClaim(bytes32 globalIndex)',
  wrappedToken:
    'event NewWrappedToken(uint32 originNetwork, address originTokenAddress, address wrappedTokenAddress, bytes metadata)',
  sovereignToken:
    'event SetSovereignTokenAddress(uint32 originNetwork, address originTokenAddress, address sovereignTokenAddress, bool isNotMintable)',
  sovereignWeth: 'event SetSovereignWETHAddress(address sovereignWETHTokenAddress, bool isNotMintable)',
  legacyTokenRemoved: 'event RemoveLegacySovereignTokenAddress(address sovereignTokenAddress)',
  backwardLet:
    'event BackwardLET(uint256 previousDepositCount, bytes32 previousRoot, uint256 newDepositCount, bytes32 newRoot)',
  forwardLet:
    'event ForwardLET(uint256 previousDepositCount, bytes32 previousRoot, uint256 newDepositCount, bytes32 newRoot, bytes newLeaves)',
  emergencyActivated: 'event EmergencyStateActivated()',
  emergencyDeactivated: 'event EmergencyStateDeactivated()',
  v1GlobalExitRoot:
    'event UpdateGlobalExitRoot(bytes32 indexed mainnetExitRoot, bytes32 indexed rollupExitRoot)',
  l1InfoTree: 'event UpdateL1InfoTree(bytes32 indexed mainnetExitRoot, bytes32 indexed rollupExitRoot)',
  l1InfoTreeV2:
    'event UpdateL1InfoTreeV2(bytes32 currentL1InfoRoot, uint32 indexed leafCount, uint256 blockhash, uint64 minTimestamp)',
  initL1InfoRootMap: 'event InitL1InfoRootMap(uint32 leafCount, bytes32 currentL1InfoRoot)',
  createRollup:
    'event CreateNewRollup(uint32 indexed rollupID, uint32 rollupTypeID, address rollupAddress, uint64 chainID, address gasTokenAddress)',
  addExistingRollupV4:
    'event AddExistingRollup(uint32 indexed rollupID, uint64 forkID, address rollupAddress, uint64 chainID, uint8 rollupCompatibilityID, uint64 lastVerifiedBatchBeforeUpgrade)',
  addExistingRollupV10:
    'event AddExistingRollup(uint32 indexed rollupID, uint64 forkID, address rollupAddress, uint64 chainID, uint8 rollupVerifierType, uint64 lastVerifiedBatchBeforeUpgrade, bytes32 programVKey, bytes32 initPessimisticRoot)',
  verifyBatches:
    'event VerifyBatches(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, address indexed aggregator)',
  verifyBatchesTrusted:
    'event VerifyBatchesTrustedAggregator(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, address indexed aggregator)',
  consolidatePendingState:
    'event ConsolidatePendingState(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, uint64 pendingStateNum)',
  insertGer: 'event InsertGlobalExitRoot(bytes32 indexed newGlobalExitRoot)',
  removeLastGer: 'event RemoveLastGlobalExitRoot(bytes32 indexed removedGlobalExitRoot)',
  gerHashChain:
    'event UpdateHashChainValue(bytes32 indexed newGlobalExitRoot, bytes32 indexed newHashChainValue)',
  gerRemovalHashChain:
    'event UpdateRemovalHashChainValue(bytes32 indexed removedGlobalExitRoot, bytes32 indexed newRemovalHashChainValue)',
  transfer: 'event Transfer(address indexed from, address indexed to, uint256 value)',
} as const

export type FakeEventName = keyof typeof eventText

const events = Object.fromEntries(
  Object.entries(eventText).map(([name, text]) => [name, parseAbiItem(text) as unknown as AbiEvent]),
) as Record<FakeEventName, AbiEvent>

/** Topics and data of one event; `args` by the event's own argument names. */
export function encodeEvent(
  name: FakeEventName,
  args: Record<string, unknown>,
): { topics: Hex[]; data: Hex } {
  const abi = events[name]
  const topics = encodeEventTopics({ abi: [abi], eventName: abi.name, args }) as Hex[]
  const plain = abi.inputs.filter((input) => !input.indexed)
  return {
    topics,
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name!]),
    ),
  }
}

/** Topic 0 of an event. */
export function topicOf(name: FakeEventName): Hex {
  return encodeEventTopics({ abi: [events[name]], eventName: events[name].name })[0] as Hex
}

const proof = 'bytes32[32]'
/** Calls that the fake contracts accept: the input of traces and transactions. */
const callAbi = parseAbi([
  'function bridgeAsset(uint32 destinationNetwork, address destinationAddress, uint256 amount, address token, bool forceUpdateGlobalExitRoot, bytes permitData)',
  'function bridgeMessage(uint32 destinationNetwork, address destinationAddress, bool forceUpdateGlobalExitRoot, bytes metadata)',
  `function claimAsset(${proof} smtProofLocalExitRoot, ${proof} smtProofRollupExitRoot, uint256 globalIndex, bytes32 mainnetExitRoot, bytes32 rollupExitRoot, uint32 originNetwork, address originTokenAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata)`,
  `function claimMessage(${proof} smtProofLocalExitRoot, ${proof} smtProofRollupExitRoot, uint256 globalIndex, bytes32 mainnetExitRoot, bytes32 rollupExitRoot, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata)`,
  'function updateGlobalExitRoot()',
  'function run(bytes payload)',
])

export function encodeCall(name: string, args: readonly unknown[] = []): Hex {
  return encodeFunctionData({ abi: callAbi, functionName: name, args } as unknown as Parameters<
    typeof encodeFunctionData
  >[0])
}

/** Getters that the fake contracts answer. */
export const getterAbi = parseAbi([
  'function networkID() view returns (uint32)',
  'function depositCount() view returns (uint256)',
  'function getRoot() view returns (bytes32)',
  'function lastUpdatedDepositCount() view returns (uint32)',
  'function globalExitRootManager() view returns (address)',
  'function polygonRollupManager() view returns (address)',
  'function isClaimed(uint32 leafIndex, uint32 sourceBridgeNetwork) view returns (bool)',
  'function isEmergencyState() view returns (bool)',
  'function claimedBitMap(uint256 position) view returns (uint256)',
  'function getTokenWrappedAddress(uint32 originNetwork, address originTokenAddress) view returns (address)',
  'function bridgeAddress() view returns (address)',
  'function rollupManager() view returns (address)',
  'function insertedGERHashChain() view returns (bytes32)',
  'function removedGERHashChain() view returns (bytes32)',
  'function globalExitRootMap(bytes32 globalExitRoot) view returns (uint256)',
  'function getLastGlobalExitRoot() view returns (bytes32)',
  'function lastMainnetExitRoot() view returns (bytes32)',
  'function lastRollupExitRoot() view returns (bytes32)',
  'function l1InfoRootMap(uint32 leafCount) view returns (bytes32)',
  'function rollupCount() view returns (uint32)',
  'function chainIDToRollupID(uint64 chainID) view returns (uint32)',
  'function getRollupExitRoot() view returns (bytes32)',
  'function rollupIDToRollupDataV2(uint32 rollupID) view returns (address rollupContract, uint64 chainID, address verifier, uint64 forkID, bytes32 lastLocalExitRoot, uint64 lastBatchSequenced, uint64 lastVerifiedBatch, uint64 lastVerifiedBatchBeforeUpgrade, uint64 rollupTypeID, uint8 rollupVerifierType, bytes32 lastPessimisticRoot, bytes32 programVKey)',
])
