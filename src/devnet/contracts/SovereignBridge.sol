// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Keccak32} from "./ExitTree.sol";
import {WrappedTokens} from "./WrappedTokens.sol";

/// @notice What only the bridges of sovereign networks have: an administrator who remaps tokens, sets and unsets claims, and cuts and
/// extends the local exit tree. The real contract has a role for each; here one account has them all.
abstract contract SovereignBridge is WrappedTokens {
    error OnlyEmergencyAdmin();
    error InputArraysLengthMismatch();
    error OriginNetworkInvalid();
    error InvalidZeroAddress();
    error TokenAlreadyMapped();
    error TokenNotRemapped();
    error TokenNotMapped();
    error TokenAlreadyUpdated();

    event BackwardLET(
        uint256 previousDepositCount,
        bytes32 previousRoot,
        uint256 newDepositCount,
        bytes32 newRoot
    );
    event ForwardLET(
        uint256 previousDepositCount,
        bytes32 previousRoot,
        uint256 newDepositCount,
        bytes32 newRoot,
        bytes newLeaves
    );
    event SetSovereignTokenAddress(
        uint32 originNetwork,
        address originTokenAddress,
        address sovereignTokenAddress,
        bool isNotMintable
    );
    event MigrateLegacyToken(
        address sender,
        address legacyTokenAddress,
        address updatedTokenAddress,
        uint256 amount
    );
    event RemoveLegacySovereignTokenAddress(address sovereignTokenAddress);
    event SetClaim(bytes32 globalIndex);
    event UpdatedUnsetGlobalIndexHashChain(bytes32 unsetGlobalIndex, bytes32 newUnsetGlobalIndexHashChain);

    struct LeafData {
        uint8 leafType;
        uint32 originNetwork;
        address originAddress;
        uint32 destinationNetwork;
        address destinationAddress;
        uint256 amount;
        bytes metadata;
    }

    address public immutable emergencyAdmin;
    bytes32 public unsetGlobalIndexHashChain;

    modifier onlyEmergencyAdmin() {
        if (msg.sender != emergencyAdmin) revert OnlyEmergencyAdmin();
        _;
    }

    constructor(address admin) {
        emergencyAdmin = admin;
    }

    /// @notice Cuts the local exit tree: the deposit counts behind the cut are used again.
    function backwardLET(uint256 newDepositCount) external onlyEmergencyAdmin {
        uint256 previousDepositCount = depositCount;
        bytes32 previousRoot = getRoot();
        _truncate(newDepositCount);
        emit BackwardLET(previousDepositCount, previousRoot, newDepositCount, getRoot());
    }

    /// @notice Appends leaves to the local exit tree without a BridgeEvent.
    function forwardLET(LeafData[] calldata newLeaves) external onlyEmergencyAdmin {
        uint256 previousDepositCount = depositCount;
        bytes32 previousRoot = getRoot();
        for (uint256 i = 0; i < newLeaves.length; ++i) {
            LeafData calldata leaf = newLeaves[i];
            _append(
                getLeafValue(
                    leaf.leafType,
                    leaf.originNetwork,
                    leaf.originAddress,
                    leaf.destinationNetwork,
                    leaf.destinationAddress,
                    leaf.amount,
                    keccak256(leaf.metadata)
                )
            );
        }
        emit ForwardLET(previousDepositCount, previousRoot, depositCount, getRoot(), abi.encode(newLeaves));
    }

    /// @notice Tokens that stand for tokens of other networks from now on, whether those had one before or not.
    function setMultipleSovereignTokenAddress(
        uint32[] calldata originNetworks,
        address[] calldata originTokenAddresses,
        address[] calldata sovereignTokenAddresses,
        bool[] calldata isNotMintable
    ) external onlyEmergencyAdmin {
        uint256 count = originNetworks.length;
        if (
            originTokenAddresses.length != count ||
            sovereignTokenAddresses.length != count ||
            isNotMintable.length != count
        ) revert InputArraysLengthMismatch();
        for (uint256 i = 0; i < count; ++i) {
            _setSovereignToken(
                originNetworks[i],
                originTokenAddresses[i],
                sovereignTokenAddresses[i],
                isNotMintable[i]
            );
        }
    }

    /// @notice Ends the support of a token that was replaced: bridged from now on, it is a token of this network.
    function removeLegacySovereignTokenAddress(address legacySovereignTokenAddress) external onlyEmergencyAdmin {
        address current = _successorOf(legacySovereignTokenAddress);
        if (current == address(0) || current == legacySovereignTokenAddress) revert TokenNotRemapped();
        delete wrappedTokenToTokenInfo[legacySovereignTokenAddress];
        delete wrappedAddressIsNotMintable[legacySovereignTokenAddress];
        emit RemoveLegacySovereignTokenAddress(legacySovereignTokenAddress);
    }

    /// @notice Changes the sender's balance of a token that was replaced into the current token.
    function migrateLegacyToken(address legacyTokenAddress, uint256 amount, bytes calldata permitData) external {
        if (permitData.length != 0) revert PermitNotSupported();
        if (wrappedTokenToTokenInfo[legacyTokenAddress].originTokenAddress == address(0)) revert TokenNotMapped();
        address current = _successorOf(legacyTokenAddress);
        if (current == legacyTokenAddress) revert TokenAlreadyUpdated();
        _payWrapped(current, msg.sender, _takeWrapped(legacyTokenAddress, amount));
        emit MigrateLegacyToken(msg.sender, legacyTokenAddress, current, amount);
    }

    /// @notice Marks deposits as claimed without paying them out.
    function setMultipleClaims(uint256[] calldata globalIndexes) external onlyEmergencyAdmin {
        for (uint256 i = 0; i < globalIndexes.length; ++i) {
            (uint32 leafIndex, uint32 sourceNetwork) = _decodeGlobalIndex(globalIndexes[i]);
            _setClaimed(leafIndex, sourceNetwork);
            emit SetClaim(bytes32(globalIndexes[i]));
        }
    }

    /// @notice Lets deposits be claimed once more. Takes nothing back from who was paid.
    function unsetMultipleClaims(uint256[] calldata globalIndexes) external onlyEmergencyAdmin {
        for (uint256 i = 0; i < globalIndexes.length; ++i) {
            (uint32 leafIndex, uint32 sourceNetwork) = _decodeGlobalIndex(globalIndexes[i]);
            _unsetClaimed(leafIndex, sourceNetwork);
            unsetGlobalIndexHashChain = Keccak32.join(unsetGlobalIndexHashChain, bytes32(globalIndexes[i]));
            emit UpdatedUnsetGlobalIndexHashChain(bytes32(globalIndexes[i]), unsetGlobalIndexHashChain);
        }
    }

    function _setSovereignToken(
        uint32 originNetwork,
        address originTokenAddress,
        address sovereignTokenAddress,
        bool isNotMintable
    ) private {
        if (originNetwork == networkID) revert OriginNetworkInvalid();
        if (originTokenAddress == address(0) || sovereignTokenAddress == address(0)) revert InvalidZeroAddress();
        if (wrappedTokenToTokenInfo[sovereignTokenAddress].originTokenAddress != address(0)) {
            revert TokenAlreadyMapped();
        }
        tokenInfoToWrappedToken[_tokenInfoHash(originNetwork, originTokenAddress)] = sovereignTokenAddress;
        wrappedTokenToTokenInfo[sovereignTokenAddress] = TokenInformation(originNetwork, originTokenAddress);
        wrappedAddressIsNotMintable[sovereignTokenAddress] = isNotMintable;
        emit SetSovereignTokenAddress(originNetwork, originTokenAddress, sovereignTokenAddress, isNotMintable);
    }

    /// @return The current token of what `token` stands for: `token` itself, or what replaced it. Zero where it stands for nothing.
    function _successorOf(address token) private view returns (address) {
        TokenInformation memory home = wrappedTokenToTokenInfo[token];
        return tokenInfoToWrappedToken[_tokenInfoHash(home.originNetwork, home.originTokenAddress)];
    }
}
