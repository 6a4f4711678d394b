import { PackedLogs } from '../../src/events/packedLogs.js'
import type {
  BlockEvent,
  ChainEvent,
  ClaimEvent,
  DepositEvent,
  EventRows,
  IndexedBlock,
} from '../../src/protocol/chainEvent.js'
import { writeUint256 } from '../../src/protocol/uint256.js'

const WORD = 32
/** Bytes of a record with one topic, before its data. */
const HEAD_BYTES = 104 + WORD
const DEPOSIT_WORDS = 9
const CLAIM_WORDS = 5

/**
 * Makes blocks as backfill passes them to the writer: the deposits and claims of a window as rows of logs that are packed as the
 * log scanner packs them, without senders.
 */
export function packedBlocks(blocks: readonly IndexedBlock[]): IndexedBlock<BlockEvent>[] {
  const hot = blocks.flatMap(({ events }) => events.filter(isHot))
  const bytes = new Uint8Array(hot.reduce((size, event) => size + HEAD_BYTES + dataBytes(event), 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const event of hot) {
    writeHead(view, at, event)
    bytes.set(event.transactionHash, at + 72)
    if (event.type === 'deposit') writeDeposit(bytes, view, at + HEAD_BYTES, event)
    else writeClaim(bytes, view, at + HEAD_BYTES, event)
    at += HEAD_BYTES + dataBytes(event)
  }
  const logs = new PackedLogs(bytes, hot.length, [])
  let log = 0
  return blocks.map(({ header, events }) => {
    const packed: BlockEvent[] = []
    for (const event of events) {
      if (!isHot(event)) {
        packed.push(event)
        continue
      }
      const type = event.type === 'deposit' ? 'depositRows' : 'claimRows'
      const last = packed.at(-1)
      const rows: EventRows =
        last?.type === type
          ? { ...(packed.pop() as EventRows), to: log + 1 }
          : { type, logs, from: log, to: log + 1 }
      packed.push(rows)
      log++
    }
    return { header, events: packed }
  })
}

function isHot(event: ChainEvent): event is DepositEvent | ClaimEvent {
  return event.type === 'deposit' || (event.type === 'claim' && event.generation === 'v2')
}

function dataBytes(event: DepositEvent | ClaimEvent): number {
  if (event.type === 'claim') return WORD * CLAIM_WORDS
  return WORD * (DEPOSIT_WORDS + Math.ceil(event.metadata.length / WORD))
}

/** Writes a record as `PackedLogs` reads it: size, entry of the filter, block number, no time, log index, topics, bytes of data. */
function writeHead(view: DataView, at: number, event: DepositEvent | ClaimEvent): void {
  view.setUint32(at, HEAD_BYTES + dataBytes(event), true)
  view.setFloat64(at + 8, event.blockNumber, true)
  view.setFloat64(at + 16, -1, true)
  view.setUint32(at + 24, event.logIndex, true)
  view.setUint32(at + 28, 1, true)
  view.setUint32(at + 32, dataBytes(event), true)
}

function writeDeposit(bytes: Uint8Array, view: DataView, at: number, event: DepositEvent): void {
  const uint32 = (word: number, value: number): void => view.setUint32(at + WORD * word + 28, value)
  uint32(0, event.leafType)
  uint32(1, event.originNetwork)
  bytes.set(event.originAddress, at + 2 * WORD + 12)
  uint32(3, event.destinationNetwork)
  bytes.set(event.destinationAddress, at + 4 * WORD + 12)
  writeUint256(bytes, at + 5 * WORD, event.amount)
  uint32(6, 8 * WORD)
  uint32(7, event.depositCount)
  uint32(8, event.metadata.length)
  bytes.set(event.metadata, at + 9 * WORD)
}

function writeClaim(bytes: Uint8Array, view: DataView, at: number, event: ClaimEvent): void {
  writeUint256(bytes, at, event.globalIndex)
  view.setUint32(at + WORD + 28, event.originNetwork)
  bytes.set(event.originAddress, at + 2 * WORD + 12)
  bytes.set(event.destinationAddress, at + 3 * WORD + 12)
  writeUint256(bytes, at + 4 * WORD, event.amount)
}
