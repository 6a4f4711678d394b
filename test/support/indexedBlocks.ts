import type { Hex } from 'viem'
import { bytesToHex, hexToBytes } from 'viem/utils'
import { decodeLog, eventFilterOf } from '../../src/events/decodeLog.js'
import type { BlockHeader, ChainEvent, IndexedBlock, Sender } from '../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import type { FakeBlock, FakeNetwork } from './fakeChain.js'

/* Blocks of the fake chain as the chain client gives them to the indexer. */

export const toHex = (bytes: Uint8Array): Hex => bytesToHex(bytes)

export function headerOf({ number, hash, parentHash, timestampSec }: FakeBlock): BlockHeader {
  const hashes = { hash: hexToBytes(hash), parentHash: hexToBytes(parentHash) }
  return { number: asBlockNumber(number), ...hashes, timestampSec }
}

/** @param withSenders false: senders stay open, as in backfill. */
export function indexedBlock(network: FakeNetwork, block: FakeBlock, withSenders: boolean): IndexedBlock {
  const filter = eventFilterOf(network.config([]))
  const events = block.logs.flatMap((log): ChainEvent[] => {
    const transactionHash = hexToBytes(log.transactionHash)
    const position = { blockNumber: asBlockNumber(block.number), logIndex: log.logIndex, transactionHash }
    const event = decodeLog(log, position, filter)
    if (event === undefined) return []
    if (event.type === 'rollupAdded') {
      const initialLocalExitRoot = hexToBytes(block.state.rollups.get(event.networkId)!)
      return [{ ...event, initialLocalExitRoot }]
    }
    return ['sender' in event && withSenders ? { ...event, sender: senderOf(block, log.logIndex) } : event]
  })
  return { header: headerOf(block), events }
}

/** The block as backfill gives it: its senders are still open. */
export function withoutSenders({ header, events }: IndexedBlock): IndexedBlock {
  return {
    header,
    events: events.map((event) => ('sender' in event ? { ...event, sender: null } : event)),
  }
}

/** Sender of the deposit, claim or ForwardLET of this log. */
export function senderOf(block: FakeBlock, logIndex: number): Sender {
  const { caller, transactionIndex } = block.logs[logIndex]!
  const { from } = block.transactions[transactionIndex]!
  return { caller: hexToBytes(caller), transactionSender: hexToBytes(from) }
}
