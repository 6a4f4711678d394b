/**
 * Why a network stands still, as a short code that users meet in metrics, logs and health. The status board holds its position
 * in this list; 0 = not halted.
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
  'newer_command',
  'log_full',
  'diverged',
  'behind_log',
] as const

export type HaltReason = (typeof haltReasons)[number]

const HARMLESS: readonly HaltReason[] = [
  'disk_full',
  'rpc_unavailable',
  'state_unavailable',
  'answer_too_large',
  'newer_command',
  'log_full',
  'behind_log',
]

/**
 * Whether this halt makes the network's data doubtful, so that nobody gets proofs or readiness from it. The harmless reasons
 * (no disk space, no endpoint, no endpoint that answers contract calls, an answer that is too large, a build that is too old for the log, no room in
 * the log, a log that has lost what comes next) only leave the data old or
 * incomplete.
 */
export function isInDoubt(reason: HaltReason): boolean {
  return reason !== 'none' && !HARMLESS.includes(reason)
}
