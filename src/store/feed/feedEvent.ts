import type { Hash } from '../../protocol/chainEvent.js'
import {
  CHECKSUM_ADDRESS_BYTES,
  type ChecksumAddress,
  decodeChecksumAddress,
  encodeChecksumAddress,
} from '../../protocol/checksumAddress.js'
import { isWholeMetadata, type MetadataDigest } from '../../protocol/metadata.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from '../layout/bytes.js'

/**
 * One event of a network's feed, as table `feed` holds it. An event has all that it says: rows may be gone, or be others, when it is read.
 * Amounts and global indexes are 32 bytes, big-endian.
 */
export type FeedEvent =
  | BridgeFeedEvent
  | ClaimFeedEvent
  | ClaimableFeedEvent
  | UnclaimableFeedEvent
  | TokenMappingFeedEvent
  | SyncFeedEvent
  | ReorgFeedEvent
  | StartOverFeedEvent
  | HaltedFeedEvent
  | ResumedFeedEvent

/** Where in the chain it happened. */
interface ChainPlace {
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  readonly logIndex: number
  readonly transactionHash: Hash
}

/** Who made a deposit or a claim, as far as it was known when the event was written. A later answer is told by the lists alone. */
interface FeedSender {
  readonly caller: ChecksumAddress
  readonly transactionSender: ChecksumAddress
}

/** A token and an amount of it; of a message: its origin as emitted. */
interface FeedContent {
  readonly tokenNetwork: NetworkId
  readonly tokenAddress: ChecksumAddress
  readonly destinationAddress: ChecksumAddress
  readonly amount: Uint8Array
}

/** A deposit was made, by BridgeEvent or ForwardLET, or a reorg has brought it back. */
export interface BridgeFeedEvent extends ChainPlace, FeedContent {
  readonly type: 'bridge'
  readonly depositCount: DepositCount
  readonly leafType: number
  readonly destinationNetwork: NetworkId
  /** Whole, or what stands for metadata that are too long for lists. */
  readonly metadata: Uint8Array | MetadataDigest
  readonly sender: FeedSender | null
}

/** A claim came into force or went out of force. Of several claims of one deposit the newest event counts. */
export interface ClaimFeedEvent extends ChainPlace {
  readonly type: 'claim'
  /** false: it was unset, in the transaction that the event names. */
  readonly isInForce: boolean
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /** As emitted; the canonical one of a claim that was set or unset. */
  readonly globalIndex: Uint8Array
  /** null of a claim that was set by an administrator, or unset. */
  readonly content: FeedContent | null
  readonly sender: FeedSender | null
}

interface DepositFacts {
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  readonly destinationAddress: ChecksumAddress
}

/** A deposit to this network can be claimed now, as far as contracts tell: halts are told by themselves. */
export interface ClaimableFeedEvent extends DepositFacts {
  readonly type: 'claimable'
  /** Of the deposit. */
  readonly transactionHash: Hash
  readonly leafType: number
  /** The leaf to prove under. */
  readonly l1InfoTreeIndex: L1InfoTreeIndex
}

/** A deposit that could be claimed cannot be any more, although nobody has claimed it. */
export interface UnclaimableFeedEvent extends DepositFacts {
  readonly type: 'unclaimable'
}

/** A token mapping was added, was removed, or is the current one again. */
export interface TokenMappingFeedEvent extends ChainPlace {
  readonly type: 'token_mapping'
  readonly originNetwork: NetworkId
  readonly originTokenAddress: ChecksumAddress
  readonly wrappedTokenAddress: ChecksumAddress
  readonly metadata: Uint8Array | MetadataDigest
  /** 0 NewWrappedToken, 1 SetSovereignTokenAddress. */
  readonly tokenType: number
  readonly isNotMintable: boolean
  readonly isCurrent: boolean
  readonly isRemoved: boolean
}

/** How far the network is. */
export interface SyncFeedEvent {
  readonly type: 'sync'
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  /** null: none is. */
  readonly finalBlock: BlockNumber | null
  /** History was read without an event for each thing in it: whoever follows the feed reads the lists again. */
  readonly isHistory: boolean
}

/**
 * Blocks were taken back, by a reorg or by hand, or BackwardLET has cut deposits off. What is gone by it: every bridge from `depositCount`
 * on; and every claim, unset claim and token mapping above `ancestor`. What came back by it follows, as events of their own.
 */
