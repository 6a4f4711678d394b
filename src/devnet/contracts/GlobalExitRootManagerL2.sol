// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Keccak32} from "./ExitTree.sol";
import {IGlobalExitRootManager} from "./Interfaces.sol";

/// @notice A sovereign L2's global exit roots: an oracle inserts those of the L1, and can take them back.
contract GlobalExitRootManagerL2 is IGlobalExitRootManager {
    error OnlyBridge();
    error OnlyGlobalExitRootUpdater();
    error GlobalExitRootAlreadySet();
    error GlobalExitRootNotInserted();

    event UpdateHashChainValue(bytes32 indexed newGlobalExitRoot, bytes32 indexed newHashChainValue);
    event UpdateRemovalHashChainValue(
        bytes32 indexed removedGlobalExitRoot,
        bytes32 indexed newRemovalHashChainValue
    );

    address public immutable bridgeAddress;
    address public immutable globalExitRootUpdater;

    /// @notice This network's own local exit root, as the bridge last reported it.
    bytes32 public lastRollupExitRoot;
    bytes32 public insertedGERHashChain;
    bytes32 public removedGERHashChain;

    /// @notice Time of insertion; zero while the root is not usable here.
    mapping(bytes32 globalExitRoot => uint256 timestamp) public globalExitRootMap;

    modifier onlyUpdater() {
        if (msg.sender != globalExitRootUpdater) revert OnlyGlobalExitRootUpdater();
        _;
    }

    constructor(address bridge, address updater) {
        bridgeAddress = bridge;
        globalExitRootUpdater = updater;
    }

    function updateExitRoot(bytes32 newRoot) external {
        if (msg.sender != bridgeAddress) revert OnlyBridge();
        lastRollupExitRoot = newRoot;
    }

    function insertGlobalExitRoot(bytes32 newRoot) external onlyUpdater {
        if (globalExitRootMap[newRoot] != 0) revert GlobalExitRootAlreadySet();
        globalExitRootMap[newRoot] = block.timestamp;
        insertedGERHashChain = Keccak32.join(insertedGERHashChain, newRoot);
        emit UpdateHashChainValue(newRoot, insertedGERHashChain);
    }

    function removeGlobalExitRoots(bytes32[] calldata roots) external onlyUpdater {
        for (uint256 i = 0; i < roots.length; ++i) {
            if (globalExitRootMap[roots[i]] == 0) revert GlobalExitRootNotInserted();
            delete globalExitRootMap[roots[i]];
            removedGERHashChain = Keccak32.join(removedGERHashChain, roots[i]);
            emit UpdateRemovalHashChainValue(roots[i], removedGERHashChain);
        }
    }
}
