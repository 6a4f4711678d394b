// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// @notice What a bridge needs of its network's global exit root manager, on L1 and on L2.
interface IGlobalExitRootManager {
    function updateExitRoot(bytes32 newRoot) external;

    /// @return Zero while the global exit root is not known here.
    function globalExitRootMap(bytes32 globalExitRoot) external view returns (uint256);
}

/// @notice What the rollup manager needs of the L1 global exit root manager in addition.
interface IL1GlobalExitRootManager is IGlobalExitRootManager {
    function getRoot() external view returns (bytes32);
}

/// @notice Implemented by contracts that take messages from the bridge.
interface IBridgeMessageReceiver {
    function onMessageReceived(address originAddress, uint32 originNetwork, bytes calldata data) external payable;
}

interface IERC20 {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function approve(address spender, uint256 amount) external returns (bool);
}

interface IERC20Metadata is IERC20 {
    function name() external view returns (string memory);
    function symbol() external view returns (string memory);
    function decimals() external view returns (uint8);
}

interface IBridge {
    function bridgeAsset(
        uint32 destinationNetwork,
        address destinationAddress,
        uint256 amount,
        address token,
        bool forceUpdateGlobalExitRoot,
        bytes calldata permitData
    ) external payable;

    function bridgeMessage(
        uint32 destinationNetwork,
        address destinationAddress,
        bool forceUpdateGlobalExitRoot,
        bytes calldata metadata
    ) external payable;
}
