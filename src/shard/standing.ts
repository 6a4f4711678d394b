import type { HaltReason } from '../errors/haltReason.js'

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
