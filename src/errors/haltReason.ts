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
