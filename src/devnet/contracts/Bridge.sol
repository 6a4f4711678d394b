// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ClaimVerifier} from "./ClaimVerifier.sol";
import {SovereignBridge} from "./SovereignBridge.sol";
import {IBridge, IBridgeMessageReceiver, IERC20, IGlobalExitRootManager} from "./Interfaces.sol";

/// @notice The bridge of one network: deposits go into its local exit tree, claims come with a proof against a global exit root.
/// The same code serves the L1 (network 0) and the L2s.
contract Bridge is IBridge, SovereignBridge {
    error DestinationNetworkInvalid();
    error AmountDoesNotMatchMsgValue();
    error MsgValueNotZero();
    error EtherTransferFailed();
    error MessageFailed();
    error OnlyNotEmergencyState();
    error OnlyEmergencyState();

    event BridgeEvent(
        uint8 leafType,
        uint32 originNetwork,
        address originAddress,
        uint32 destinationNetwork,
        address destinationAddress,
        uint256 amount,
        bytes metadata,
        uint32 depositCount
    );
    event ClaimEvent(
        uint256 globalIndex,
        uint32 originNetwork,
        address originAddress,
        address destinationAddress,
        uint256 amount
    );
    event EmergencyStateActivated();
    event EmergencyStateDeactivated();

    uint8 private constant LEAF_TYPE_ASSET = 0;
    uint8 private constant LEAF_TYPE_MESSAGE = 1;

    bool public isEmergencyState;
    /// @notice Number of leaves that the global exit root manager knows of.
    uint32 public lastUpdatedDepositCount;

    modifier ifNotEmergencyState() {
        if (isEmergencyState) revert OnlyNotEmergencyState();
        _;
    }

    constructor(
        uint32 network,
        IGlobalExitRootManager manager,
        address admin
    ) payable ClaimVerifier(network, manager) SovereignBridge(admin) {}

    function bridgeAsset(
        uint32 destinationNetwork,
        address destinationAddress,
        uint256 amount,
        address token,
        bool forceUpdateGlobalExitRoot,
        bytes calldata permitData
    ) external payable ifNotEmergencyState {
        if (destinationNetwork == networkID) revert DestinationNetworkInvalid();
        if (permitData.length != 0) revert PermitNotSupported();

        TokenInformation memory home;
        bytes memory metadata;
        if (token == address(0)) {
            if (msg.value != amount) revert AmountDoesNotMatchMsgValue();
        } else {
            if (msg.value != 0) revert MsgValueNotZero();
            (home, metadata, amount) = _takeToken(token, amount);
        }
        _deposit(
            LEAF_TYPE_ASSET,
            home.originNetwork,
            home.originTokenAddress,
            destinationNetwork,
            destinationAddress,
            amount,
            metadata
        );
        if (forceUpdateGlobalExitRoot) _updateGlobalExitRoot();
    }

    function bridgeMessage(
        uint32 destinationNetwork,
        address destinationAddress,
        bool forceUpdateGlobalExitRoot,
        bytes calldata metadata
    ) external payable ifNotEmergencyState {
        if (destinationNetwork == networkID) revert DestinationNetworkInvalid();
        _deposit(
            LEAF_TYPE_MESSAGE,
            networkID,
            msg.sender,
            destinationNetwork,
            destinationAddress,
            msg.value,
            metadata
        );
        if (forceUpdateGlobalExitRoot) _updateGlobalExitRoot();
    }

    /// @notice Publishes the deposits since the last update. Does nothing when there are none.
    function updateGlobalExitRoot() external ifNotEmergencyState {
        if (lastUpdatedDepositCount < depositCount) _updateGlobalExitRoot();
    }

    function claimAsset(
        bytes32[32] calldata smtProofLocalExitRoot,
        bytes32[32] calldata smtProofRollupExitRoot,
        uint256 globalIndex,
        bytes32 mainnetExitRoot,
        bytes32 rollupExitRoot,
        uint32 originNetwork,
        address originTokenAddress,
        uint32 destinationNetwork,
        address destinationAddress,
        uint256 amount,
        bytes calldata metadata
    ) external ifNotEmergencyState {
        if (destinationNetwork != networkID) revert DestinationNetworkInvalid();
        _verifyAndSetClaimed(
            smtProofLocalExitRoot,
            smtProofRollupExitRoot,
            globalIndex,
            mainnetExitRoot,
            rollupExitRoot,
            getLeafValue(
                LEAF_TYPE_ASSET,
                originNetwork,
                originTokenAddress,
                destinationNetwork,
                destinationAddress,
                amount,
                keccak256(metadata)
            )
        );
        emit ClaimEvent(globalIndex, originNetwork, originTokenAddress, destinationAddress, amount);

        if (originTokenAddress == address(0)) {
            (bool sent, ) = destinationAddress.call{value: amount}("");
            if (!sent) revert EtherTransferFailed();
        } else if (originNetwork == networkID) {
            if (!IERC20(originTokenAddress).transfer(destinationAddress, amount)) revert TokenTransferFailed();
        } else {
            _claimWrapped(originNetwork, originTokenAddress, destinationAddress, amount, metadata);
        }
    }

    function claimMessage(
        bytes32[32] calldata smtProofLocalExitRoot,
        bytes32[32] calldata smtProofRollupExitRoot,
        uint256 globalIndex,
        bytes32 mainnetExitRoot,
        bytes32 rollupExitRoot,
        uint32 originNetwork,
        address originAddress,
        uint32 destinationNetwork,
        address destinationAddress,
        uint256 amount,
        bytes calldata metadata
    ) external ifNotEmergencyState {
        if (destinationNetwork != networkID) revert DestinationNetworkInvalid();
        _verifyAndSetClaimed(
            smtProofLocalExitRoot,
            smtProofRollupExitRoot,
            globalIndex,
            mainnetExitRoot,
            rollupExitRoot,
            getLeafValue(
                LEAF_TYPE_MESSAGE,
                originNetwork,
                originAddress,
                destinationNetwork,
                destinationAddress,
                amount,
                keccak256(metadata)
            )
        );
        emit ClaimEvent(globalIndex, originNetwork, originAddress, destinationAddress, amount);

        // An account without code takes any message.
        (bool delivered, ) = destinationAddress.call{value: amount}(
            abi.encodeCall(IBridgeMessageReceiver.onMessageReceived, (originAddress, originNetwork, metadata))
        );
        if (!delivered) revert MessageFailed();
    }

    function activateEmergencyState() external onlyEmergencyAdmin ifNotEmergencyState {
        isEmergencyState = true;
        emit EmergencyStateActivated();
    }

    function deactivateEmergencyState() external onlyEmergencyAdmin {
        if (!isEmergencyState) revert OnlyEmergencyState();
        isEmergencyState = false;
        emit EmergencyStateDeactivated();
    }

    function _deposit(
        uint8 leafType,
        uint32 originNetwork,
        address originAddress,
        uint32 destinationNetwork,
        address destinationAddress,
        uint256 amount,
        bytes memory metadata
    ) private {
        emit BridgeEvent(
            leafType,
            originNetwork,
            originAddress,
            destinationNetwork,
            destinationAddress,
            amount,
            metadata,
            uint32(depositCount)
        );
        _append(
            getLeafValue(
                leafType,
                originNetwork,
                originAddress,
                destinationNetwork,
                destinationAddress,
                amount,
                keccak256(metadata)
            )
        );
    }

    function _updateGlobalExitRoot() private {
        lastUpdatedDepositCount = uint32(depositCount);
        globalExitRootManager.updateExitRoot(getRoot());
    }
}
