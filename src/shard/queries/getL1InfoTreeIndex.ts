import { type Answer, success } from '../../query/answers.js'
import type { L1InfoTreeIndexRecord } from '../../query/proofRecords.js'
import type { L1InfoTreeIndexQuery } from '../../query/queries.js'
import { findDeposit } from './findDeposit.js'
import { findCoveringIndex, findUsableIndex } from './findUsableIndex.js'
import type { ShardReaders } from './shardReaders.js'

/** The L1 info leaf to prove a deposit against: the value of `leaf_index` for the claim proof. */
export function getL1InfoTreeIndex(
  shards: ShardReaders,
  { networkId, depositCount, isFirstCovering = false }: L1InfoTreeIndexQuery,
): Answer<L1InfoTreeIndexRecord> {
  const found = findDeposit(shards, networkId, depositCount)
  if (!found.ok) return found
  const destinationNetwork = found.source.deposits.peekDestinationNetwork(depositCount)
  const usable = isFirstCovering
    ? findCoveringIndex(shards, found, depositCount, destinationNetwork)
    : findUsableIndex(shards, found, depositCount, destinationNetwork)
  if (!usable.ok) return usable
  const { index, firstCoveringIndex } = usable.value
  const { blockNumber, globalExitRoot, mainnetExitRoot, rollupExitRoot, timestampSec } =
    found.l1.l1Info.getLeaf(index)
  return success({
    l1InfoTreeIndex: index,
    blockNumber,
    globalExitRoot,
    firstCoveringIndex,
    mainnetExitRoot,
    rollupExitRoot,
    timestampSec,
  })
}
