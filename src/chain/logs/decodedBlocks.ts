import { decodeLog, type EventFilter } from '../../events/decodeLog.js'
import type { PackedLogs } from '../../events/packedLogs.js'
import { packedRootEvent } from '../../events/packedRootEvents.js'
import { rowsFrom } from '../../events/rowsOfLogs.js'
import type { BlockEvent, BlockHeader, ChainEvent, Hash } from '../../protocol/chainEvent.js'
import { decodeHex, encodeHex } from '../../protocol/hex.js'
import { asBlockNumber } from '../../protocol/units.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { type RpcBlock, toHeader } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { type RpcLog, unpackLog } from '../rpc/rpcLogs.js'

/** The decoded logs of one block. Its header is read later, if it is needed at all. */
export interface DecodedBlock {
  readonly number: number
  readonly hash: Hash
  /** From its logs; undefined unless they all have the same. */
  readonly timestampSec: number | undefined
  readonly events: readonly BlockEvent[]
  logs(): readonly RpcLog[]
}

/** A block of backfill, in the packed logs of its window. */
class PackedBlock implements DecodedBlock {
  readonly number: number
  readonly timestampSec: number | undefined
  readonly events: readonly BlockEvent[]
  readonly packed: PackedLogs
  readonly #from: number
  readonly #to: number

  constructor(block: {
    readonly logs: PackedLogs
    readonly from: number
    readonly to: number
    readonly timestampSec: number | undefined
    readonly events: readonly BlockEvent[]
  }) {
    this.number = block.logs.blockNumber(block.from)
    this.packed = block.logs
    this.#from = block.from
    this.#to = block.to
    this.timestampSec = block.timestampSec
    this.events = block.events
  }

  get hash(): Hash {
    return this.packed.blockHash(this.#from)
  }

  logs(): RpcLog[] {
    return Array.from({ length: this.#to - this.#from }, (_, index) =>
      unpackLog(this.packed, this.#from + index),
    )
  }
}

/** @param logs all logs of one block, in order, at least one. @throws ChainDataError */
export function decodeBlockLogs(logs: readonly RpcLog[], filter: EventFilter): DecodedBlock {
  const { blockNumber, blockHash } = logs[0]!
  return {
    number: blockNumber,
    hash: decodeHex(blockHash)!,
    timestampSec: commonTime(logs),
    logs: () => logs,
    events: decodeEvents(logs, filter),
  }
}

/**
 * @param logs in chain order.
 * @throws RpcFailure when logs of one block name two hashes; ChainDataError
 */
export function decodePackedBlocks(
  logs: PackedLogs,
  filter: EventFilter,
  endpoint: Endpoint,
): DecodedBlock[] {
  const blocks: DecodedBlock[] = []
  for (let from = 0, to = 0; from < logs.length; from = to) {
    const number = logs.blockNumber(from)
    for (to = from + 1; to < logs.length && logs.blockNumber(to) === number; to++)
      if (!logs.isOfSameBlock(from, to)) throw mixedBranches(number, endpoint)
    blocks.push(decodePackedBlock(logs, from, to, filter))
  }
  return blocks
}

/**
 * The header of a block with events: the one that was read, else what its logs say.
 * @throws RpcFailure when its logs name another hash than the header that was read.
 */
export function headerOf(
  block: DecodedBlock,
  headers: ReadonlyMap<number, RpcBlock>,
  endpoint: Endpoint,
): BlockHeader {
  const { number, hash, timestampSec: time, events } = block
  const header = headers.get(number)
  if (header !== undefined) {
    if (header.hash !== encodeHex(hash)) throw mixedBranches(number, endpoint)
    return toHeader(header)
  }
  const ownEvent = l1InfoRootEvent(events)
  const timestampSec = ownEvent?.timestampSec ?? time
  if (timestampSec === undefined)
    throw new RpcFailure('body', `${endpoint.alias}: block ${number} has no timestamp`)
  return {
    number: asBlockNumber(number),
    hash,
    ...(ownEvent === undefined ? {} : { parentHash: ownEvent.previousBlockHash }),
    timestampSec,
  }
}

/** UpdateL1InfoTreeV2, which has its block's time and parent hash; the L1 info root in it proves them. */
export function l1InfoRootEvent(events: readonly BlockEvent[]) {
  return events.find((event) => event.type === 'l1InfoRoot')
}

export function mixedBranches(block: number, endpoint: Endpoint): RpcFailure {
  return new RpcFailure('body', `${endpoint.alias}: answers about block ${block} are from two branches`)
}

function decodePackedBlock(logs: PackedLogs, from: number, to: number, filter: EventFilter): DecodedBlock {
  const events: BlockEvent[] = []
  for (let log = from; log < to; ) {
    const rows = rowsFrom(logs, log, to)
    const event = rows ?? decodePackedEvent(logs, log, filter)
    if (event !== undefined) events.push(event)
    log = rows?.to ?? log + 1
  }
  return new PackedBlock({ logs, from, to, timestampSec: commonPackedTime(logs, from, to), events })
}

function decodePackedEvent(logs: PackedLogs, log: number, filter: EventFilter): ChainEvent | undefined {
  const name = logs.event(log)?.name
  if (name === undefined) return undefined
  const position = {
    blockNumber: asBlockNumber(logs.blockNumber(log)),
    logIndex: logs.logIndex(log),
    transactionHash: logs.transactionHash(log),
  }
  return packedRootEvent(logs, log, name, position) ?? decodeLog(logs.encoded(log), position, filter)
}

function decodeEvents(logs: readonly RpcLog[], filter: EventFilter): ChainEvent[] {
  const events: ChainEvent[] = []
  let transaction = ''
  let transactionHash: Hash = new Uint8Array(0)
  for (const log of logs) {
    if (log.transactionHash !== transaction) {
      transaction = log.transactionHash
      transactionHash = decodeHex(transaction)!
    }
    const position = {
      blockNumber: asBlockNumber(log.blockNumber),
      logIndex: log.logIndex,
      transactionHash,
    }
    const event = decodeLog(log, position, filter)
    if (event !== undefined) events.push(event)
  }
  return events
}

/** The time of a block from its logs; undefined unless they all have the same. */
function commonTime(logs: readonly RpcLog[]): number | undefined {
  const time = logs[0]!.blockTimestamp
  return logs.every((log) => log.blockTimestamp === time) ? time : undefined
}

/** As `commonTime`, of packed logs. */
function commonPackedTime(logs: PackedLogs, from: number, to: number): number | undefined {
  const time = logs.blockTimestamp(from)
  for (let log = from + 1; log < to; log++) if (logs.blockTimestamp(log) !== time) return undefined
  return time
}
