import { ChainDataError } from '../errors/chainDataError.js'
import type { ChainEvent, EventPosition } from '../protocol/chainEvent.js'
import { decodeHex } from '../protocol/hex.js'
import { decodeBridgeEvent } from './bridgeEvent.js'
import { coldDecoders } from './decodeColdEvents.js'
import {
  decodeClaimEvent,
  decodeUpdateHashChainValue,
  decodeUpdateL1InfoTree,
  decodeUpdateL1InfoTreeV2,
} from './decodeHotEvents.js'
import { type EventName, eventTopics } from './eventTopics.js'

/** The part of a log that says what happened, as in JSON-RPC (`0x…`, any letter case). */
export interface EncodedLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Contracts of one network, 0x + 40 lower-case hex digits. */
export interface NetworkContracts {
  readonly bridge: string
  readonly globalExitRootManager: string
  /** L1 only. */
  readonly rollupManager?: string
}

type HotDecoder = (topics: readonly string[], data: string, position: EventPosition) => ChainEvent | undefined

const hotDecoders: Partial<Record<EventName, HotDecoder>> = {
  ClaimEvent: decodeClaimEvent,
  UpdateL1InfoTree: decodeUpdateL1InfoTree,
  UpdateL1InfoTreeV2: decodeUpdateL1InfoTreeV2,
  UpdateHashChainValue: decodeUpdateHashChainValue,
}

// Which contract may emit which event. The topic alone is not enough: the rollup manager has emergency events with the same
// topics as the bridge's.

const bridgeContractEvents = [
  'BridgeEvent',
  'ClaimEvent',
  'ClaimEventV1',
  'NewWrappedToken',
  'EmergencyStateActivated',
  'EmergencyStateDeactivated',
  'SetSovereignTokenAddress',
  'SetSovereignWETHAddress',
  'RemoveLegacySovereignTokenAddress',
  'MigrateLegacyToken',
  'UnsetClaim',
  'UpdatedUnsetGlobalIndexHashChain',
  'SetClaimV1',
  'SetClaim',
  'BackwardLET',
  'ForwardLET',
] as const satisfies readonly EventName[]

const l1ManagerEvents = [
  'UpdateGlobalExitRoot',
  'UpdateL1InfoTree',
  'UpdateL1InfoTreeV2',
  'InitL1InfoRootMap',
] as const satisfies readonly EventName[]

const l2ManagerEvents = [
  'InsertGlobalExitRoot',
  'RemoveLastGlobalExitRoot',
  'UpdateHashChainValue',
  'UpdateRemovalHashChainValue',
] as const satisfies readonly EventName[]

const rollupManagerEvents = [
  'CreateNewRollup',
  'AddExistingRollupV4',
  'AddExistingRollupV9',
  'AddExistingRollup',
  'VerifyBatches',
  'VerifyBatchesTrustedAggregator',
  'ConsolidatePendingState',
  'OverridePendingState',
] as const satisfies readonly EventName[]

/** The events that are read: by emitting contract (0x + 40 lower-case digits), then by topic. */
export type EventFilter = ReadonlyMap<string, ReadonlyMap<string, EventName>>

/** The events of one network's contracts. An address with two roles, which no real chain has, gets the events of both. */
export function eventFilterOf(contracts: NetworkContracts): EventFilter {
  const filter = new Map<string, Map<string, EventName>>()
  const listen = (address: string, names: readonly EventName[]) => {
    const events = filter.get(address) ?? new Map<string, EventName>()
    for (const name of names) events.set(eventTopics[name], name)
    filter.set(address, events)
  }
  listen(contracts.bridge, bridgeContractEvents)
  listen(
    contracts.globalExitRootManager,
    contracts.rollupManager === undefined ? l2ManagerEvents : l1ManagerEvents,
  )
  if (contracts.rollupManager !== undefined) listen(contracts.rollupManager, rollupManagerEvents)
  return filter
}

/**
 * The event that a log stands for.
 * @returns an event whose byte fields are fresh memory. Undefined for a log of another contract, and for an event that
 *   changes nothing that we keep, such as DetailedClaimEvent (a claim's second log).
 * @throws ChainDataError `undecodable_event`, for BackwardLET and ForwardLET `local_exit_tree_event`, when the data do not
 *   fit a topic of the filter.
 */
export function decodeLog(
  log: EncodedLog,
  position: EventPosition,
  filter: EventFilter,
): ChainEvent | undefined {
  const topic = log.topics[0]
  if (topic === undefined) return undefined
  const events = filter.get(log.address) ?? filter.get(log.address.toLowerCase())
  const name = events?.get(topic) ?? events?.get(topic.toLowerCase())
  if (name === undefined) return undefined
  try {
    if (name === 'BridgeEvent') return decodeBridgeEventText(log.data, position)
    const event = hotDecoders[name]?.(log.topics, log.data, position)
    return event ?? coldDecoders[name](log.topics.map(lowerCase), log.data, position)
  } catch (cause) {
    throw new ChainDataError(
      name === 'BackwardLET' || name === 'ForwardLET' ? 'local_exit_tree_event' : 'undecodable_event',
      `${name} in block ${position.blockNumber}, log ${position.logIndex} does not decode: ${log.topics.length} topics, ${log.data.length} characters of data`,
      { cause },
    )
  }
}

function decodeBridgeEventText(data: string, position: EventPosition): ChainEvent {
  const bytes = decodeHex(data)
  if (bytes === undefined) throw new RangeError('the data are no hex text')
  return decodeBridgeEvent(bytes, 0, bytes.length, position)
}

const lowerCase = (text: string): string => text.toLowerCase()
