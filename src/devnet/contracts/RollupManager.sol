// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Keccak32} from "./ExitTree.sol";
import {IL1GlobalExitRootManager} from "./Interfaces.sol";

/// @notice Settles the local exit roots of L2s on the L1. Instead of checking a validity proof it trusts one account: this is a devnet.
contract RollupManager {
    error OnlyTrustedAggregator();
    error RollupDoesNotExist();
    error ChainIDAlreadyExist();

    event CreateNewRollup(
        uint32 indexed rollupID,
        uint32 rollupTypeID,
        address rollupAddress,
        uint64 chainID,
        address gasTokenAddress
    );
    event VerifyBatchesTrustedAggregator(
        uint32 indexed rollupID,
        uint64 numBatch,
        bytes32 stateRoot,
        bytes32 exitRoot,
        address indexed aggregator
    );
    event VerifyPessimisticStateTransition(
        uint32 indexed rollupID,
        bytes32 prevPessimisticRoot,
        bytes32 newPessimisticRoot,
        bytes32 prevLocalExitRoot,
        bytes32 newLocalExitRoot,
        bytes32 l1InfoRoot,
        address indexed trustedAggregator
    );

    /// @dev Verifier type 1: pessimistic.
    uint8 private constant PESSIMISTIC = 1;
    uint32 private constant ROLLUP_TYPE = 1;

    struct Rollup {
        uint64 chainID;
        bytes32 lastLocalExitRoot;
        bytes32 lastPessimisticRoot;
    }

    IL1GlobalExitRootManager public immutable globalExitRootManager;
    address public immutable trustedAggregator;

    uint32 public rollupCount;
    mapping(uint64 chainID => uint32 rollupID) public chainIDToRollupID;
    mapping(uint32 rollupID => Rollup) private _rollups;

    modifier onlyTrustedAggregator() {
        if (msg.sender != trustedAggregator) revert OnlyTrustedAggregator();
        _;
    }

    constructor(IL1GlobalExitRootManager manager, address aggregator) {
        globalExitRootManager = manager;
        trustedAggregator = aggregator;
    }

    /// @notice Registers a chain. Its rollup id, from 1 on, is its network id.
    function createNewRollup(uint64 chainID) external onlyTrustedAggregator returns (uint32 rollupID) {
        if (chainIDToRollupID[chainID] != 0) revert ChainIDAlreadyExist();
        rollupID = ++rollupCount;
        chainIDToRollupID[chainID] = rollupID;
        _rollups[rollupID].chainID = chainID;
        emit CreateNewRollup(rollupID, ROLLUP_TYPE, _rollupContract(rollupID), chainID, address(0));
    }

    /// @notice Takes a rollup's new local exit root. The L1 info leaf comes before the event that names the root.
    function settleLocalExitRoot(uint32 rollupID, bytes32 newLocalExitRoot) external onlyTrustedAggregator {
        if (rollupID == 0 || rollupID > rollupCount) revert RollupDoesNotExist();
        Rollup storage rollup = _rollups[rollupID];
        bytes32 prevLocalExitRoot = rollup.lastLocalExitRoot;
        bytes32 prevPessimisticRoot = rollup.lastPessimisticRoot;
        bytes32 newPessimisticRoot = Keccak32.join(prevPessimisticRoot, newLocalExitRoot);
        bytes32 l1InfoRoot = globalExitRootManager.getRoot();
        rollup.lastLocalExitRoot = newLocalExitRoot;
        rollup.lastPessimisticRoot = newPessimisticRoot;

        globalExitRootManager.updateExitRoot(getRollupExitRoot());
        emit VerifyBatchesTrustedAggregator(rollupID, 0, bytes32(0), newLocalExitRoot, msg.sender);
        emit VerifyPessimisticStateTransition(
            rollupID,
            prevPessimisticRoot,
            newPessimisticRoot,
            prevLocalExitRoot,
            newLocalExitRoot,
            l1InfoRoot,
            msg.sender
        );
    }

    /// @notice Root over the last local exit root of every rollup; zero while there is no rollup.
    function getRollupExitRoot() public view returns (bytes32) {
        if (rollupCount == 0) return bytes32(0);
        bytes32[] memory localExitRoots = new bytes32[](rollupCount);
        for (uint32 i = 0; i < rollupCount; ++i) {
            localExitRoots[i] = _rollups[i + 1].lastLocalExitRoot;
        }
        return Keccak32.rootOver(localExitRoots);
    }

    function rollupIDToRollupDataV2(
        uint32 rollupID
    )
        external
        view
        returns (
            address rollupContract,
            uint64 chainID,
            address verifier,
            uint64 forkID,
            bytes32 lastLocalExitRoot,
            uint64 lastBatchSequenced,
            uint64 lastVerifiedBatch,
            uint64 lastVerifiedBatchBeforeUpgrade,
            uint64 rollupTypeID,
            uint8 rollupVerifierType,
            bytes32 lastPessimisticRoot,
            bytes32 programVKey
        )
    {
        // All zeros for an unknown rollup, as a mapping reads.
        Rollup storage rollup = _rollups[rollupID];
        if (rollup.chainID == 0) return (address(0), 0, address(0), 0, 0, 0, 0, 0, 0, 0, 0, 0);
        rollupContract = _rollupContract(rollupID);
        chainID = rollup.chainID;
        lastLocalExitRoot = rollup.lastLocalExitRoot;
        rollupTypeID = ROLLUP_TYPE;
        rollupVerifierType = PESSIMISTIC;
        lastPessimisticRoot = rollup.lastPessimisticRoot;
    }

    /// @dev The devnet has no contract per rollup: an address that tells them apart is enough.
    function _rollupContract(uint32 rollupID) private view returns (address) {
        return address(uint160(uint256(keccak256(abi.encodePacked(address(this), rollupID)))));
    }
}
