import type { Answer } from '../../query/answers.js'
import type { ClaimProofQuery } from '../../query/queries.js'
import type { ClaimProofRecord } from '../../query/records.js'
import { findDeposit } from './findDeposit.js'
import type { ShardReaders } from './shardReaders.js'

/** Proof of a deposit against any L1 info leaf that covers it and is final. */
export function getClaimProof(
  shards: ShardReaders,
  { networkId, depositCount, leafIndex }: ClaimProofQuery,
): Answer<ClaimProofRecord> {
  const found = findDeposit(shards, networkId, depositCount)
  if (!found.ok) return found
  const { source, l1 } = found
  return shards.proofs.prove(source, l1, depositCount, source.deposits.get(depositCount), leafIndex)
}
