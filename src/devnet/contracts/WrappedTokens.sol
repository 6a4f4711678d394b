// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ClaimVerifier} from "./ClaimVerifier.sol";
import {IERC20, IERC20Metadata} from "./Interfaces.sol";
import {WrappedToken} from "./Tokens.sol";

/// @notice Tokens that pass through the bridge: locked at home, minted and burnt as wrapped tokens elsewhere.
abstract contract WrappedTokens is ClaimVerifier {
    error TokenTransferFailed();

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
    mapping(address wrappedTokenAddress => TokenInformation) public wrappedTokenToTokenInfo;

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
            WrappedToken(token).burn(msg.sender, amount);
            received = amount;
        } else {
            home = TokenInformation(networkID, token);
            uint256 before = IERC20(token).balanceOf(address(this));
            if (!IERC20(token).transferFrom(msg.sender, address(this), amount)) revert TokenTransferFailed();
            received = IERC20(token).balanceOf(address(this)) - before;
        }
        metadata = abi.encode(
            IERC20Metadata(token).name(),
            IERC20Metadata(token).symbol(),
            IERC20Metadata(token).decimals()
        );
    }

    /// @dev The first claim of an asset deploys its wrapped token by CREATE2, with the token's key as the salt.
    function _mintWrapped(
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
            WrappedToken(wrapped).mint(to, amount);
        }
    }

    function _tokenInfoHash(uint32 originNetwork, address originTokenAddress) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(originNetwork, originTokenAddress));
    }
}
