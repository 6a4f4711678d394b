import type { EncodedLog, EventFilter } from '../../events/decodeLog.js'
import { PackedLogs } from '../../events/packedLogs.js'
import { encodeHex } from '../../protocol/hex.js'
import { decodeHash, decodeQuantity } from './rpcBlocks.js'
import { RpcFailure } from './rpcFailure.js'

/** A log from JSON-RPC, checked; its hashes and address are lower case. */
export interface RpcLog extends EncodedLog {
  readonly blockNumber: number
  /** 0x + 64 lower-case digits. */
  readonly blockHash: string
  readonly transactionHash: string
  /** Undefined when absent or unreadable. */
  readonly transactionIndex: number | undefined
  /** As the endpoint numbers logs: per block, on some chains per transaction. `LogPositions` makes it the position in the block. */
  readonly logIndex: number
  /** Seconds; undefined when absent, zero or unreadable. */
  readonly blockTimestamp: number | undefined
}

/** The filter of `eth_getLogs` for all events of a network's contracts: every address with every topic. */
export function logsFilter(filter: EventFilter): { address: string[]; topics: string[][] } {
  const topics = new Set<string>()
  for (const events of filter.values()) for (const topic of events.keys()) topics.add(topic)
  return { address: [...filter.keys()], topics: [[...topics]] }
}

const UPPER_CASE = /[A-F]/
/** An index is stored in 32 bits. */
const MOST_LOGS = 0xffff_ffff

/**
 * Decodes logs, sorted by block and log index, each once. Logs marked `removed` are left out: a reorg took them back.
 * @throws RpcFailure `body` when an entry is no mined log, or not of the blocks `from` … `to`.
 */
export function decodeLogs(raw: unknown, from: number, to: number, alias: string): RpcLog[] {
  if (raw instanceof PackedLogs) {
    const plain = Array.from({ length: raw.length }, (_, log) => unpackLog(raw, log))
    return decodeLogs(plain, from, to, alias)
  }
  // Nodes in Go send null for an empty list.
  if (raw === null) return []
  if (!Array.isArray(raw)) throw new RpcFailure('body', `${alias}: the answer to eth_getLogs is not a list`)
  const logs: RpcLog[] = []
  let isSorted = true
  for (const entry of raw as readonly unknown[]) {
    const last = logs[logs.length - 1]
    const log = decodeEntry(entry, last)
    if (log === 'removed') continue
    if (log === undefined || log.blockNumber < from || log.blockNumber > to)
      throw new RpcFailure(
        'body',
        `${alias}: eth_getLogs returned a log that is malformed or was not asked for`,
      )
    if (last !== undefined && compareLogs(last, log) >= 0) isSorted = false
    logs.push(log)
  }
  if (isSorted) return logs
  logs.sort(compareLogs)
  return logs.filter((log, index) => !isRepeat(logs[index - 1], log, alias))
}

/** A packed log as an object. */
export function unpackLog(logs: PackedLogs, log: number): RpcLog {
  return {
    ...logs.encoded(log),
    blockNumber: logs.blockNumber(log),
    blockHash: encodeHex(logs.blockHash(log)),
    transactionHash: encodeHex(logs.transactionHash(log)),
    transactionIndex: logs.transactionIndex(log),
    logIndex: logs.logIndex(log),
    blockTimestamp: logs.blockTimestamp(log),
  }
}

/**
 * Whether packed logs are in chain order, each once, and of the blocks `from` … `to`, whether they are numbered per block or
 * per transaction.
 */
export function areInOrder(logs: PackedLogs, from: number, to: number): boolean {
  for (let log = 0, block = from, index = -1, transaction: number | undefined; log < logs.length; log++) {
    const nextBlock = logs.blockNumber(log)
    const nextIndex = logs.logIndex(log)
    const nextTransaction = logs.transactionIndex(log)
    if (nextBlock < block || nextBlock > to) return false
    if (nextBlock === block) {
      const isOther = transaction !== undefined && nextTransaction !== undefined
      const step = isOther ? nextTransaction - transaction! : 0
      if (step < 0 || (step === 0 && nextIndex <= index)) return false
    }
    block = nextBlock
    index = nextIndex
    transaction = nextTransaction
  }
  return true
}

const compareLogs = (a: RpcLog, b: RpcLog): number =>
  a.blockNumber - b.blockNumber ||
  a.logIndex - b.logIndex ||
  (a.transactionHash < b.transactionHash ? -1 : a.transactionHash > b.transactionHash ? 1 : 0)

/** @throws RpcFailure when two different logs of a transaction have one index. */
function isRepeat(previous: RpcLog | undefined, log: RpcLog, alias: string): boolean {
  if (previous === undefined || compareLogs(previous, log) !== 0) return false
  if (
    previous.blockHash !== log.blockHash ||
    previous.data !== log.data ||
    previous.topics.join() !== log.topics.join()
  )
    throw new RpcFailure('body', `${alias}: eth_getLogs returned two different logs at one position`)
  return true
}

function decodeEntry(entry: unknown, last: RpcLog | undefined): RpcLog | 'removed' | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const raw = entry as Readonly<Record<string, unknown>>
  if (raw.removed === true) return 'removed'
  const blockNumber = decodeQuantity(raw.blockNumber)
  const logIndex = decodeQuantity(raw.logIndex)
  // Neighbours mostly share their block, often their transaction: then the hash need not be checked again.
  const blockHash =
    last !== undefined && raw.blockHash === last.blockHash ? last.blockHash : decodeHash(raw.blockHash)
  const transactionHash =
    last !== undefined && raw.transactionHash === last.transactionHash
      ? last.transactionHash
      : decodeHash(raw.transactionHash)
  if (blockNumber === undefined || logIndex === undefined || logIndex > MOST_LOGS) return undefined
  if (blockHash === undefined || transactionHash === undefined) return undefined
  const { address, topics } = raw
  const data = raw.data === null ? '0x' : raw.data
  if (typeof address !== 'string' || typeof data !== 'string' || !isTextList(topics)) return undefined
  const blockTimestamp = decodeQuantity(raw.blockTimestamp)
  return {
    address: UPPER_CASE.test(address) ? address.toLowerCase() : address,
    topics,
    data,
    blockNumber,
    blockHash,
    transactionHash,
    transactionIndex: decodeQuantity(raw.transactionIndex),
    logIndex,
    blockTimestamp: blockTimestamp === 0 ? undefined : blockTimestamp,
  }
}

function isTextList(value: unknown): value is string[] {
  if (!Array.isArray(value)) return false
  for (const item of value as readonly unknown[]) if (typeof item !== 'string') return false
  return true
}
