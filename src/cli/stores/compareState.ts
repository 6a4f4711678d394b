import type { ChainClient } from '../../chain/chainClient.types.js'
import type { NetworkConfig } from '../../config/config.types.js'
import { emergencyState } from '../../indexer/audit/audit.js'
import { ClaimAudit } from '../../indexer/audit/claimAudit.js'
import { InjectionAudit } from '../../indexer/audit/injectionAudit.js'
import { TokenMappingAudit } from '../../indexer/audit/tokenMappingAudit.js'
import type { ComparedValue } from '../../indexer/recovery/comparedValue.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import type { L1InfoGerReader } from '../../shard/readiness/l1ShardReader.js'
import { readPolledLeaves } from '../../shard/write/applyOutsideBlocks.js'
import { openContractState } from '../../shard/write/contractState.js'
import type { ReadView } from '../../store/shardStore.types.js'

/** How one check ended. `skipped`: it could not be made, so the data may be good or damaged. */
export interface CheckOutcome {
  readonly name: string
  readonly outcome: 'good' | 'damaged' | 'skipped'
  readonly detail: string
}

export interface StateComparison {
  readonly network: NetworkConfig
  readonly view: ReadView
  readonly hasher: TreeHasher
  readonly client: ChainClient
  readonly checkpoint: BlockHeader
  /** Number of deposits in the stores of the other networks. */
  readonly indexedDeposits: ReadonlyMap<NetworkId, number>
  /** The L1's info leaves; undefined when this is the L1, or its store does not exist. */
  readonly leaves: Pick<L1InfoGerReader, 'read'> | undefined
}

/** Compares every claim, token mapping and injection and the emergency state with the contracts. @throws what the client throws. */
export async function compareState(
  comparison: StateComparison,
  signal: AbortSignal,
): Promise<CheckOutcome[]> {
  const { network, view, hasher, client, checkpoint, indexedDeposits, leaves } = comparison
  const { gerInjection } = network
  const networkId = asNetworkId(network.networkId)
  const contractState = openContractState(view, hasher)
  const outcomeOf = async (
    name: string,
    difference: ComparedValue | undefined,
    isCompared = true,
  ): Promise<CheckOutcome> => {
    const block = checkpoint.number
    if (difference !== undefined) {
      const theirs = await difference.ask(client, block, signal)
      const detail = `${difference.what} at block ${block}: the contract has ${theirs}, indexed ${difference.ours()}`
      return { name, outcome: 'damaged', detail }
    }
    if (isCompared) return { name, outcome: 'good', detail: `equal to the contract at block ${block}` }
    return { name, outcome: 'skipped', detail: `no endpoint has the state of block ${block}` }
  }
  const audit = new ClaimAudit({ networkId, client, contractState, indexedDeposits: () => indexedDeposits })
  const claims = await audit.compareAll(checkpoint, signal)
  const outcomes = [await outcomeOf('contract claims', claims.difference, claims.isCompared)]
  const emergency = emergencyState(contractState)
  const theirs = await emergency.ask(client, checkpoint.number, signal)
  const isDifferent = theirs !== undefined && theirs !== emergency.ours()
  outcomes.push(
    await outcomeOf('contract emergency', isDifferent ? emergency : undefined, theirs !== undefined),
  )
  const mappings = await new TokenMappingAudit({ client, contractState }).compare(checkpoint, signal)
  outcomes.push(await outcomeOf('contract token mappings', mappings))
  const isPolled =
    gerInjection === 'poll' || (gerInjection === 'auto' && readPolledLeaves(view) !== undefined)
  if (leaves === undefined || isPolled) return outcomes
  const hasEvents = () =>
    gerInjection === 'event' || contractState.insertionChain().some((byte) => byte !== 0)
  const injections = new InjectionAudit({ client, contractState, leaves, hasEvents, isPolled: () => false })
  const differing = await injections.compare(checkpoint, signal)
  return [...outcomes, await outcomeOf('contract injections', differing)]
}
