import { bridgeEventAt, claimEventAt, isZero, readUint32BigEndian, WORD } from '../protocol/abiBytes.js'
import {
  type BlockEvent,
  type ChainEvent,
  type ClaimEvent,
  type DepositEvent,
  type EventPosition,
  type EventRows,
  type IndexedBlock,
  isRows,
  type LogColumns,
} from '../protocol/chainEvent.js'
import { asBlockNumber, asNetworkId } from '../protocol/units.js'
import { addressAt, decodeBridgeEvent, uint256At } from './bridgeEvent.js'
import type { PackedLogs } from './packedLogs.js'

/** The deposits or claims, one after another, that begin at a log and can stay rows. @param to end of the block's logs. */
export function rowsFrom(logs: PackedLogs, from: number, to: number): EventRows | undefined {
  const type = rowTypeOf(logs, from)
  if (type === undefined) return undefined
  let end = from + 1
  while (end < to && rowTypeOf(logs, end) === type) end++
  return { type, logs, from, to: end }
}

/** @returns undefined for other events, and for any encoding that contracts never write: `decodeLog` judges it. */
function rowTypeOf(logs: PackedLogs, log: number): EventRows['type'] | undefined {
  const name = logs.event(log)?.name
  if (name === 'BridgeEvent') return isDepositRow(logs, log) ? 'depositRows' : undefined
  return name === 'ClaimEvent' && isClaimRow(logs, log) ? 'claimRows' : undefined
}

function isDepositRow(logs: PackedLogs, log: number): boolean {
  const length = logs.dataLength(log)
  const { bytes, words } = logs
  const start = logs.dataStart(log)
  return (
    logs.topicCount(log) === 1 &&
    length >= 9 * WORD &&
    isZero(words, start, 28) &&
    readUint32BigEndian(bytes, start + 28) <= 0xff &&
    isZero(words, start + WORD, 28) &&
    isZero(words, start + 2 * WORD, 12) &&
    isZero(words, start + 3 * WORD, 28) &&
    isZero(words, start + 4 * WORD, 12) &&
    isZero(words, start + 6 * WORD, 28) &&
    readUint32BigEndian(bytes, start + 6 * WORD + 28) === 8 * WORD &&
    isZero(words, start + 7 * WORD, 28) &&
    isZero(words, start + 8 * WORD, 28) &&
    length === WORD * (9 + Math.ceil(readUint32BigEndian(bytes, start + 8 * WORD + 28) / WORD))
  )
}

function isClaimRow(logs: PackedLogs, log: number): boolean {
  const { words } = logs
  const start = logs.dataStart(log)
  return (
    logs.topicCount(log) === 1 &&
    logs.dataLength(log) === 5 * WORD &&
    isZero(words, start + WORD, 28) &&
    isZero(words, start + 2 * WORD, 12) &&
    isZero(words, start + 3 * WORD, 12)
  )
}

/** The events of a block as objects of their own. */
export function plainEvents(events: readonly BlockEvent[]): readonly ChainEvent[] {
  return events.flatMap((event): ChainEvent | ChainEvent[] => {
    if (!isRows(event)) return event
    const { type, logs, from, to } = event
    return Array.from({ length: to - from }, (_, index) =>
      type === 'depositRows' ? depositAt(logs, from + index) : claimAt(logs, from + index),
    )
  })
}

export function plainBlocks(blocks: readonly IndexedBlock<BlockEvent>[]): readonly IndexedBlock[] {
  return blocks.map(({ header, events }) => ({ header, events: plainEvents(events) }))
}

function depositAt(logs: LogColumns, row: number): DepositEvent {
  const start = logs.dataStart(row)
  const padded =
    WORD * Math.ceil(readUint32BigEndian(logs.bytes, start + bridgeEventAt.metadataLength) / WORD)
  return decodeBridgeEvent(logs.bytes, start, bridgeEventAt.metadata + padded, positionOf(logs, row))
}

function claimAt(logs: LogColumns, row: number): ClaimEvent {
  const { bytes } = logs
  const start = logs.dataStart(row)
  return {
    type: 'claim',
    generation: 'v2',
    ...positionOf(logs, row),
    globalIndex: uint256At(bytes, start + claimEventAt.globalIndex),
    originNetwork: asNetworkId(readUint32BigEndian(bytes, start + claimEventAt.originNetwork)),
    originAddress: addressAt(bytes, start + claimEventAt.originAddress),
    destinationAddress: addressAt(bytes, start + claimEventAt.destinationAddress),
    amount: uint256At(bytes, start + claimEventAt.amount),
    sender: null,
  }
}

function positionOf(logs: LogColumns, row: number): EventPosition {
  const at = logs.transactionHashAt(row)
  return {
    blockNumber: asBlockNumber(logs.blockNumber(row)),
    logIndex: logs.logIndex(row),
    transactionHash: logs.bytes.slice(at, at + 32),
  }
}
