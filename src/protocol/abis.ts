import { parseAbi } from 'viem/utils'

/**
 * The bridge's events as agglayer-contracts declares them. Two of them, ClaimEvent and SetClaim, had another form in
 * older contracts: those follow below as `…V1Abi`, which is also how `eventTopics.ts` names them.
 */
export const bridgeEventsAbi = parseAbi([
  'event BridgeEvent(uint8 leafType, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata, uint32 depositCount)',
  'event ClaimEvent(uint256 globalIndex, uint32 originNetwork, address originAddress, address destinationAddress, uint256 amount)',
  'event NewWrappedToken(uint32 originNetwork, address originTokenAddress, address wrappedTokenAddress, bytes metadata)',
  'event EmergencyStateActivated()',
  'event EmergencyStateDeactivated()',
  'event SetSovereignTokenAddress(uint32 originNetwork, address originTokenAddress, address sovereignTokenAddress, bool isNotMintable)',
  'event SetSovereignWETHAddress(address sovereignWETHTokenAddress, bool isNotMintable)',
  'event RemoveLegacySovereignTokenAddress(address sovereignTokenAddress)',
  'event MigrateLegacyToken(address sender, address legacyTokenAddress, address updatedTokenAddress, uint256 amount)',
  'event UnsetClaim(uint32 leafIndex, uint32 sourceBridgeNetwork)',
  'event UpdatedUnsetGlobalIndexHashChain(bytes32 unsetGlobalIndex, bytes32 newUnsetGlobalIndexHashChain)',
  'event SetClaim(bytes32 globalIndex)',
  'event BackwardLET(uint256 previousDepositCount, bytes32 previousRoot, uint256 newDepositCount, bytes32 newRoot)',
  'event ForwardLET(uint256 previousDepositCount, bytes32 previousRoot, uint256 newDepositCount, bytes32 newRoot, bytes newLeaves)',
])

/** Pre-etrog ClaimEvent: a bare index instead of the global index. */
export const claimEventV1Abi = parseAbi([
  'event ClaimEvent(uint32 index, uint32 originNetwork, address originAddress, address destinationAddress, uint256 amount)',
])

/** SetClaim of v12.1. From v12.2 on the event carries the global index. */
export const setClaimV1Abi = parseAbi(['event SetClaim(uint32 leafIndex, uint32 sourceNetwork)'])

/** What ForwardLET's `newLeaves` encodes. */
export const forwardLeavesAbi = [
  {
    type: 'tuple[]',
    components: [
      { name: 'leafType', type: 'uint8' },
      { name: 'originNetwork', type: 'uint32' },
      { name: 'originAddress', type: 'address' },
      { name: 'destinationNetwork', type: 'uint32' },
      { name: 'destinationAddress', type: 'address' },
      { name: 'amount', type: 'uint256' },
      { name: 'metadata', type: 'bytes' },
    ],
  },
] as const

/** Events of the global exit root managers: the first four are the L1's, the others a layer 2's. */
export const globalExitRootManagerEventsAbi = parseAbi([
  'event UpdateGlobalExitRoot(bytes32 indexed mainnetExitRoot, bytes32 indexed rollupExitRoot)',
  'event UpdateL1InfoTree(bytes32 indexed mainnetExitRoot, bytes32 indexed rollupExitRoot)',
  'event UpdateL1InfoTreeV2(bytes32 currentL1InfoRoot, uint32 indexed leafCount, uint256 blockhash, uint64 minTimestamp)',
  'event InitL1InfoRootMap(uint32 leafCount, bytes32 currentL1InfoRoot)',
  'event InsertGlobalExitRoot(bytes32 indexed newGlobalExitRoot)',
  'event RemoveLastGlobalExitRoot(bytes32 indexed removedGlobalExitRoot)',
  'event UpdateHashChainValue(bytes32 indexed newGlobalExitRoot, bytes32 indexed newHashChainValue)',
  'event UpdateRemovalHashChainValue(bytes32 indexed removedGlobalExitRoot, bytes32 indexed newRemovalHashChainValue)',
])

export const rollupManagerEventsAbi = parseAbi([
  'event CreateNewRollup(uint32 indexed rollupID, uint32 rollupTypeID, address rollupAddress, uint64 chainID, address gasTokenAddress)',
  'event AddExistingRollup(uint32 indexed rollupID, uint64 forkID, address rollupAddress, uint64 chainID, uint8 rollupVerifierType, uint64 lastVerifiedBatchBeforeUpgrade, bytes32 programVKey, bytes32 initPessimisticRoot)',
  'event VerifyBatches(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, address indexed aggregator)',
  'event VerifyBatchesTrustedAggregator(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, address indexed aggregator)',
  'event ConsolidatePendingState(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, uint64 pendingStateNum)',
  'event OverridePendingState(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, address aggregator)',
])

/** AddExistingRollup of v4 … v8.1. */
export const addExistingRollupV4Abi = parseAbi([
  'event AddExistingRollup(uint32 indexed rollupID, uint64 forkID, address rollupAddress, uint64 chainID, uint8 rollupCompatibilityID, uint64 lastVerifiedBatchBeforeUpgrade)',
])

/** AddExistingRollup of v9. */
export const addExistingRollupV9Abi = parseAbi([
  'event AddExistingRollup(uint32 indexed rollupID, uint64 forkID, address rollupAddress, uint64 chainID, uint8 rollupVerifierType, uint64 lastVerifiedBatchBeforeUpgrade, bytes32 programVKey)',
])

/** The calls that are looked for in traces, and the getters. */
export const bridgeFunctionsAbi = parseAbi([
  'function bridgeAsset(uint32 destinationNetwork, address destinationAddress, uint256 amount, address token, bool forceUpdateGlobalExitRoot, bytes permitData) payable',
  'function bridgeMessage(uint32 destinationNetwork, address destinationAddress, bool forceUpdateGlobalExitRoot, bytes metadata) payable',
  'function bridgeMessageWETH(uint32 destinationNetwork, address destinationAddress, uint256 amountWETH, bool forceUpdateGlobalExitRoot, bytes metadata)',
  'function depositCount() view returns (uint256)',
  'function getRoot() view returns (bytes32)',
  'function getDepositRoot() view returns (bytes32)',
  'function networkID() view returns (uint32)',
  'function isEmergencyState() view returns (bool)',
  'function claimedBitMap(uint256 position) view returns (uint256)',
  'function getTokenWrappedAddress(uint32 originNetwork, address originTokenAddress) view returns (address)',
])

export const globalExitRootManagerFunctionsAbi = parseAbi([
  'function globalExitRootMap(bytes32 globalExitRoot) view returns (uint256)',
  'function insertedGERHashChain() view returns (bytes32)',
  'function removedGERHashChain() view returns (bytes32)',
])
