/**
 * Why a network stands still, as a short stable code. The position in this list is its number in shared memory
 * (0 = not halted): append only, never reorder.
 */
export const haltReasons = [
  'none',
  'deposit_count_gap',
  'l1_info_root_mismatch',
  'exit_root_mismatch',
  'rollup_exit_root_mismatch',
  'missing_log',
  'undecodable_event',
  'reorg_too_deep',
  'wrong_chain',
  'wrong_contract',
  'start_block_too_late',
  'corrupt_store',
  'rpc_unavailable',
  'pruned_history',
  'local_exit_tree_event',
  'internal_error',
  'disk_full',
  'state_unavailable',
  'data_folder_lost',
  'log_position_overflow',
  'answer_too_large',
] as const

export type HaltReason = (typeof haltReasons)[number]

const HARMLESS: readonly HaltReason[] = [
  'disk_full',
  'rpc_unavailable',
  'state_unavailable',
  'answer_too_large',
]

/**
 * Whether a network that halted for this reason must not be answered for with proofs and readiness. Without disk space,
 * endpoints, or endpoints that answer contract calls its data are only old or incomplete; every other reason casts doubt on
 * what is stored or on what should have followed.
 */
export function isInDoubt(reason: HaltReason): boolean {
  return reason !== 'none' && !HARMLESS.includes(reason)
}
