import { encodeHex } from '../protocol/hex.js'
import type { EncodedLog, EventFilter } from './decodeLog.js'
import type { EventName } from './eventTopics.js'

/**
 * Logs as `assembly/logs.ts` packs them: one record after another, each at a multiple of 8. A record is little-endian: its
 * size u32, the number of its event in the filter i32 (−1: not in the filter), block number f64, block time f64 (−1:
 * absent), log index u32, number of topics u32, bytes of data u32, transaction index u32 (0xffffffff: absent), block hash 32,
 * transaction hash 32, topics 32 each, data.
 */
const NUMBER = 8
const TIME = 16
const LOG_INDEX = 24
const TRANSACTION_INDEX = 36
const ABSENT = 0xffff_ffff
const BLOCK_HASH = 40
const TRANSACTION_HASH = 72
const TOPICS = 104

/** Reads the logs of a JSON-RPC answer without making an object of each. */
export interface LogScanner {
  /**
   * @param text the answer. @param from the byte at which the first log of a list begins.
   * @param filter the events to look for. Pass the same object every time: what is derived from it is kept per object.
   * @returns the logs, and the byte behind the list. Undefined when the list is not written in the way that nodes
   *   usually write JSON: then it has to be parsed.
   */
  scan(
    text: Uint8Array,
    from: number,
    filter: EventFilter,
  ): { readonly logs: PackedLogs; readonly end: number } | undefined
}

/** One event of a filter: the contract that emits it, its topic and its name. */
export interface FilteredEvent {
  readonly address: string
  readonly topic: string
  readonly name: EventName
}

const lists = new WeakMap<EventFilter, readonly FilteredEvent[]>()

/** The events of a filter. Their position in the list is the number that records carry. */
export function eventsOf(filter: EventFilter): readonly FilteredEvent[] {
  let events = lists.get(filter)
  if (events === undefined) {
    events = [...filter].flatMap(([address, names]) =>
      [...names].map(([topic, name]) => ({ address, topic, name })),
    )
    lists.set(filter, events)
  }
  return events
}

/** Many logs in one piece of memory, also those whose event is not in the filter. */
export class PackedLogs {
  readonly bytes: Uint8Array
  /** The same memory as 32-bit integers, in the machine's byte order: every ABI word begins at one of them. */
  readonly words: Int32Array
  readonly #view: DataView
  /** Byte at which each log begins. */
  readonly #starts: Int32Array

  readonly #events: readonly FilteredEvent[]

  /**
   * @param bytes whole records, at a multiple of 4 in their buffer. The logs own them from here on.
   * @param events the events of the filter that the logs were read with.
   */
  constructor(bytes: Uint8Array, count: number, events: readonly FilteredEvent[]) {
    this.bytes = bytes
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
    this.#events = events
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#starts = new Int32Array(count)
    for (let log = 0, at = 0; log < count; log++) {
      this.#starts[log] = at
      at += this.#view.getUint32(at, true)
    }
  }

  get length(): number {
    return this.#starts.length
  }

  /** Undefined for an event that is not in the filter. */
  event(log: number): FilteredEvent | undefined {
    return this.#events[this.#view.getInt32(this.#starts[log]! + 4, true)]
  }

  blockNumber(log: number): number {
    return this.#view.getFloat64(this.#starts[log]! + NUMBER, true)
  }

  /** Seconds; undefined when absent. */
  blockTimestamp(log: number): number | undefined {
    const time = this.#view.getFloat64(this.#starts[log]! + TIME, true)
    return time < 0 ? undefined : time
  }

  logIndex(log: number): number {
    return this.#view.getUint32(this.#starts[log]! + LOG_INDEX, true)
  }

  /** Undefined when absent. */
  transactionIndex(log: number): number | undefined {
    const index = this.#view.getUint32(this.#starts[log]! + TRANSACTION_INDEX, true)
    return index === ABSENT ? undefined : index
  }

  setLogIndex(log: number, logIndex: number): void {
    this.#view.setUint32(this.#starts[log]! + LOG_INDEX, logIndex, true)
  }

  topicCount(log: number): number {
    return this.#view.getUint32(this.#starts[log]! + 28, true)
  }

  dataLength(log: number): number {
    return this.#view.getUint32(this.#starts[log]! + 32, true)
  }

  /** Byte of `bytes` at which the data begin. */
  dataStart(log: number): number {
    return this.#starts[log]! + TOPICS + 32 * this.topicCount(log)
  }

  /** A view. */
  blockHash(log: number): Uint8Array {
    return this.#hash(log, BLOCK_HASH)
  }

  /** A view. */
  transactionHash(log: number): Uint8Array {
    return this.#hash(log, TRANSACTION_HASH)
  }

  /** Byte of `bytes` at which it begins. */
  transactionHashAt(log: number): number {
    return this.#starts[log]! + TRANSACTION_HASH
  }

  /** Byte of `bytes` at which topic 0 … 3 begins. */
  topicAt(log: number, topic: number): number {
    return this.#starts[log]! + TOPICS + 32 * topic
  }

  isOfSameBlock(log: number, other: number): boolean {
    return this.#isSame(log, other, BLOCK_HASH)
  }

  isOfSameTransaction(log: number, other: number): boolean {
    return this.#isSame(log, other, TRANSACTION_HASH)
  }

  /** The log as in JSON-RPC. Its address is empty when its event is not in the filter. */
  encoded(log: number): EncodedLog {
    const start = this.#starts[log]!
    const data = this.dataStart(log)
    return {
      address: this.event(log)?.address ?? '',
      topics: Array.from({ length: this.topicCount(log) }, (_, topic) =>
        encodeHex(this.bytes.subarray(start + TOPICS + 32 * topic, start + TOPICS + 32 * topic + 32)),
      ),
      data: encodeHex(this.bytes.subarray(data, data + this.dataLength(log))),
    }
  }

  #hash(log: number, field: number): Uint8Array {
    const at = this.#starts[log]! + field
    return this.bytes.subarray(at, at + 32)
  }

  #isSame(log: number, other: number, field: number): boolean {
    const a = this.#starts[log]! + field
    const b = this.#starts[other]! + field
    for (let offset = 0; offset < 32; offset += 4)
      if (this.#view.getUint32(a + offset) !== this.#view.getUint32(b + offset)) return false
    return true
  }
}