export interface ReorgFeedEvent {
  readonly type: 'reorg'
  /** The last block that stays; the block of BackwardLET where blocks stay. −1: none does. */
  readonly ancestor: number
  readonly depositCount: DepositCount
  readonly isCut: boolean
}

/** The network is read again from its first block: everything that was told of it is void. */
export interface StartOverFeedEvent {
  readonly type: 'start_over'
}

/** Nothing on this network may be relied on until `resumed` names the same reason. */
export interface HaltedFeedEvent {
  readonly type: 'halted'
  /** A halt reason, `catching_up`, `behind` or `emergency_state`. */
  readonly reason: string
}

export interface ResumedFeedEvent {
  readonly type: 'resumed'
  readonly reason: string
}

/** Grows as it is written to, and is used again for each event. */
class EventWriter {
  bytes = new Uint8Array(1024)
  length = 0

  /** @returns the offset of `count` bytes to be written. */
  take(count: number): number {
    const at = this.length
    this.length += count
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(2 * this.length)
      larger.set(this.bytes.subarray(0, at))
      this.bytes = larger
    }
    return at
  }
}

class EventReader {
  readonly bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length
  }

  /** @throws RangeError when so many bytes are not there. */
  take(count: number): number {
    const at = this.#at
    this.#at += count
    if (this.#at > this.bytes.length)
      throw new RangeError(`an event of the feed ends after ${this.bytes.length} bytes`)
    return at
  }

  view(count: number): Uint8Array {
    const at = this.take(count)
    return this.bytes.subarray(at, at + count)
  }
}

/** Both directions of one kind of value. */
interface Field<Value> {
  readonly write: (to: EventWriter, value: Value) => void
  readonly read: (from: EventReader) => Value
}

type FieldsOf<T> = { readonly [K in keyof T]: Field<T[K]> }

const uint8: Field<number> = {
  write(to, value) {
    const at = to.take(1)
    to.bytes[at] = value
  },
  read: (from) => from.bytes[from.take(1)]!,
}

const flag: Field<boolean> = {
  write: (to, value) => uint8.write(to, value ? 1 : 0),
  read: (from) => uint8.read(from) === 1,
}

/** The type parameter names the unit: any uint32 is of it. */
function uint32<Value extends number>(): Field<Value> {
  return {
    write(to, value) {
      const at = to.take(4)
      writeUint32(to.bytes, at, value)
    },
    read: (from) => readUint32(from.bytes, from.take(4)) as Value,
  }
}

function uint48<Value extends number>(): Field<Value> {
  return {
    write(to, value) {
      const at = to.take(6)
      writeUint48(to.bytes, at, value)
    },
    read: (from) => readUint48(from.bytes, from.take(6)) as Value,
  }
}

/** A hash or a uint256. */
const word: Field<Uint8Array> = {
  write(to, value) {
    const at = to.take(32)
    to.bytes.set(value, at)
  },
  read: (from) => from.view(32),
}

const address: Field<ChecksumAddress> = {
  write(to, value) {
    const at = to.take(CHECKSUM_ADDRESS_BYTES)
    encodeChecksumAddress(to.bytes, at, value)
  },
  read: (from) => decodeChecksumAddress(from.bytes, from.take(CHECKSUM_ADDRESS_BYTES)),
}

const length = uint32<number>()

const bytes: Field<Uint8Array> = {
  write(to, value) {
    length.write(to, value.length)
    const at = to.take(value.length)
    to.bytes.set(value, at)
  },
  read: (from) => from.view(length.read(from)),
}

const text: Field<string> = {
  write: (to, value) => bytes.write(to, new TextEncoder().encode(value)),
  read: (from) => new TextDecoder().decode(bytes.read(from)),
}

const metadata: Field<Uint8Array | MetadataDigest> = {
  write(to, value) {
    const isWhole = isWholeMetadata(value)
    flag.write(to, !isWhole)
    if (isWhole) return bytes.write(to, value)
    length.write(to, value.length)
    word.write(to, value.hash)
  },
  read(from) {
    if (!flag.read(from)) return bytes.read(from)
    return { length: length.read(from), hash: word.read(from) }
  },
}

function orNull<Value>(field: Field<Value>): Field<Value | null> {
  return {
    write(to, value) {
      flag.write(to, value !== null)
      if (value !== null) field.write(to, value)
    },
    read: (from) => (flag.read(from) ? field.read(from) : null),
  }
}

