// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ExitTree, Keccak32} from "./ExitTree.sol";
import {IL1GlobalExitRootManager} from "./Interfaces.sol";

/// @notice The L1's global exit roots, and the L1 info tree over them.
contract GlobalExitRootManagerL1 is ExitTree, IL1GlobalExitRootManager {
    error OnlyAllowedContracts();

    event UpdateL1InfoTree(bytes32 indexed mainnetExitRoot, bytes32 indexed rollupExitRoot);
    event UpdateL1InfoTreeV2(
        bytes32 currentL1InfoRoot,
        uint32 indexed leafCount,
        uint256 blockhash,
        uint64 minTimestamp
    );
    event InitL1InfoRootMap(uint32 leafCount, bytes32 currentL1InfoRoot);

    address public immutable bridgeAddress;
    address public immutable rollupManager;

    bytes32 public lastMainnetExitRoot;
    bytes32 public lastRollupExitRoot;

    /// @notice Hash of the block before the one in which the root first appeared; zero while the root is unknown.
    mapping(bytes32 globalExitRoot => uint256 blockHash) public globalExitRootMap;
    /// @notice Root of the L1 info tree when it had `leafCount` leaves.
    mapping(uint32 leafCount => bytes32 l1InfoRoot) public l1InfoRootMap;

    constructor(address bridge, address manager) {
        bridgeAddress = bridge;
        rollupManager = manager;
        bytes32 root = getRoot();
        l1InfoRootMap[0] = root;
        emit InitL1InfoRootMap(0, root);
    }

    /// @notice The bridge reports the mainnet exit root, the rollup manager the rollup exit root.
    function updateExitRoot(bytes32 newRoot) external {
        if (msg.sender == bridgeAddress) lastMainnetExitRoot = newRoot;
        else if (msg.sender == rollupManager) lastRollupExitRoot = newRoot;
        else revert OnlyAllowedContracts();

        bytes32 globalExitRoot = getLastGlobalExitRoot();
        // One leaf per global exit root: the same pair of roots never comes a second time.
        if (globalExitRootMap[globalExitRoot] != 0) return;

        uint256 parentHash = uint256(blockhash(block.number - 1));
        globalExitRootMap[globalExitRoot] = parentHash;
        _append(getLeafValue(globalExitRoot, parentHash, uint64(block.timestamp)));

        bytes32 l1InfoRoot = getRoot();
        uint32 leafCount = uint32(depositCount);
        l1InfoRootMap[leafCount] = l1InfoRoot;
        emit UpdateL1InfoTree(lastMainnetExitRoot, lastRollupExitRoot);
        emit UpdateL1InfoTreeV2(l1InfoRoot, leafCount, parentHash, uint64(block.timestamp));
    }

    function getLastGlobalExitRoot() public view returns (bytes32) {
        return Keccak32.join(lastMainnetExitRoot, lastRollupExitRoot);
    }

    /// @notice Root of the L1 info tree.
    function getRoot() public view override(ExitTree, IL1GlobalExitRootManager) returns (bytes32) {
        return super.getRoot();
    }

    function getLeafValue(
        bytes32 globalExitRoot,
        uint256 parentHash,
        uint64 timestamp
    ) public pure returns (bytes32) {
        return keccak256(abi.encodePacked(globalExitRoot, parentHash, timestamp));
    }
}
