import type { AbiEvent, Hex } from 'viem'
import { encodeAbiParameters, encodeEventTopics, parseAbi, toEventSelector } from 'viem/utils'
import { type EncodedLog, eventFilterOf } from '../../src/events/decodeLog.js'
import {
  bridgeEventsAbi,
  claimEventV1Abi,
  globalExitRootManagerEventsAbi,
  rollupManagerEventsAbi,
  setClaimV1Abi,
} from '../../src/protocol/abis.js'
import type { EventPosition } from '../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../src/protocol/units.js'

export const contracts = {
  bridge: `0x${'b1'.repeat(20)}`,
  globalExitRootManager: `0x${'9e'.repeat(20)}`,
  rollupManager: `0x${'a0'.repeat(20)}`,
} as const

/** Log filters of an L1 and of an L2 with these contracts. */
export const l1Filter = eventFilterOf(contracts)
export const l2Filter = eventFilterOf({
  bridge: contracts.bridge,
  globalExitRootManager: contracts.globalExitRootManager,
})

export const position: EventPosition = {
  blockNumber: asBlockNumber(7),
  logIndex: 3,
  transactionHash: new Uint8Array(32).fill(0x77),
}

/** Events beside those that the service reads. */
const otherEventsAbi = parseAbi([
  'event UpdatedClaimedGlobalIndexHashChain(bytes32 claimedGlobalIndex, bytes32 newClaimedGlobalIndexHashChain)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
const plainEvents = [
  ...bridgeEventsAbi,
  ...globalExitRootManagerEventsAbi,
  ...rollupManagerEventsAbi,
  ...otherEventsAbi,
] as const
export type FakeEventName = (typeof plainEvents)[number]['name'] | 'ClaimEventV1' | 'SetClaimV1'
const events = new Map<string, AbiEvent>([
  ...plainEvents.map((event) => [event.name, event] as const),
  ['ClaimEventV1', claimEventV1Abi[0]],
  ['SetClaimV1', setClaimV1Abi[0]],
])

export function eventNamed(name: FakeEventName): AbiEvent {
  return events.get(name)!
}

/** Topic 0 of an event. */
export function topicOf(name: FakeEventName): Hex {
  return toEventSelector(eventNamed(name))
}

/** Topics and data of one event: `args` by name, encoded by viem. */
export function encodeEvent(
  event: AbiEvent,
  args: Readonly<Record<string, unknown>>,
): { topics: Hex[]; data: Hex } {
  const plain = event.inputs.filter((input) => input.indexed !== true)
  return {
    // `as`: viem types the topics of a generic event too widely.
    topics: encodeEventTopics({ abi: [event], args } as never) as unknown as Hex[],
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name ?? '']),
    ),
  }
}

/** A log as a contract emits it. */
export function encodeLog(
  address: string,
  event: AbiEvent,
  args: Readonly<Record<string, unknown>>,
): EncodedLog {
  return { address, ...encodeEvent(event, args) }
}