/** Fields one behind the other, in the order in which they are listed. */
function record<T extends object>(fields: FieldsOf<T>): Field<T> {
  // Object.entries forgets which property a field belongs to.
  const entries = Object.entries(fields) as [keyof T & string, Field<unknown>][]
  return {
    write(to, value) {
      for (const [name, field] of entries) field.write(to, value[name])
    },
    read(from) {
      const value: Partial<Record<keyof T, unknown>> = {}
      for (const [name, field] of entries) value[name] = field.read(from)
      // Every field of T was read by the field that its type asks for.
      return value as T
    },
  }
}

const chainPlace: FieldsOf<ChainPlace> = {
  blockNumber: uint48(),
  timestampSec: uint48(),
  logIndex: uint32(),
  transactionHash: word,
}

const content: FieldsOf<FeedContent> = {
  tokenNetwork: uint32(),
  tokenAddress: address,
  destinationAddress: address,
  amount: word,
}

const sender = orNull(record<FeedSender>({ caller: address, transactionSender: address }))

const depositFacts: FieldsOf<DepositFacts> = {
  sourceNetwork: uint32(),
  depositCount: uint32(),
  destinationAddress: address,
}

type Content<Type extends FeedEvent['type']> = Omit<Extract<FeedEvent, { type: Type }>, 'type'>

/** What each type of event holds. Its number, which is stored, is its position here: new types are appended. */
const contents: { readonly [Type in FeedEvent['type']]: FieldsOf<Content<Type>> } = {
  bridge: {
    ...chainPlace,
    ...content,
    depositCount: uint32(),
    leafType: uint8,
    destinationNetwork: uint32(),
    metadata,
    sender,
  },
  claim: {
    ...chainPlace,
    isInForce: flag,
    sourceNetwork: uint32(),
    depositCount: uint32(),
    globalIndex: word,
    content: orNull(record(content)),
    sender,
  },
  claimable: { ...depositFacts, transactionHash: word, leafType: uint8, l1InfoTreeIndex: uint32() },
  unclaimable: depositFacts,
  token_mapping: {
    ...chainPlace,
    originNetwork: uint32(),
    originTokenAddress: address,
    wrappedTokenAddress: address,
    metadata,
    tokenType: uint8,
    isNotMintable: flag,
    isCurrent: flag,
    isRemoved: flag,
  },
  sync: { blockNumber: uint48(), timestampSec: uint48(), finalBlock: orNull(uint48()), isHistory: flag },
  reorg: { ancestor: signedBlock(), depositCount: uint32(), isCut: flag },
  start_over: {},
  halted: { reason: text },
  resumed: { reason: text },
}

/** A block number, or −1. */
function signedBlock(): Field<number> {
  const shifted = uint48<number>()
  return {
    write: (to, value) => shifted.write(to, value + 1),
    read: (from) => shifted.read(from) - 1,
  }
}

const layouts = Object.entries(contents).map(([type, fields]) => ({
  // Object.entries forgets that the keys are types of events, and which fields belong to which.
  type: type as FeedEvent['type'],
  fields: record<object>(fields as FieldsOf<object>),
}))
const numbers = new Map(layouts.map(({ type }, number) => [type, number]))

/** Every type of event, in the order of their numbers. */
export const feedEventTypes: readonly FeedEvent['type'][] = layouts.map(({ type }) => type)

const writer = new EventWriter()

/** The number of the type, then its fields. @returns fresh bytes. */
export function encodeFeedEvent(event: FeedEvent): Uint8Array {
  writer.length = 0
  const number = numbers.get(event.type)!
  uint8.write(writer, number)
  layouts[number]!.fields.write(writer, event)
  return writer.bytes.slice(0, writer.length)
}

/** @returns byte fields are views into `bytes`. @throws RangeError when the bytes are no event, or more than one. */
export function decodeFeedEvent(bytes: Uint8Array): FeedEvent {
  const from = new EventReader(bytes)
  const number = uint8.read(from)
  const layout = layouts[number]
  if (layout === undefined) throw new RangeError(`${number} is no type of an event of the feed`)
  const fields = layout.fields.read(from)
  if (!from.isAtEnd) throw new RangeError(`an event ${layout.type} of the feed has bytes behind its end`)
  // The table of contents pairs each type with its fields.
  return { type: layout.type, ...fields } as FeedEvent
}
