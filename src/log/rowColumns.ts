import { bridgeEventAt, claimEventAt, copyBytes, readUint32BigEndian, WORD } from '../protocol/abiBytes.js'
import {
  type BlockEvent,
  type EventRows,
  type IndexedBlock,
  isRows,
  type LogColumns,
} from '../protocol/chainEvent.js'
import { ADDRESS_BYTES, HASH_BYTES, MOST_KEPT_METADATA } from './commandMemory.js'
import type { CommandReader } from './commandReader.js'
import type { CommandWriter } from './commandWriter.js'

/** Memory that all rows of one command may take in columns: half a GiB. A window of an endpoint's answers has less, as JSON. */
const MOST_COLUMN_BYTES = 2 ** 29
const UINT32_MAX = 0xffff_ffff
/** Bytes that a row takes in a command at least: of a deposit nine numbers, of a claim seven. */
const LEAST_ROW_BYTES = 7
const CLAIM_BYTES = HASH_BYTES + 5 * WORD
/** Bytes of a deposit in columns, without metadata. */
const DEPOSIT_BYTES = HASH_BYTES + bridgeEventAt.metadata
/** What the word says in which the place of a BridgeEvent's metadata stands, and that word's lowest byte but one. */
const METADATA_OFFSET_AT = 6 * WORD + 30
const METADATA_OFFSET_HIGH = (8 * WORD) >>> 8

/** What the rows of a command need in columns. */
export interface RowTotals {
  readonly rows: number
  readonly bytes: number
}

export function totalsOf(blocks: readonly IndexedBlock<BlockEvent>[]): RowTotals {
  let rows = 0
  let bytes = 0
  for (const { events } of blocks)
    for (const event of events) {
      if (!isRows(event)) continue
      rows += event.to - event.from
      if (event.type === 'claimRows') bytes += CLAIM_BYTES * (event.to - event.from)
      else
        for (let row = event.from; row < event.to; row++)
          bytes += DEPOSIT_BYTES + padded(metadataLength(event.logs, row))
    }
  return { rows, bytes }
}

/** @throws RangeError when there is more than one command may hold. */
export function writeTotals(to: CommandWriter, { rows, bytes }: RowTotals): void {
  to.integer(rows, UINT32_MAX, 'rows')
  to.integer(bytes, MOST_COLUMN_BYTES, 'bytes of all rows')
}

/** @param blockNumber of the block in which they are. */
export function writeRows(
  to: CommandWriter,
  { type, logs, from, to: end }: EventRows,
  blockNumber: number,
): void {
  to.integer(end - from, UINT32_MAX, 'number of rows')
  for (let row = from; row < end; row++) {
    if (logs.blockNumber(row) !== blockNumber)
      throw new RangeError(`a row of block ${logs.blockNumber(row)} is in block ${blockNumber}`)
    if (type === 'depositRows') writeDeposit(to, logs, row)
    else writeClaim(to, logs, row)
  }
}

function writeDeposit(to: CommandWriter, logs: LogColumns, row: number): void {
  const { memory } = to
  const { bytes } = logs
  const start = logs.dataStart(row)
  writePlace(to, logs, row, bytes[start + bridgeEventAt.leafType]!)
  const depositCount = readUint32BigEndian(bytes, start + bridgeEventAt.depositCount)
  to.integer((depositCount - memory.depositCount) >>> 0, UINT32_MAX, 'depositCount')
  memory.depositCount = (depositCount + 1) >>> 0
  to.integer(readUint32BigEndian(bytes, start + bridgeEventAt.destinationNetwork), UINT32_MAX, 'network')
  to.address(bytes, start + bridgeEventAt.destinationAddress)
  to.uint256(bytes, start + bridgeEventAt.amount)
  to.integer(readUint32BigEndian(bytes, start + bridgeEventAt.originNetwork), UINT32_MAX, 'network')
  to.address(bytes, start + bridgeEventAt.originAddress)
  to.metadata(bytes, start + bridgeEventAt.metadata, metadataLength(logs, row))
}

function writeClaim(to: CommandWriter, logs: LogColumns, row: number): void {
  const { bytes } = logs
  const start = logs.dataStart(row)
  writePlace(to, logs, row, 0)
  to.uint256(bytes, start + claimEventAt.globalIndex)
  to.address(bytes, start + claimEventAt.destinationAddress)
  to.uint256(bytes, start + claimEventAt.amount)
  to.integer(readUint32BigEndian(bytes, start + claimEventAt.originNetwork), UINT32_MAX, 'network')
  to.address(bytes, start + claimEventAt.originAddress)
}

/** Leaf type · 2 + whether the transaction is that of the event before, log index, transaction hash unless it is. */
function writePlace(to: CommandWriter, logs: LogColumns, row: number, leafType: number): void {
  const hashAt = logs.transactionHashAt(row)
  const isSame = to.isSameTransaction(logs.bytes, hashAt)
  to.integer(2 * leafType + (isSame ? 1 : 0), 0x1ff, 'leafType')
  to.integer(logs.logIndex(row), UINT32_MAX, 'logIndex')
  if (!isSame) to.transaction(logs.bytes, hashAt)
}

/**
 * The rows of one command, in memory of their own: for each row its transaction's hash and the event's data, in the encoding that
 * contracts write.
 */
export class RowColumns implements LogColumns {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly #starts: Int32Array
  readonly #logIndices: Uint32Array
  readonly #blockNumbers: Float64Array
  #rows = 0
  #end = 0

