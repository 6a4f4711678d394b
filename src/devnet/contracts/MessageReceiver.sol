// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IBridgeMessageReceiver} from "./Interfaces.sol";

/// @notice Keeps the last message that a bridge delivered, and makes the calls that were left with it for that moment: claims and deposits
/// inside a claim. Refuses the message "refuse".
contract MessageReceiver is IBridgeMessageReceiver {
    error MessageRefused();
    error CallFailed();

    event MessageReceived(address originAddress, uint32 originNetwork, bytes data, uint256 value);

    struct Call {
        address target;
        /// Wei.
        uint256 value;
        bytes data;
    }

    bytes32 private constant REFUSED = keccak256("refuse");

    uint256 public messageCount;
    address public lastOriginAddress;
    uint32 public lastOriginNetwork;
    bytes public lastData;
    Call[] private _calls;

    /// @notice Leaves calls for the next message, in place of those that were left before. They are not part of the message, since the
    /// proof of a nested claim is mostly not known when the message is sent.
    function callOnNextMessage(Call[] calldata calls) external {
        delete _calls;
        for (uint256 i = 0; i < calls.length; ++i) _calls.push(calls[i]);
    }

    function onMessageReceived(address originAddress, uint32 originNetwork, bytes calldata data) external payable {
        if (keccak256(data) == REFUSED) revert MessageRefused();
        ++messageCount;
        lastOriginAddress = originAddress;
        lastOriginNetwork = originNetwork;
        lastData = data;
        emit MessageReceived(originAddress, originNetwork, data, msg.value);

        Call[] memory calls = _calls;
        // A call may bring the next message.
        delete _calls;
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool succeeded, ) = calls[i].target.call{value: calls[i].value}(calls[i].data);
            if (!succeeded) revert CallFailed();
        }
    }
}
