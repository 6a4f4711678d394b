import type { DepositCount, L1InfoTreeIndex, NetworkId } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import { notCoveredYet, notFinalYet, notInjectedYet } from '../../query/refusals.js'
import { type FoundDeposit, findHalted } from './findDeposit.js'
import type { ShardReaders } from './shardReaders.js'

/** The L1 info leaf to prove a deposit against. */
export interface UsableIndex {
  readonly index: L1InfoTreeIndex
  readonly firstCoveringIndex: L1InfoTreeIndex
}

/** The smallest index that covers the deposit, is final and is accepted by the destination; or why there is none. */
export function findUsableIndex(
  shards: ShardReaders,
  { source, l1 }: FoundDeposit,
  depositCount: DepositCount,
  destinationNetwork: NetworkId,
): Answer<UsableIndex> {
  const halted = findHalted(shards, [destinationNetwork])
  if (halted !== undefined) return halted
  const path = shards.claimFacts.path(source, destinationNetwork)
  const firstCoveringIndex = path.findFirstCovering(depositCount)
  if (firstCoveringIndex === undefined)
    return notCoveredYet(source.networkId, depositCount, l1.l1Info.leafCount)
  const index = path.findAccepted(depositCount)
  if (index === undefined) return notInjectedYet(destinationNetwork, firstCoveringIndex)
  if (path.findUsable(depositCount) === undefined)
    return notFinalYet(index, l1.l1Info.getLeaf(index).blockNumber, l1.state.finalizedBlock)
  return success({ index, firstCoveringIndex })
}

/** The smallest index that covers the deposit, if it is final, whatever the destination accepts; or why there is none. */
export function findCoveringIndex(
  shards: ShardReaders,
  { source, l1 }: FoundDeposit,
  depositCount: DepositCount,
  destinationNetwork: NetworkId,
): Answer<UsableIndex> {
  const path = shards.claimFacts.path(source, destinationNetwork)
  const index = path.findFirstCovering(depositCount)
  if (index === undefined) return notCoveredYet(source.networkId, depositCount, l1.l1Info.leafCount)
  if (index >= path.finalLeafCount)
    return notFinalYet(index, l1.l1Info.getLeaf(index).blockNumber, l1.state.finalizedBlock)
  return success({ index, firstCoveringIndex: index })
}
