import { parseAbi } from 'viem/utils'

/* The parts of the contracts' interfaces that the devnet uses, typed for viem. A test compares them with the compiled code. */

export const bridgeAbi = parseAbi([
  'constructor(uint32 network, address manager, address admin) payable',
  'function bridgeAsset(uint32 destinationNetwork, address destinationAddress, uint256 amount, address token, bool forceUpdateGlobalExitRoot, bytes permitData) payable',
  'function bridgeMessage(uint32 destinationNetwork, address destinationAddress, bool forceUpdateGlobalExitRoot, bytes metadata) payable',
  'function claimAsset(bytes32[32] smtProofLocalExitRoot, bytes32[32] smtProofRollupExitRoot, uint256 globalIndex, bytes32 mainnetExitRoot, bytes32 rollupExitRoot, uint32 originNetwork, address originTokenAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata)',
  'function claimMessage(bytes32[32] smtProofLocalExitRoot, bytes32[32] smtProofRollupExitRoot, uint256 globalIndex, bytes32 mainnetExitRoot, bytes32 rollupExitRoot, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata)',
  'function updateGlobalExitRoot()',
  'struct LeafData { uint8 leafType; uint32 originNetwork; address originAddress; uint32 destinationNetwork; address destinationAddress; uint256 amount; bytes metadata; }',
  'function backwardLET(uint256 newDepositCount)',
  'function forwardLET(LeafData[] newLeaves)',
  'function setMultipleSovereignTokenAddress(uint32[] originNetworks, address[] originTokenAddresses, address[] sovereignTokenAddresses, bool[] isNotMintable)',
  'function removeLegacySovereignTokenAddress(address legacySovereignTokenAddress)',
  'function migrateLegacyToken(address legacyTokenAddress, uint256 amount, bytes permitData)',
  'function setMultipleClaims(uint256[] globalIndexes)',
  'function unsetMultipleClaims(uint256[] globalIndexes)',
  'function activateEmergencyState()',
  'function deactivateEmergencyState()',
  'function isClaimed(uint32 leafIndex, uint32 sourceBridgeNetwork) view returns (bool)',
  'function claimedBitMap(uint256 word) view returns (uint256 bits)',
  'function getRoot() view returns (bytes32 root)',
  'function depositCount() view returns (uint256)',
  'function lastUpdatedDepositCount() view returns (uint32)',
  'function networkID() view returns (uint32)',
  'function globalExitRootManager() view returns (address)',
  'function getTokenWrappedAddress(uint32 originNetwork, address originTokenAddress) view returns (address)',
  'function unsetGlobalIndexHashChain() view returns (bytes32)',
  'event BridgeEvent(uint8 leafType, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata, uint32 depositCount)',
  'event ClaimEvent(uint256 globalIndex, uint32 originNetwork, address originAddress, address destinationAddress, uint256 amount)',
  'event NewWrappedToken(uint32 originNetwork, address originTokenAddress, address wrappedTokenAddress, bytes metadata)',
  'event BackwardLET(uint256 previousDepositCount, bytes32 previousRoot, uint256 newDepositCount, bytes32 newRoot)',
  'event ForwardLET(uint256 previousDepositCount, bytes32 previousRoot, uint256 newDepositCount, bytes32 newRoot, bytes newLeaves)',
  'event SetSovereignTokenAddress(uint32 originNetwork, address originTokenAddress, address sovereignTokenAddress, bool isNotMintable)',
  'event MigrateLegacyToken(address sender, address legacyTokenAddress, address updatedTokenAddress, uint256 amount)',
  'event RemoveLegacySovereignTokenAddress(address sovereignTokenAddress)',
  'event SetClaim(bytes32 globalIndex)',
  'event UpdatedUnsetGlobalIndexHashChain(bytes32 unsetGlobalIndex, bytes32 newUnsetGlobalIndexHashChain)',
  'event EmergencyStateActivated()',
  'event EmergencyStateDeactivated()',
  'error GlobalExitRootInvalid()',
  'error InvalidGlobalIndex()',
  'error InvalidSmtProof()',
  'error AlreadyClaimed()',
  'error ClaimNotSet()',
  'error TokenNotMapped()',
  'error TokenNotRemapped()',
  'error DestinationNetworkInvalid()',
  'error EtherTransferFailed()',
  'error MessageFailed()',
  'error TokenTransferFailed()',
  'error OnlyNotEmergencyState()',
])

