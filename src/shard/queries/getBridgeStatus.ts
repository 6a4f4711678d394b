import { isInDoubt } from '../../board/haltReason.js'
import { headPlaces } from '../../board/statusBoard.js'
import { encodeHex } from '../../protocol/hex.js'
import { isL1, L1_NETWORK_ID } from '../../protocol/networks.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import type { BridgeStatusQuery } from '../../query/queries.js'
import type { BridgeRecord } from '../../query/records.js'
import { depositNotIndexed, networkNotServed, transactionNotIndexed } from '../../query/refusals.js'
import {
  type AwaitedEvent,
  type AwaitedRecord,
  type BridgeStage,
  type BridgeStageRecord,
  type BridgeStatusAnswer,
  type BridgeStatusRecord,
  bridgeFieldsOfStatus,
  MAX_STATUSES,
  pick,
  type StageState,
} from '../../query/statusRecords.js'
import type { L1InfoLeafRow } from '../../store/layout/l1InfoLeafRow.js'
import type { EventPlace } from '../../store/places/eventPlace.js'
import type { ClaimPath } from '../readiness/claimPath.js'
import { claimsListedDeposit } from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import { makeBridgeRecord } from './bridgeRecord.js'
import { selectBridges } from './selectBridges.js'
import type { ShardReaders } from './shardReaders.js'

/**
 * The way of one bridge, or of each bridge of a transaction. It is told also while a network is halted, as lists are: from what is
 * stored, and nothing is ready then.
 */
export function getBridgeStatus(
  shards: ShardReaders,
  { networkId, depositCount, transactionHash }: BridgeStatusQuery,
): Answer<BridgeStatusAnswer> {
  if (depositCount !== undefined) {
    const source = shards.find(networkId!)
    if (source === undefined) return networkNotServed(networkId!)
    const { count } = source.deposits
    if (depositCount >= count) return depositNotIndexed(networkId!, depositCount, count)
    return success({ statuses: [new Way(shards, source, depositCount).status()], total: 1 })
  }
  const statuses: BridgeStatusRecord[] = []
  let total = 0
  for (const asked of networkId === undefined ? shards.networkIds : [networkId]) {
    const source = shards.get(asked)
    const query = { networkId: asked, transactionHash: transactionHash!, pageNumber: 1, pageSize: 1 }
    const found = selectBridges(shards, source, query)
    total += found.length
    const shown = Math.min(found.length, MAX_STATUSES - statuses.length)
    for (const count of found.slice(0, shown))
      statuses.push(new Way(shards, source, count as DepositCount).status())
  }
  return total === 0 ? transactionNotIndexed(encodeHex(transactionHash!)) : success({ statuses, total })
}

type StageFacts = Partial<Omit<BridgeStageRecord, 'stage' | 'state' | 'networkId' | 'typical'>>

/** A stage that is not reached, and what has to happen first; null where nobody here knows. */
interface Next {
  readonly stage: BridgeStage
  readonly event: AwaitedRecord | null
}

/** One deposit and its way, in the task's snapshots. */
class Way {
  readonly #shards: ShardReaders
  readonly #source: ShardView
  readonly #depositCount: DepositCount
  /** As `/bridges` shows it: what both tell has one source. */
  readonly #bridge: BridgeRecord
  readonly #path: ClaimPath
  readonly #isFinal: boolean
  readonly #firstCovering: L1InfoTreeIndex | undefined
  /** The smallest covering leaf that the destination accepts, final or not. */
  readonly #accepted: L1InfoTreeIndex | undefined
  /** Newest claim of the deposit, in force or not. */
  readonly #claim: number | undefined
  readonly #claimState: StageState

  constructor(shards: ShardReaders, source: ShardView, depositCount: DepositCount) {
    this.#shards = shards
    this.#source = source
    this.#depositCount = depositCount
    const bridge = makeBridgeRecord(shards, source, depositCount, false)
    this.#bridge = bridge
    this.#path = shards.claimFacts.path(source, bridge.destinationNetwork)
    this.#isFinal = bridge.blockNumber <= source.state.finalizedBlock
    this.#firstCovering = this.#path.findFirstCovering(depositCount)
    this.#accepted = this.#path.findAccepted(depositCount)
    const { destination } = this.#path
    const claim = destination?.claims.findOf(source.networkId, depositCount)
    this.#claim = claim ?? this.#findUnset()
    if (destination === undefined) this.#claimState = 'unknown'
    else if (claim !== undefined) this.#claimState = bridge.claimMatches === false ? 'blocked' : 'done'
    else this.#claimState = this.#claim === undefined ? 'waiting' : 'unset'
  }

