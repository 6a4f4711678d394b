import type { RecordDefinition, RecordOf } from './recordFields.js'
import { canonicalGlobalIndex } from './sharedFields.js'

/** What is answered to whoever wants to claim one deposit. */

/** One leaf of the L1 info tree with everything around it. Names in camelCase: callers hand a proof to the contract as it is. */
export const l1InfoLeafDefinition = {
  title: 'L1InfoTreeLeaf',
  description: 'Leaf of the L1 info tree.',
  fields: {
    globalExitRoot: {
      wire: 'globalExitRoot',
      kind: 'hash',
      description: 'keccak256(mainnetExitRoot, rollupExitRoot).',
    },
    blockNumber: { wire: 'blockNumber', kind: 'blockNumber', description: 'Block of the leaf on the L1.' },
    timestampSec: { wire: 'timestamp', kind: 'unixSeconds', description: 'Unix seconds.' },
    l1InfoTreeIndex: {
      wire: 'l1InfoTreeIndex',
      kind: 'l1InfoTreeIndex',
      description: 'Index of the leaf.',
    },
    mainnetExitRoot: {
      wire: 'mainnetExitRoot',
      kind: 'hash',
      description: 'Mainnet exit root of the leaf.',
    },
    rollupExitRoot: { wire: 'rollupExitRoot', kind: 'hash', description: 'Rollup exit root of the leaf.' },
    previousBlockHash: {
      wire: 'previousBlockHash',
      kind: 'hash',
      description: 'Hash of the parent of the block.',
    },
    hash: {
      wire: 'hash',
      kind: 'hash',
      description: 'The leaf itself: keccak256(globalExitRoot, previousBlockHash, timestamp).',
    },
  },
} as const satisfies RecordDefinition

export type L1InfoLeafRecord = RecordOf<typeof l1InfoLeafDefinition>

export const claimProofDefinition = {
  title: 'ClaimProof',
  description: 'Everything that the claim contract function asks for.',
  fields: {
    localExitRootBranch: {
      wire: 'smtProofLocalExitRoot',
      kind: 'branch',
      description: 'Siblings under the local exit root, leaf level first.',
    },
    rollupExitRootBranch: {
      wire: 'smtProofRollupExitRoot',
      kind: 'branch',
      description: 'Siblings under the rollup exit root, leaf level first; zero words for network 0.',
    },
    leaf: { wire: 'l1InfoTreeLeaf', record: l1InfoLeafDefinition },
    globalIndex: { ...canonicalGlobalIndex, wire: 'globalIndex' },
    leafHash: {
      wire: 'leafHash',
      kind: 'hash',
      description: 'Leaf of the deposit in the local exit tree.',
    },
  },
} as const satisfies RecordDefinition

export interface ClaimProofRecord extends RecordOf<typeof claimProofDefinition> {
  /** True when neither half can change any more: finalised on the L1 and unchanged by any reorg that may be followed. */
  readonly isFinal: boolean
  /** Of the deposit; null where it is longer than any answer. Absent unless the query asks for it. */
  readonly depositMetadata?: Uint8Array | null
}

export const l1InfoTreeIndexDefinition = {
  title: 'L1InfoTreeIndexResponse',
  description: 'Which leaf to use for the proof.',
  fields: {
    l1InfoTreeIndex: {
      wire: 'l1_info_tree_index',
      kind: 'l1InfoTreeIndex',
      description: 'Value for `leaf_index` of the claim proof.',
    },
    blockNumber: {
      wire: 'block_number',
      kind: 'blockNumber',
      description: 'Block of that leaf on the L1.',
    },
    globalExitRoot: {
      wire: 'global_exit_root',
      kind: 'hash',
      description: 'Global exit root of that leaf.',
    },
    firstCoveringIndex: {
      wire: 'first_covering_index',
      kind: 'l1InfoTreeIndex',
      description: 'First leaf that covers the deposit, whether usable at the destination or not.',
    },
    mainnetExitRoot: {
      wire: 'mainnet_exit_root',
      kind: 'hash',
      description: 'Mainnet exit root of that leaf.',
    },
    rollupExitRoot: {
      wire: 'rollup_exit_root',
      kind: 'hash',
      description: 'Rollup exit root of that leaf.',
    },
    timestampSec: { wire: 'timestamp', kind: 'unixSeconds', description: 'Unix seconds of that leaf.' },
  },
} as const satisfies RecordDefinition

export type L1InfoTreeIndexRecord = RecordOf<typeof l1InfoTreeIndexDefinition>

const leafFields = l1InfoLeafDefinition.fields

export const injectedL1InfoLeafDefinition = {
  title: 'InjectedL1InfoLeafResponse',
  description: 'A leaf of the L1 info tree that a network accepts now.',
  fields: {
    l1InfoTreeIndex: {
      ...leafFields.l1InfoTreeIndex,
      wire: 'l1_info_tree_index',
      description: 'Index of the leaf: a value for `leaf_index` of the claim proof.',
    },
    blockNumber: { ...leafFields.blockNumber, wire: 'block_number' },
    timestampSec: leafFields.timestampSec,
    globalExitRoot: {
      ...leafFields.globalExitRoot,
      wire: 'global_exit_root',
      description: 'keccak256(mainnet_exit_root, rollup_exit_root).',
    },
    mainnetExitRoot: { ...leafFields.mainnetExitRoot, wire: 'mainnet_exit_root' },
    rollupExitRoot: { ...leafFields.rollupExitRoot, wire: 'rollup_exit_root' },
    previousBlockHash: { ...leafFields.previousBlockHash, wire: 'previous_block_hash' },
    hash: {
      ...leafFields.hash,
      description: 'The leaf itself: keccak256(global_exit_root, previous_block_hash, timestamp).',
    },
  },
} as const satisfies RecordDefinition

export type InjectedL1InfoLeafRecord = RecordOf<typeof injectedL1InfoLeafDefinition>

/** The claim call of one deposit. */
export const claimTransactionDefinition = {
  title: 'ClaimTransactionResponse',
  description: 'The claim call, ready to sign.',
  fields: {
    to: { wire: 'to', kind: 'address', description: 'Bridge contract on the destination network.' },
    data: { wire: 'data', kind: 'bytes', description: 'ABI-encoded claimAsset or claimMessage.' },
    value: { wire: 'value', kind: 'amount', description: 'Always 0.' },
    chainId: {
      wire: 'chain_id',
      kind: 'count',
      minimum: 1,
      description: 'Chain id of the destination network.',
    },
    leafType: { wire: 'leaf_type', kind: 'uint8', description: '0 claimAsset, 1 claimMessage.' },
    sourceNetwork: {
      wire: 'origin_network',
      kind: 'networkId',
      description: 'Source network of the deposit.',
    },
    destinationNetwork: {
      wire: 'destination_network',
      kind: 'networkId',
      description: 'Network where the call is made.',
    },
    depositCount: {
      wire: 'deposit_count',
      kind: 'depositCount',
      description: 'Deposit count of the deposit.',
    },
    globalIndex: canonicalGlobalIndex,
    l1InfoTreeIndex: {
      wire: 'l1_info_tree_index',
      kind: 'l1InfoTreeIndex',
      description: 'L1 info tree index that the proof uses.',
    },
  },
} as const satisfies RecordDefinition

export type ClaimTransactionRecord = RecordOf<typeof claimTransactionDefinition>
