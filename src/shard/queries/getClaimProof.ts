import type { Answer } from '../../query/answers.js'
import type { ClaimProofRecord } from '../../query/proofRecords.js'
import type { ClaimProofQuery } from '../../query/queries.js'
import { findDeposit } from './findDeposit.js'
import type { ShardReaders } from './shardReaders.js'

/** The proof of a deposit against the L1 info leaf that the query names. */
export function getClaimProof(
  shards: ShardReaders,
  { networkId, depositCount, leafIndex }: ClaimProofQuery,
): Answer<ClaimProofRecord> {
  const found = findDeposit(shards, networkId, depositCount)
  if (!found.ok) return found
  const { source, l1 } = found
  return shards.proofs.prove(source, l1, depositCount, source.deposits.get(depositCount), leafIndex)
}
