// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// @notice Binary keccak256 trees of depth 32 whose missing leaves are 32 zero bytes (not the hash of anything).
library Keccak32 {
    uint256 internal constant DEPTH = 32;

    function join(bytes32 left, bytes32 right) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(left, right));
    }

    /// @notice Folds `leaf` at `position` upwards. `siblings` start at leaf level; a set bit of `position` means that the sibling is on the left.
    function rootOf(bytes32 leaf, bytes32[32] calldata siblings, uint32 position) internal pure returns (bytes32 node) {
        node = leaf;
        for (uint256 height = 0; height < DEPTH; ++height) {
            node = (position >> height) & 1 == 1 ? join(siblings[height], node) : join(node, siblings[height]);
        }
    }

    /// @notice Root over `nodes`, the leaves from position 0 on. Overwrites `nodes`.
    function rootOver(bytes32[] memory nodes) internal pure returns (bytes32) {
        uint256 width = nodes.length;
        bytes32 empty;
        for (uint256 height = 0; height < DEPTH; ++height) {
            uint256 parents = (width + 1) / 2;
            for (uint256 i = 0; i < parents; ++i) {
                nodes[i] = join(nodes[2 * i], 2 * i + 1 < width ? nodes[2 * i + 1] : empty);
            }
            width = parents;
            empty = join(empty, empty);
        }
        return nodes[0];
    }
}

/// @notice An append-only tree that keeps one node per height: the newest complete left subtree of that size.
abstract contract ExitTree {
    error MerkleTreeFull();
    error NotBehindTheLastLeaf();

    /// @dev Node at height h is meaningful while bit h of `depositCount` is set.
    bytes32[32] private _frontier;

    /// @dev Kept to grow the tree again behind a cut. The real contract gets the frontier as an argument instead.
    mapping(uint256 position => bytes32 leaf) private _leaves;

    /// @notice Number of leaves. The next leaf gets this number as its 0-based position.
    uint256 public depositCount;

    function _append(bytes32 leaf) internal {
        uint256 position = depositCount;
        // 2^32 - 1 leaves at most, so `depositCount` always fits its 32 heights.
        if (position == type(uint32).max) revert MerkleTreeFull();
        depositCount = position + 1;
        _leaves[position] = leaf;

        bytes32 node = leaf;
        uint256 height = 0;
        for (; position & 1 == 1; position >>= 1) {
            node = Keccak32.join(_frontier[height++], node);
        }
        _frontier[height] = node;
    }

    /// @dev Keeps only the first `leafCount` leaves.
    function _truncate(uint256 leafCount) internal {
        if (leafCount >= depositCount) revert NotBehindTheLastLeaf();
        depositCount = 0;
        for (uint256 position = 0; position < leafCount; ++position) _append(_leaves[position]);
    }

    /// @notice Root over all leaves; the root of 32 levels of zeros while there is none.
    function getRoot() public view virtual returns (bytes32 root) {
        uint256 count = depositCount;
        bytes32 empty;
        for (uint256 height = 0; height < Keccak32.DEPTH; ++height) {
            root = (count >> height) & 1 == 1 ? Keccak32.join(_frontier[height], root) : Keccak32.join(root, empty);
            empty = Keccak32.join(empty, empty);
        }
    }
}
