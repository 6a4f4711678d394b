// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IBridge, IERC20} from "./Interfaces.sol";

/// @notice Makes several deposits in one transaction, as a contract: tx.from is then not the account that called the bridge.
contract BridgeCaller {
    struct Deposit {
        bool isMessage;
        uint32 destinationNetwork;
        address destinationAddress;
        /// ETH of a message, or amount of an asset.
        uint256 amount;
        /// Zero for ETH.
        address token;
        bool forceUpdateGlobalExitRoot;
        /// Of a message.
        bytes metadata;
    }

    function bridgeAll(IBridge bridge, Deposit[] calldata deposits) external payable {
        for (uint256 i = 0; i < deposits.length; ++i) {
            Deposit calldata deposit = deposits[i];
            if (deposit.isMessage) {
                bridge.bridgeMessage{value: deposit.amount}(
                    deposit.destinationNetwork,
                    deposit.destinationAddress,
                    deposit.forceUpdateGlobalExitRoot,
                    deposit.metadata
                );
            } else {
                if (deposit.token != address(0)) {
                    IERC20(deposit.token).transferFrom(msg.sender, address(this), deposit.amount);
                    IERC20(deposit.token).approve(address(bridge), deposit.amount);
                }
                bridge.bridgeAsset{value: deposit.token == address(0) ? deposit.amount : 0}(
                    deposit.destinationNetwork,
                    deposit.destinationAddress,
                    deposit.amount,
                    deposit.token,
                    deposit.forceUpdateGlobalExitRoot,
                    ""
                );
            }
        }
    }
}
