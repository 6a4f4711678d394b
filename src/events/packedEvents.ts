import { copyBytes, isZero, readUint32BigEndian, WORD } from '../protocol/abiBytes.js'
import type { BlockHeader, ClaimEvent, DepositEvent, Hash } from '../protocol/chainEvent.js'
import { uint256OfParts } from '../protocol/uint256.js'
import {
  asBlockNumber,
  asDepositCount,
  asNetworkId,
  type BlockNumber,
  type DepositCount,
  type NetworkId,
} from '../protocol/units.js'
import type { PackedLogs } from './packedLogs.js'

/** What the packed events share: each is a small object that reads its fields from the packed logs when asked. */
abstract class PackedEvent {
  /** The logs of the window. */
  readonly logs: PackedLogs
  /** Which of them this is. */
  readonly log: number
  /** Byte of `logs.bytes` at which the event's data begin. */
  readonly start: number

  constructor(logs: PackedLogs, log: number) {
    this.logs = logs
    this.log = log
    this.start = logs.dataStart(log)
  }

  get sender(): null {
    return null
  }

  get blockNumber(): BlockNumber {
    return asBlockNumber(this.logs.blockNumber(this.log))
  }

  get logIndex(): number {
    return this.logs.logIndex(this.log)
  }

  get transactionHash(): Hash {
    return this.logs.transactionHash(this.log)
  }

  protected uint32(word: number): number {
    return readUint32BigEndian(this.logs.bytes, this.start + WORD * word + 28)
  }

  protected uint256(word: number): bigint {
    return uint256OfParts((part) => readUint32BigEndian(this.logs.bytes, this.start + WORD * word + 4 * part))
  }

  protected view(offset: number, length: number): Uint8Array {
    return this.logs.bytes.subarray(this.start + offset, this.start + offset + length)
  }

  // Members named `…At` say at which byte of `logs.bytes` a field begins. Whoever copies it needs no view of it: for fields
  // this short, making a view costs more than the copy.

  get transactionHashAt(): number {
    return this.logs.transactionHashAt(this.log)
  }

  get originAddressAt(): number {
    return this.start + 2 * WORD + 12
  }
}

/** A BridgeEvent in packed logs. Its byte fields are views of them. */
export class PackedDeposit extends PackedEvent implements DepositEvent {
  get type(): 'deposit' {
    return 'deposit'
  }

  get leafType(): number {
    return this.logs.bytes[this.start + 31]!
  }

  get originNetwork(): NetworkId {
    return asNetworkId(this.uint32(1))
  }

  get originAddress(): Uint8Array {
    return this.view(2 * WORD + 12, 20)
  }

  get destinationNetwork(): NetworkId {
    return asNetworkId(this.uint32(3))
  }

  get destinationAddress(): Uint8Array {
    return this.view(4 * WORD + 12, 20)
  }

  get amount(): bigint {
    return this.uint256(5)
  }

  get depositCount(): DepositCount {
    return asDepositCount(this.uint32(7))
  }

  get metadata(): Uint8Array {
    return this.view(9 * WORD, this.uint32(8))
  }

  /** The same event as a plain object. Needed where events are spread (`{ ...event }`), which leaves getters out. */
  toPlain(): DepositEvent {
    return {
      type: this.type,
      blockNumber: this.blockNumber,
      logIndex: this.logIndex,
      transactionHash: this.transactionHash,
      sender: this.sender,
      depositCount: this.depositCount,
      leafType: this.leafType,
      originNetwork: this.originNetwork,
      originAddress: this.originAddress,
      destinationNetwork: this.destinationNetwork,
      destinationAddress: this.destinationAddress,
      amount: this.amount,
      metadata: this.metadata,
    }
  }

  get destinationAddressAt(): number {
    return this.start + 4 * WORD + 12
  }

  /** 32 bytes, big-endian. */
  get amountAt(): number {
    return this.start + 5 * WORD
  }

  get metadataAt(): number {
    return this.start + 9 * WORD
  }

  get metadataLength(): number {
    return this.uint32(8)
  }

