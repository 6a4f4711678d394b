import { isInDoubt } from '../../board/haltReason.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import type { Failure } from '../../query/answers.js'
import { depositNotIndexed, networkHalted } from '../../query/refusals.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { ShardReaders } from './shardReaders.js'

/** The shards that every answer about claiming a deposit needs, once the deposit is known to be stored. */
export interface FoundDeposit {
  readonly ok: true
  readonly source: ShardView
  readonly l1: ShardView
}

/** Looks for the deposit before it looks for halts: an unknown deposit is BRIDGE_NOT_FOUND even while a network is halted. */
export function findDeposit(
  shards: ShardReaders,
  networkId: NetworkId,
  depositCount: DepositCount,
): FoundDeposit | Failure {
  const source = shards.get(networkId)
  const { count } = source.deposits
  if (depositCount >= count) return depositNotIndexed(networkId, depositCount, count)
  return findHalted(shards, [networkId, L1_NETWORK_ID]) ?? { ok: true, source, l1: shards.get(L1_NETWORK_ID) }
}

/** SERVICE_UNAVAILABLE for the first of the networks whose data a halt makes doubtful; undefined when there is none. */
export function findHalted(shards: ShardReaders, networkIds: readonly NetworkId[]): Failure | undefined {
  for (const networkId of networkIds) {
    const reason = shards.haltReason(networkId)
    if (isInDoubt(reason)) return networkHalted(networkId, reason)
  }
  return undefined
}
