import { isL1, L1_NETWORK_ID } from '../../protocol/networks.js'
import type { L1InfoTreeIndex } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import type { InjectedL1InfoLeafRecord } from '../../query/proofRecords.js'
import type { InjectedL1InfoLeafQuery } from '../../query/queries.js'
import { leafIndexBeyondTip, notFinalYet, notInjectedYet } from '../../query/refusals.js'
import { findHalted } from './findDeposit.js'
import type { ShardReaders } from './shardReaders.js'

/** The first L1 info leaf from an index on whose global exit root the network accepts now. The L1 accepts each of its own. */
export function getInjectedL1InfoLeaf(
  shards: ShardReaders,
  { networkId, leafIndex }: InjectedL1InfoLeafQuery,
): Answer<InjectedL1InfoLeafRecord> {
  const halted = findHalted(shards, [networkId, L1_NETWORK_ID])
  if (halted !== undefined) return halted
  const { l1Info, state } = shards.get(L1_NETWORK_ID)
  let index: L1InfoTreeIndex = leafIndex
  if (isL1(networkId)) {
    if (leafIndex >= l1Info.leafCount) return leafIndexBeyondTip(leafIndex, l1Info.leafCount)
  } else {
    const accepted = shards.claimFacts.firstAcceptedFrom(shards.get(networkId), leafIndex)
    if (accepted === undefined) return notInjectedYet(networkId, leafIndex)
    index = accepted
  }
  const leaf = l1Info.getLeaf(index)
  if (leaf.blockNumber > state.finalizedBlock)
    return notFinalYet(index, leaf.blockNumber, state.finalizedBlock)
  return success({ ...leaf, l1InfoTreeIndex: index })
}
