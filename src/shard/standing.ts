import type { HaltReason } from '../errors/haltReason.js'

/**
 * Whether a network that halted for this reason must not be answered for with proofs and readiness. Without disk space or
 * endpoints its data are only old; every other reason casts doubt on what is stored or on what should have followed.
 */
export function isInDoubt(reason: HaltReason): boolean {
  return reason !== 'none' && reason !== 'disk_full' && reason !== 'rpc_unavailable'
}
