import { encodeHex } from '../../protocol/hex.js'
import { shownMetadata } from '../../protocol/metadata.js'
import type { L1InfoTreeIndex } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import type { ClaimProofRecord } from '../../query/proofRecords.js'
import type { ClaimProofQuery } from '../../query/queries.js'
import { destinationUnknown, globalExitRootUnknown } from '../../query/refusals.js'
import { type FoundDeposit, findDeposit } from './findDeposit.js'
import { findUsableIndex } from './findUsableIndex.js'
import type { ShardReaders } from './shardReaders.js'

/** The proof of a deposit against the L1 info leaf that the query names, or the one to use for a claim where it names none. */
export function getClaimProof(shards: ShardReaders, query: ClaimProofQuery): Answer<ClaimProofRecord> {
  const { networkId, depositCount } = query
  const found = findDeposit(shards, networkId, depositCount)
  if (!found.ok) return found
  const index = chooseLeaf(shards, found, query)
  if (!index.ok) return index
  const { source, l1 } = found
  const row = source.deposits.get(depositCount)
  const proof = shards.proofs.prove(source, l1, depositCount, row, index.value)
  if (query.withMetadata !== true || !proof.ok) return proof
  const { metadata } = shownMetadata(source.dictionary.getWhole(row.metadataId))
  return success({ ...proof.value, depositMetadata: metadata })
}

function chooseLeaf(
  shards: ShardReaders,
  found: FoundDeposit,
  { depositCount, leafIndex, globalExitRoot }: ClaimProofQuery,
): Answer<L1InfoTreeIndex> {
  if (leafIndex !== undefined) return success(leafIndex)
  if (globalExitRoot !== undefined) {
    const index = found.l1.l1Info.findIndexByGer(globalExitRoot)
    // Of equal roots any leaf proves the same.
    return index === undefined
      ? globalExitRootUnknown(encodeHex(globalExitRoot))
      : success(index as L1InfoTreeIndex)
  }
  const destinationNetwork = found.source.deposits.peekDestinationNetwork(depositCount)
  if (shards.findConfig(destinationNetwork) === undefined) return destinationUnknown(destinationNetwork)
  const usable = findUsableIndex(shards, found, depositCount, destinationNetwork)
  return usable.ok ? success(usable.value.index) : usable
}
