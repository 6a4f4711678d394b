import type { Hex } from 'viem'
import { bytesToHex, hexToBytes } from 'viem/utils'
import { decodeLog, eventFilterOf } from '../../src/events/decodeLog.js'
import type { BlockHeader, ChainEvent, IndexedBlock, Sender } from '../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import type { FakeBlock, FakeNetwork } from './fakeChain.js'
import type { FakeFrame } from './fakeTransaction.js'

/* Blocks of the fake chain as the chain client gives them to the indexer. */

export const toHex = (bytes: Uint8Array): Hex => bytesToHex(bytes)

export function headerOf({ number, hash, parentHash, timestampSec }: FakeBlock): BlockHeader {
  const hashes = { hash: hexToBytes(hash), parentHash: hexToBytes(parentHash) }
  return { number: asBlockNumber(number), ...hashes, timestampSec }
}

/** @param withSenders false: senders stay open, as in backfill. */
export function indexedBlock(network: FakeNetwork, block: FakeBlock, withSenders: boolean): IndexedBlock {
  const filter = eventFilterOf(network.config([]))
  const events: ChainEvent[] = []
  for (const log of block.logs) {
    const transactionHash = hexToBytes(log.transactionHash)
    const position = { blockNumber: asBlockNumber(block.number), logIndex: log.logIndex, transactionHash }
    const event = decodeLog(log, position, filter)
    if (event === undefined) continue
    if (event.type === 'rollupAdded') {
      const initialLocalExitRoot = hexToBytes(block.state.rollups.get(event.networkId)!)
      events.push({ ...event, initialLocalExitRoot })
    } else if ('sender' in event && withSenders)
      events.push({ ...event, sender: senderOf(block, log.logIndex) })
    else events.push(event)
  }
  return { header: headerOf(block), events }
}

/** Sender of the deposit, claim or ForwardLET of this log. */
export function senderOf(block: FakeBlock, logIndex: number): Sender {
  const log = block.logs[logIndex]!
  const { from, trace } = block.transactions[log.transactionIndex]!
  const caller = callerOfLog(trace, trace.from, logIndex) ?? from
  return { caller: hexToBytes(caller), transactionSender: hexToBytes(from) }
}

/** The caller of the call that emitted a log: a proxy's DELEGATECALL is part of the call of the proxy. */
function callerOfLog(frame: FakeFrame, callerAbove: Hex, logIndex: number): Hex | undefined {
  const caller = frame.type === 'DELEGATECALL' ? callerAbove : frame.from
  if (frame.logs.some(({ index }) => Number(index) === logIndex)) return caller
  for (const call of frame.calls) {
    const found = callerOfLog(call, caller, logIndex)
    if (found !== undefined) return found
  }
  return undefined
}
