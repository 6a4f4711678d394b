// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ClaimVerifier} from "./ClaimVerifier.sol";
import {IERC20, IERC20Metadata} from "./Interfaces.sol";
import {WrappedToken} from "./Tokens.sol";

/// @notice Tokens that pass through the bridge: locked at home, minted and burnt as wrapped tokens elsewhere.
abstract contract WrappedTokens is ClaimVerifier {
    error TokenTransferFailed();
    error PermitNotSupported();

    event NewWrappedToken(
        uint32 originNetwork,
        address originTokenAddress,
        address wrappedTokenAddress,
        bytes metadata
    );

    struct TokenInformation {
        uint32 originNetwork;
        address originTokenAddress;
    }

    /// @notice By keccak256(origin network, origin token address), packed.
    mapping(bytes32 tokenInfoHash => address wrappedTokenAddress) public tokenInfoToWrappedToken;
    /// @notice A token that was replaced keeps its entry, so that it can be bridged out, until it is removed.
    mapping(address wrappedTokenAddress => TokenInformation) public wrappedTokenToTokenInfo;
    /// @notice Tokens that the bridge holds and pays out instead of minting and burning them.
    mapping(address wrappedTokenAddress => bool) public wrappedAddressIsNotMintable;

    function getTokenWrappedAddress(
        uint32 originNetwork,
        address originTokenAddress
    ) external view returns (address) {
        return tokenInfoToWrappedToken[_tokenInfoHash(originNetwork, originTokenAddress)];
    }

    /// @return home Where the token comes from.
    /// @return metadata abi.encode(name, symbol, decimals) as the token returns them now.
    /// @return received What arrived: less than `amount` for tokens that take a fee.
    function _takeToken(
        address token,
        uint256 amount
    ) internal returns (TokenInformation memory home, bytes memory metadata, uint256 received) {
        home = wrappedTokenToTokenInfo[token];
        if (home.originTokenAddress != address(0)) {
            received = _takeWrapped(token, amount);
        } else {
            home = TokenInformation(networkID, token);
            received = _pull(token, amount);
        }
        metadata = abi.encode(
            IERC20Metadata(token).name(),
            IERC20Metadata(token).symbol(),
            IERC20Metadata(token).decimals()
        );
    }

    /// @dev Burns the sender's tokens, or takes those that the bridge may not burn.
    function _takeWrapped(address wrapped, uint256 amount) internal returns (uint256 received) {
        if (wrappedAddressIsNotMintable[wrapped]) return _pull(wrapped, amount);
        WrappedToken(wrapped).burn(msg.sender, amount);
        return amount;
    }

    /// @dev Mints tokens, or pays out those that the bridge may not mint.
    function _payWrapped(address wrapped, address to, uint256 amount) internal {
        if (!wrappedAddressIsNotMintable[wrapped]) WrappedToken(wrapped).mint(to, amount);
        else if (!IERC20(wrapped).transfer(to, amount)) revert TokenTransferFailed();
    }

    /// @dev The first claim of an asset without a token here deploys it by CREATE2, with the token's key as the salt.
    function _claimWrapped(
        uint32 originNetwork,
        address originTokenAddress,
        address to,
        uint256 amount,
        bytes calldata metadata
    ) internal {
        bytes32 key = _tokenInfoHash(originNetwork, originTokenAddress);
        address wrapped = tokenInfoToWrappedToken[key];
        if (wrapped == address(0)) {
            (string memory name, string memory symbol, uint8 decimals) = abi.decode(
                metadata,
                (string, string, uint8)
            );
            wrapped = address(new WrappedToken{salt: key}(name, symbol, decimals));
            tokenInfoToWrappedToken[key] = wrapped;
            wrappedTokenToTokenInfo[wrapped] = TokenInformation(originNetwork, originTokenAddress);
            WrappedToken(wrapped).mint(to, amount);
            emit NewWrappedToken(originNetwork, originTokenAddress, wrapped, metadata);
        } else {
            _payWrapped(wrapped, to, amount);
        }
    }

    function _tokenInfoHash(uint32 originNetwork, address originTokenAddress) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(originNetwork, originTokenAddress));
    }

    function _pull(address token, uint256 amount) private returns (uint256 received) {
        uint256 before = IERC20(token).balanceOf(address(this));
        if (!IERC20(token).transferFrom(msg.sender, address(this), amount)) revert TokenTransferFailed();
        received = IERC20(token).balanceOf(address(this)) - before;
    }
}