  status(): BridgeStatusRecord {
    const { stage, event } = this.#next()
    return {
      ...pick(this.#bridge, bridgeFieldsOfStatus),
      currentStage: stage,
      waitsFor: event,
      stages: this.#stages(),
    }
  }

  #stages(): BridgeStageRecord[] {
    const { sourceNetwork, destinationNetwork, blockNumber, timestampSec, transactionHash } = this.#bridge
    const typical = this.#shards.typicalTimes.of(this.#source, destinationNetwork)
    const covering = this.#firstCovering === undefined ? undefined : this.#leaf(this.#firstCovering)
    const coveredState = stateOf(covering !== undefined)
    const stages: BridgeStageRecord[] = []
    const add = (stage: BridgeStage, state: StageState, networkId: NetworkId, facts: StageFacts): void => {
      stages.push({ stage, state, networkId, ...NO_FACTS, ...facts, typical: typical[stage] })
    }
    add('bridged', 'done', sourceNetwork, { blockNumber, timestampSec, transactionHash })
    add('final', stateOf(this.#isFinal), sourceNetwork, {})
    if (!isL1(sourceNetwork)) add('settled', coveredState, L1_NETWORK_ID, this.#settlement(covering))
    add('in_l1_info_tree', coveredState, L1_NETWORK_ID, {
      ...this.#leafPlace(),
      l1InfoTreeIndex: this.#firstCovering,
      globalExitRoot: covering?.globalExitRoot,
    })
    if (!isL1(destinationNetwork)) {
      const { state, facts } = this.#injection()
      add('injected', state, destinationNetwork, facts)
    }
    add('claimable', this.#claimableState(), destinationNetwork, {})
    add('claimed', this.#claimState, destinationNetwork, this.#claimFacts())
    return stages
  }

  /** Where the first covering leaf was added. */
  #leafPlace(): StageFacts {
    const index = this.#firstCovering
    if (index === undefined) return {}
    const place = this.#shards.get(L1_NETWORK_ID).findEventPlace('l1InfoLeaf', index)
    return placeOf(place ?? this.#leaf(index))
  }

  /** Where the exit root was settled that the first covering leaf has of the source. */
  #settlement(covering: L1InfoLeafRow | undefined): StageFacts {
    if (covering === undefined) return {}
    const l1 = this.#shards.get(L1_NETWORK_ID)
    const version = l1.l1Info.findSettledVersion(this.#source.networkId, covering.rollupExitVersion)
    const place = version && l1.findEventPlace('rollupExitVersion', version)
    // A settlement and the leaf that first names its root come in one transaction, as a rule.
    return place ? placeOf(place) : this.#leafPlace()
  }

  #injection(): { readonly state: StageState; readonly facts: StageFacts } {
    const { destination } = this.#path
    if (destination === undefined) return { state: 'unknown', facts: {} }
    const index = this.#accepted ?? this.#path.findRemoved(this.#depositCount)
    if (index === undefined) return { state: 'waiting', facts: {} }
    const { globalExitRoot } = this.#leaf(index)
    const injection = destination.injections.find(globalExitRoot)
    const place = injection && destination.findEventPlace('injection', injection.ordinal)
    const blockNumber = injection?.blockNumber
    const timestampSec = blockNumber === undefined ? undefined : destination.findHeaderTime(blockNumber)
    return {
      state: this.#accepted === undefined ? 'removed' : 'done',
      facts: {
        ...(place === undefined ? { blockNumber, timestampSec } : placeOf(place)),
        ...{ l1InfoTreeIndex: index, globalExitRoot },
      },
    }
  }

  #claimableState(): StageState {
    const isOpen = this.#claimState === 'waiting' || this.#claimState === 'unset'
    return isOpen ? stateOf(this.#bridge.readyForClaim) : this.#claimState
  }

  #claimFacts(): StageFacts {
    const { destination } = this.#path
    if (destination === undefined || this.#claim === undefined) return {}
    const { blockNumber, timestampSec } = destination.claims.get(this.#claim)
    return {
      blockNumber,
      timestampSec,
      transactionHash: destination.claims.getTransactionHash(this.#claim),
    }
  }

  /** A claim of this deposit that was taken back; one of an archived deposit with its count does not count. */
  #findUnset(): number | undefined {
    const { destination } = this.#path
    if (destination === undefined) return undefined
    const { networkId } = this.#source
    const claim = this.#shards.unlistedClaims.findOutOfForce(destination, networkId, this.#depositCount)
    return claim !== undefined && claimsListedDeposit(this.#source, this.#depositCount, destination, claim)
      ? claim
      : undefined
  }

  /** The stage to be reached next, and what has to happen first. */
  #next(): Next {
    if (this.#claimState === 'done' || this.#claimState === 'blocked')
      return { stage: 'claimed', event: null }
    const next = this.#nextByEvents()
    // What is stored may be wrong: whether it goes on shows only when the network has recovered.
    const { sourceNetwork, destinationNetwork } = this.#bridge
    const inDoubt = [sourceNetwork, L1_NETWORK_ID, destinationNetwork].find((networkId) =>
      isInDoubt(this.#shards.haltReason(networkId)),
    )
    return inDoubt === undefined ? next : { stage: next.stage, event: awaited('recovery', inDoubt) }
  }

  #nextByEvents(): Next {
    const { sourceNetwork, destinationNetwork, blockNumber, readyForClaim } = this.#bridge
    const covering = this.#firstCovering
    // An exit root of an L2 can be settled before its blocks are final, and the L1 decides then.
    if (!this.#isFinal && (covering === undefined || isL1(sourceNetwork)))
      return { stage: 'final', event: awaited('finality', sourceNetwork, blockNumber) }
    if (covering === undefined)
      return isL1(sourceNetwork)
        ? { stage: 'in_l1_info_tree', event: awaited('global_exit_root', L1_NETWORK_ID) }
        : { stage: 'settled', event: awaited('settlement', L1_NETWORK_ID) }
    const accepted = this.#accepted
    if (accepted === undefined)
      return {
        stage: 'injected',
        // A destination accepts roots of final blocks, as a rule; before that no claim can come anyway.
        event: this.#untilFinal(covering) ?? awaited('injection', destinationNetwork),
      }
    const untilFinal = this.#untilFinal(accepted)
    const { destination } = this.#path
    if (destination === undefined) return { stage: 'injected', event: untilFinal ?? null }
    if (untilFinal !== undefined) return { stage: 'claimable', event: untilFinal }
    if (readyForClaim) return { stage: 'claimed', event: awaited('claim', destinationNetwork) }
    if (destination.state.counters.emergencyState !== 0)
      return { stage: 'claimable', event: awaited('emergency_end', destinationNetwork) }
    // All that is left of `ready_for_claim`: claims that may be missing here, or a chain that may have been put back.
    const isOfL1 =
      this.#shards.headPlace(destinationNetwork) === headPlaces.inStep &&
      this.#shards.headPlace(L1_NETWORK_ID) >= headPlaces.belowFinal
    return { stage: 'claimable', event: awaited('sync', isOfL1 ? L1_NETWORK_ID : destinationNetwork) }
  }

  /** @returns undefined for a leaf that is final. */
  #untilFinal(index: L1InfoTreeIndex): AwaitedRecord | undefined {
    return index < this.#path.finalLeafCount
      ? undefined
      : awaited('finality', L1_NETWORK_ID, this.#leaf(index).blockNumber)
  }

  #leaf(index: L1InfoTreeIndex): L1InfoLeafRow {
    return this.#shards.get(L1_NETWORK_ID).l1Info.getLeaf(index)
  }
}

const NO_FACTS = {
  blockNumber: undefined,
  timestampSec: undefined,
  transactionHash: undefined,
  l1InfoTreeIndex: undefined,
  globalExitRoot: undefined,
} as const satisfies StageFacts

function stateOf(isDone: boolean): StageState {
  return isDone ? 'done' : 'waiting'
}

function placeOf({
  blockNumber,
  timestampSec,
  transactionHash,
}: Pick<L1InfoLeafRow, 'blockNumber' | 'timestampSec'> & Partial<EventPlace>): StageFacts {
  return { blockNumber, timestampSec, transactionHash }
}

function awaited(event: AwaitedEvent, networkId: NetworkId, blockNumber?: BlockNumber): AwaitedRecord {
  return { event, networkId, blockNumber }
}