  /** Reads what `writeTotals` wrote, and allocates as much, once it is known that the command can hold it. */
  constructor(from: CommandReader) {
    const rows = from.count(LEAST_ROW_BYTES, 'rows')
    const size = from.integer(MOST_COLUMN_BYTES, 'bytes of all rows')
    // Metadata that are kept may come with every row; longer ones stand in the command, and are padded.
    const most = rows * (DEPOSIT_BYTES + MOST_KEPT_METADATA + WORD) + from.left
    if (size > most) from.fail('bytes of all rows', `${rows} rows can have ${most} bytes, not ${size}`)
    if (size % WORD !== 0) from.fail('bytes of all rows', `${size} is no multiple of ${WORD}`)
    this.bytes = new Uint8Array(size)
    this.words = new Int32Array(this.bytes.buffer)
    this.#starts = new Int32Array(rows)
    this.#logIndices = new Uint32Array(rows)
    this.#blockNumbers = new Float64Array(rows)
  }

  blockNumber(row: number): number {
    return this.#blockNumbers[row]!
  }

  logIndex(row: number): number {
    return this.#logIndices[row]!
  }

  transactionHashAt(row: number): number {
    return this.#starts[row]! - HASH_BYTES
  }

  dataStart(row: number): number {
    return this.#starts[row]!
  }

  /** Reads what `writeRows` wrote. */
  read(from: CommandReader, type: EventRows['type'], blockNumber: number): EventRows {
    const first = this.#rows
    const count = from.count(LEAST_ROW_BYTES, 'number of rows')
    if (count > this.#starts.length - first)
      from.fail('number of rows', `${first} + ${count} rows of ${this.#starts.length}`)
    for (let index = 0; index < count; index++)
      if (type === 'depositRows') this.#readDeposit(from, blockNumber)
      else this.#readClaim(from, blockNumber)
    return { type, logs: this, from: first, to: first + count }
  }

  /** @throws CommandFormatError unless all rows were read. */
  end(from: CommandReader): void {
    const { length } = this.#starts
    if (this.#rows !== length) from.fail('rows', `${this.#rows} of ${length} rows are there`)
    if (this.#end !== this.bytes.length)
      from.fail('bytes of all rows', `rows have ${this.#end} bytes, not ${this.bytes.length}`)
  }

  #readDeposit(from: CommandReader, blockNumber: number): void {
    const { memory } = from
    const { bytes } = this
    const code = from.integer(0x1ff, 'leafType')
    const start = this.#readPlace(from, code, blockNumber, DEPOSIT_BYTES)
    bytes[start + bridgeEventAt.leafType] = code >>> 1
    const depositCount = (memory.depositCount + from.integer(UINT32_MAX, 'depositCount')) >>> 0
    memory.depositCount = (depositCount + 1) >>> 0
    writeUint32(bytes, start + bridgeEventAt.depositCount, depositCount)
    bytes[start + METADATA_OFFSET_AT] = METADATA_OFFSET_HIGH
    this.#readUint32(from, start + bridgeEventAt.destinationNetwork, 'destinationNetwork')
    this.#readAddress(from, start + bridgeEventAt.destinationAddress, 'destinationAddress')
    this.#readUint256(from, start + bridgeEventAt.amount, 'amount')
    this.#readUint32(from, start + bridgeEventAt.originNetwork, 'originNetwork')
    this.#readAddress(from, start + bridgeEventAt.originAddress, 'originAddress')
    const metadataAt = from.metadataAt('metadata')
    const { length } = from
    const to = start + bridgeEventAt.metadata
    this.#take(from, padded(length))
    writeUint32(bytes, start + bridgeEventAt.metadataLength, length)
    if (length > 0) bytes.set(from.bytes.subarray(metadataAt, metadataAt + length), to)
  }

  #readClaim(from: CommandReader, blockNumber: number): void {
    const start = this.#readPlace(from, from.integer(1, 'claim'), blockNumber, CLAIM_BYTES)
    this.#readUint256(from, start + claimEventAt.globalIndex, 'globalIndex')
    this.#readAddress(from, start + claimEventAt.destinationAddress, 'destinationAddress')
    this.#readUint256(from, start + claimEventAt.amount, 'amount')
    this.#readUint32(from, start + claimEventAt.originNetwork, 'originNetwork')
    this.#readAddress(from, start + claimEventAt.originAddress, 'originAddress')
  }

  /** @returns the byte at which the row's data begin. */
  #readPlace(from: CommandReader, code: number, blockNumber: number, size: number): number {
    const row = this.#rows++
    const at = this.#take(from, size)
    this.#starts[row] = at + HASH_BYTES
    this.#blockNumbers[row] = blockNumber
    this.#logIndices[row] = from.integer(UINT32_MAX, 'logIndex')
    const hashAt = from.transactionAt((code & 1) === 1, 'transactionHash')
    copyBytes(from.bytes, hashAt, HASH_BYTES, this.bytes, at)
    return at + HASH_BYTES
  }

  #readUint32(from: CommandReader, to: number, name: string): void {
    writeUint32(this.bytes, to, from.integer(UINT32_MAX, name))
  }

  #readAddress(from: CommandReader, to: number, name: string): void {
    copyBytes(from.bytes, from.addressAt(name), ADDRESS_BYTES, this.bytes, to)
  }

  #readUint256(from: CommandReader, to: number, name: string): void {
    const at = from.uint256At(WORD, name)
    copyBytes(from.bytes, at, from.length, this.bytes, to + WORD - from.length)
  }

  /** @returns where the next `size` bytes of the columns begin. */
  #take(from: CommandReader, size: number): number {
    const at = this.#end
    if (size > this.bytes.length - at)
      return from.fail('bytes of all rows', `rows have more than ${this.bytes.length} bytes`)
    this.#end = at + size
    return at
  }
}

function metadataLength(logs: LogColumns, row: number): number {
  return readUint32BigEndian(logs.bytes, logs.dataStart(row) + bridgeEventAt.metadataLength)
}

function padded(length: number): number {
  return WORD * Math.ceil(length / WORD)
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