export const globalExitRootManagerL1Abi = parseAbi([
  'constructor(address bridge, address manager)',
  'function globalExitRootMap(bytes32 globalExitRoot) view returns (uint256 blockHash)',
  'function l1InfoRootMap(uint32 leafCount) view returns (bytes32 l1InfoRoot)',
  'function depositCount() view returns (uint256)',
  'function getRoot() view returns (bytes32)',
  'function getLastGlobalExitRoot() view returns (bytes32)',
  'function lastMainnetExitRoot() view returns (bytes32)',
  'function lastRollupExitRoot() view returns (bytes32)',
  'event UpdateL1InfoTree(bytes32 indexed mainnetExitRoot, bytes32 indexed rollupExitRoot)',
  'event UpdateL1InfoTreeV2(bytes32 currentL1InfoRoot, uint32 indexed leafCount, uint256 blockhash, uint64 minTimestamp)',
  'event InitL1InfoRootMap(uint32 leafCount, bytes32 currentL1InfoRoot)',
])

export const globalExitRootManagerL2Abi = parseAbi([
  'constructor(address bridge, address updater)',
  'function globalExitRootMap(bytes32 globalExitRoot) view returns (uint256 timestamp)',
  'function insertGlobalExitRoot(bytes32 newRoot)',
  'function removeGlobalExitRoots(bytes32[] roots)',
  'function lastRollupExitRoot() view returns (bytes32)',
  'function insertedGERHashChain() view returns (bytes32)',
  'event UpdateHashChainValue(bytes32 indexed newGlobalExitRoot, bytes32 indexed newHashChainValue)',
  'event UpdateRemovalHashChainValue(bytes32 indexed removedGlobalExitRoot, bytes32 indexed newRemovalHashChainValue)',
  'error GlobalExitRootAlreadySet()',
  'error GlobalExitRootNotInserted()',
])

export const rollupManagerAbi = parseAbi([
  'constructor(address manager, address aggregator)',
  'function createNewRollup(uint64 chainID) returns (uint32 rollupID)',
  'function settleLocalExitRoot(uint32 rollupID, bytes32 newLocalExitRoot)',
  'function getRollupExitRoot() view returns (bytes32)',
  'function rollupCount() view returns (uint32)',
  'function chainIDToRollupID(uint64 chainID) view returns (uint32 rollupID)',
  'function rollupIDToRollupDataV2(uint32 rollupID) view returns (address rollupContract, uint64 chainID, address verifier, uint64 forkID, bytes32 lastLocalExitRoot, uint64 lastBatchSequenced, uint64 lastVerifiedBatch, uint64 lastVerifiedBatchBeforeUpgrade, uint64 rollupTypeID, uint8 rollupVerifierType, bytes32 lastPessimisticRoot, bytes32 programVKey)',
  'event CreateNewRollup(uint32 indexed rollupID, uint32 rollupTypeID, address rollupAddress, uint64 chainID, address gasTokenAddress)',
  'event VerifyBatchesTrustedAggregator(uint32 indexed rollupID, uint64 numBatch, bytes32 stateRoot, bytes32 exitRoot, address indexed aggregator)',
  'event VerifyPessimisticStateTransition(uint32 indexed rollupID, bytes32 prevPessimisticRoot, bytes32 newPessimisticRoot, bytes32 prevLocalExitRoot, bytes32 newLocalExitRoot, bytes32 l1InfoRoot, address indexed trustedAggregator)',
])

export const tokenAbi = parseAbi([
  'constructor(string name_, string symbol_, uint8 decimals_)',
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
])

export const bridgeCallerAbi = parseAbi([
  'struct Deposit { bool isMessage; uint32 destinationNetwork; address destinationAddress; uint256 amount; address token; bool forceUpdateGlobalExitRoot; bytes metadata; }',
  'function bridgeAll(address bridge, Deposit[] deposits) payable',
])

export const messageReceiverAbi = parseAbi([
  'struct Call { address target; uint256 value; bytes data; }',
  'function callOnNextMessage(Call[] calls)',
  'function messageCount() view returns (uint256)',
  'function lastData() view returns (bytes)',
])
