// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ExitTree, Keccak32} from "./ExitTree.sol";
import {IGlobalExitRootManager} from "./Interfaces.sol";

/// @notice Checks claims: global exit root, global index, Merkle proofs, and that nothing is claimed twice.
abstract contract ClaimVerifier is ExitTree {
    error GlobalExitRootInvalid();
    error InvalidGlobalIndex();
    error InvalidSmtProof();
    error AlreadyClaimed();
    error ClaimNotSet();

    uint256 private constant MAINNET_FLAG = 2 ** 64;
    uint32 private constant NETWORK_MAINNET = 0;
    uint32 private constant FIRST_ROLLUP = 1;

    uint32 public immutable networkID;
    IGlobalExitRootManager public immutable globalExitRootManager;

    /// @notice Nullifiers, 256 to a word.
    mapping(uint256 word => uint256 bits) public claimedBitMap;

    constructor(uint32 network, IGlobalExitRootManager manager) {
        networkID = network;
        globalExitRootManager = manager;
    }

    function isClaimed(uint32 leafIndex, uint32 sourceBridgeNetwork) external view returns (bool) {
        (uint256 word, uint256 mask) = _nullifier(leafIndex, sourceBridgeNetwork);
        return claimedBitMap[word] & mask != 0;
    }

    function getLeafValue(
        uint8 leafType,
        uint32 originNetwork,
        address originAddress,
        uint32 destinationNetwork,
        address destinationAddress,
        uint256 amount,
        bytes32 metadataHash
    ) public pure returns (bytes32) {
        return
            keccak256(
                abi.encodePacked(
                    leafType,
                    originNetwork,
                    originAddress,
                    destinationNetwork,
                    destinationAddress,
                    amount,
                    metadataHash
                )
            );
    }

    /// @dev The nullifier comes last: AlreadyClaimed says that the proof itself was right.
    function _verifyAndSetClaimed(
        bytes32[32] calldata smtProofLocalExitRoot,
        bytes32[32] calldata smtProofRollupExitRoot,
        uint256 globalIndex,
        bytes32 mainnetExitRoot,
        bytes32 rollupExitRoot,
        bytes32 leaf
    ) internal {
        bytes32 globalExitRoot = Keccak32.join(mainnetExitRoot, rollupExitRoot);
        if (globalExitRootManager.globalExitRootMap(globalExitRoot) == 0) revert GlobalExitRootInvalid();

        (uint32 leafIndex, uint32 sourceNetwork) = _decodeGlobalIndex(globalIndex);
        bytes32 localExitRoot = Keccak32.rootOf(leaf, smtProofLocalExitRoot, leafIndex);
        if (sourceNetwork == NETWORK_MAINNET) {
            if (localExitRoot != mainnetExitRoot) revert InvalidSmtProof();
        } else if (Keccak32.rootOf(localExitRoot, smtProofRollupExitRoot, sourceNetwork - 1) != rollupExitRoot) {
            revert InvalidSmtProof();
        }
        _setClaimed(leafIndex, sourceNetwork);
    }

    function _decodeGlobalIndex(uint256 globalIndex) internal pure returns (uint32 leafIndex, uint32 sourceNetwork) {
        leafIndex = uint32(globalIndex);
        if (globalIndex & MAINNET_FLAG != 0) {
            if (globalIndex != MAINNET_FLAG + leafIndex) revert InvalidGlobalIndex();
            return (leafIndex, NETWORK_MAINNET);
        }
        if (globalIndex >= MAINNET_FLAG) revert InvalidGlobalIndex();
        sourceNetwork = uint32(globalIndex >> 32) + 1;
    }

    function _setClaimed(uint32 leafIndex, uint32 sourceNetwork) internal {
        (uint256 word, uint256 mask) = _nullifier(leafIndex, sourceNetwork);
        if (claimedBitMap[word] & mask != 0) revert AlreadyClaimed();
        claimedBitMap[word] |= mask;
    }

    function _unsetClaimed(uint32 leafIndex, uint32 sourceNetwork) internal {
        (uint256 word, uint256 mask) = _nullifier(leafIndex, sourceNetwork);
        if (claimedBitMap[word] & mask == 0) revert ClaimNotSet();
        claimedBitMap[word] &= ~mask;
    }

    /// @dev On the L1 the first rollup keeps the bare leaf index of the first bridge generation. That collides with
    /// nothing: the only other source with those keys is the L1 itself, which never claims from itself.
    function _nullifier(uint32 leafIndex, uint32 sourceNetwork) private view returns (uint256 word, uint256 mask) {
        uint256 key = leafIndex;
        if (networkID != NETWORK_MAINNET || sourceNetwork != FIRST_ROLLUP) key += uint256(sourceNetwork) << 32;
        return (key >> 8, 1 << (key & 0xff));
    }
}
