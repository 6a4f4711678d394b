// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IBridgeMessageReceiver} from "./Interfaces.sol";

/// @notice Keeps the last message that a bridge delivered. Refuses the message "refuse".
contract MessageReceiver is IBridgeMessageReceiver {
    error MessageRefused();

    event MessageReceived(address originAddress, uint32 originNetwork, bytes data, uint256 value);

    bytes32 private constant REFUSED = keccak256("refuse");

    uint256 public messageCount;
    address public lastOriginAddress;
    uint32 public lastOriginNetwork;
    bytes public lastData;

    function onMessageReceived(address originAddress, uint32 originNetwork, bytes calldata data) external payable {
        if (keccak256(data) == REFUSED) revert MessageRefused();
        ++messageCount;
        lastOriginAddress = originAddress;
        lastOriginNetwork = originNetwork;
        lastData = data;
        emit MessageReceived(originAddress, originNetwork, data, msg.value);
    }
}
