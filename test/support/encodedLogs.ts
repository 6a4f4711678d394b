import type { AbiEvent, Hex } from 'viem'
import { encodeAbiParameters, encodeEventTopics } from 'viem/utils'
import { type EncodedLog, eventFilterOf } from '../../src/events/decodeLog.js'
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

/** A log as a contract emits it: `args` by name, encoded by viem. */
export function encodeLog(
  address: string,
  event: AbiEvent,
  args: Readonly<Record<string, unknown>>,
): EncodedLog {
  const plain = event.inputs.filter((input) => input.indexed !== true)
  return {
    address,
    // `as`: viem types the topics of a generic event too widely.
    topics: encodeEventTopics({ abi: [event], args } as never) as unknown as readonly Hex[],
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name ?? '']),
    ),
  }
}
