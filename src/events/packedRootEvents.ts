import { isZero, readUint32BigEndian, WORD } from '../protocol/abiBytes.js'
import type { ChainEvent, EventPosition, Hash } from '../protocol/chainEvent.js'
import { asLeafCount } from '../protocol/units.js'
import type { EventName } from './eventTopics.js'
import type { PackedLogs } from './packedLogs.js'

/**
 * Decodes UpdateL1InfoTree, UpdateL1InfoTreeV2 and UpdateHashChainValue, the most frequent events after deposits and
 * claims.
 * @returns an event whose hashes are copies. Undefined for other events, and for any encoding that contracts never write.
 */
export function packedRootEvent(
  logs: PackedLogs,
  log: number,
  name: EventName,
  position: EventPosition,
): ChainEvent | undefined {
  const { blockNumber, logIndex, transactionHash } = position
  const topics = logs.topicCount(log)
  const length = logs.dataLength(log)
  const hashAt = (at: number): Hash => logs.bytes.slice(at, at + WORD)
  if (name === 'UpdateL1InfoTree') {
    if (topics !== 3 || length !== 0) return undefined
    return {
      type: 'l1InfoLeaf',
      blockNumber,
      logIndex,
      transactionHash,
      mainnetExitRoot: hashAt(logs.topicAt(log, 1)),
      rollupExitRoot: hashAt(logs.topicAt(log, 2)),
    }
  }
  if (name === 'UpdateHashChainValue') {
    if (topics !== 3 || length !== 0) return undefined
    return {
      type: 'gerInjected',
      blockNumber,
      logIndex,
      transactionHash,
      globalExitRoot: hashAt(logs.topicAt(log, 1)),
    }
  }
  if (name !== 'UpdateL1InfoTreeV2' || topics !== 2 || length !== 3 * WORD) return undefined
  const countAt = logs.topicAt(log, 1)
  const start = logs.dataStart(log)
  const timeAt = start + 2 * WORD
  const highTime = readUint32BigEndian(logs.bytes, timeAt + 24)
  // `decodeLog` judges a time that a double can't hold exactly.
  if (!isZero(logs.words, countAt, 28) || !isZero(logs.words, timeAt, 24) || highTime > 0x1f_ffff)
    return undefined
  return {
    type: 'l1InfoRoot',
    blockNumber,
    logIndex,
    transactionHash,
    l1InfoRoot: hashAt(start),
    leafCount: asLeafCount(readUint32BigEndian(logs.bytes, countAt + 28)),
    previousBlockHash: hashAt(start + WORD),
    timestampSec: highTime * 2 ** 32 + readUint32BigEndian(logs.bytes, timeAt + 28),
  }
}