  /** Writes the first 81 bytes of the leaf's preimage: all but its last field, the hash of the metadata. */
  copyPreimage(target: Uint8Array, offset: number): void {
    const { bytes } = this.logs
    const { start } = this
    target[offset] = bytes[start + 31]!
    copyBytes(bytes, start + WORD + 28, 4, target, offset + 1)
    copyBytes(bytes, start + 2 * WORD + 12, 20, target, offset + 5)
    copyBytes(bytes, start + 3 * WORD + 28, 4, target, offset + 25)
    copyBytes(bytes, start + 4 * WORD + 12, 20, target, offset + 29)
    copyBytes(bytes, start + 5 * WORD, WORD, target, offset + 49)
  }
}

/** A ClaimEvent of etrog and later in packed logs. Its byte fields are views of them. */
export class PackedClaim extends PackedEvent implements ClaimEvent {
  get type(): 'claim' {
    return 'claim'
  }

  get generation(): 'v2' {
    return 'v2'
  }

  get globalIndex(): bigint {
    return this.uint256(0)
  }

  get originNetwork(): NetworkId {
    return asNetworkId(this.uint32(1))
  }

  get originAddress(): Uint8Array {
    return this.view(2 * WORD + 12, 20)
  }

  get destinationAddress(): Uint8Array {
    return this.view(3 * WORD + 12, 20)
  }

  get amount(): bigint {
    return this.uint256(4)
  }

  /** The same event as a plain object, for the reason that `PackedDeposit.toPlain` names. */
  toPlain(): ClaimEvent {
    return {
      type: this.type,
      generation: this.generation,
      blockNumber: this.blockNumber,
      logIndex: this.logIndex,
      transactionHash: this.transactionHash,
      sender: this.sender,
      globalIndex: this.globalIndex,
      originNetwork: this.originNetwork,
      originAddress: this.originAddress,
      destinationAddress: this.destinationAddress,
      amount: this.amount,
    }
  }

  /** 32 bytes, big-endian. */
  get globalIndexAt(): number {
    return this.start
  }

  get destinationAddressAt(): number {
    return this.start + 3 * WORD + 12
  }

  /** 32 bytes, big-endian. */
  get amountAt(): number {
    return this.start + 4 * WORD
  }
}

/** The header of a block in backfill, from what its logs say of it: number, hash and time, but no parent. */
export class PackedHeader implements BlockHeader {
  readonly logs: PackedLogs
  readonly log: number
  readonly number: BlockNumber
  readonly timestampSec: number

  constructor(logs: PackedLogs, log: number, timestampSec: number) {
    this.logs = logs
    this.log = log
    this.number = asBlockNumber(logs.blockNumber(log))
    this.timestampSec = timestampSec
  }

  get hash(): Hash {
    return this.logs.blockHash(this.log)
  }
}

/**
 * Decodes a BridgeEvent in the only encoding that contracts write.
 * @returns undefined for any other encoding: `decodeLog` judges it.
 */
export function packedDeposit(logs: PackedLogs, log: number): PackedDeposit | undefined {
  const length = logs.dataLength(log)
  const { bytes, words } = logs
  const start = logs.dataStart(log)
  if (logs.topicCount(log) !== 1 || length < 9 * WORD) return undefined
  const isCanonical =
    isZero(words, start, 28) &&
    bytes[start + 28] === 0 &&
    bytes[start + 29] === 0 &&
    bytes[start + 30] === 0 &&
    isZero(words, start + WORD, 28) &&
    isZero(words, start + 2 * WORD, 12) &&
    isZero(words, start + 3 * WORD, 28) &&
    isZero(words, start + 4 * WORD, 12) &&
    isZero(words, start + 6 * WORD, 28) &&
    readUint32BigEndian(bytes, start + 6 * WORD + 28) === 8 * WORD &&
    isZero(words, start + 7 * WORD, 28) &&
    isZero(words, start + 8 * WORD, 28) &&
    length === WORD * (9 + Math.ceil(readUint32BigEndian(bytes, start + 8 * WORD + 28) / WORD))
  return isCanonical ? new PackedDeposit(logs, log) : undefined
}

/** Decodes a ClaimEvent of etrog and later. @returns undefined for any other encoding: `decodeLog` judges it. */
export function packedClaim(logs: PackedLogs, log: number): PackedClaim | undefined {
  const { words } = logs
  const start = logs.dataStart(log)
  const isCanonical =
    logs.topicCount(log) === 1 &&
    logs.dataLength(log) === 5 * WORD &&
    isZero(words, start + WORD, 28) &&
    isZero(words, start + 2 * WORD, 12) &&
    isZero(words, start + 3 * WORD, 12)
  return isCanonical ? new PackedClaim(logs, log) : undefined
}
