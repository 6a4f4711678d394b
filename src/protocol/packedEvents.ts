import type { ClaimEvent, DepositEvent, Hash } from './chainEvent.js'
import type { PackedLogs } from './packedLogs.js'
import { uint256OfParts } from './uint256.js'
import {
  asBlockNumber,
  asDepositCount,
  asNetworkId,
  type BlockNumber,
  type DepositCount,
  type NetworkId,
} from './units.js'

/** Bytes of a word of the ABI. */
const WORD = 32

/** A BridgeEvent whose fields are read from its packed data when they are asked for: most are only copied on. */
export class PackedDeposit implements DepositEvent {
  readonly type = 'deposit'
  readonly blockNumber: BlockNumber
  readonly logIndex: number
  readonly transactionHash: Hash
  readonly depositCount: DepositCount
  readonly sender = null
  /** The window's records; the event's data begin at `start`. */
  readonly bytes: Uint8Array
  readonly start: number

  constructor(logs: PackedLogs, log: number, transactionHash: Hash) {
    this.blockNumber = asBlockNumber(logs.blockNumber(log))
    this.logIndex = logs.logIndex(log)
    this.transactionHash = transactionHash
    this.bytes = logs.bytes
    this.start = logs.dataStart(log)
    this.depositCount = asDepositCount(uint32At(this.bytes, this.start + 7 * WORD + 28))
  }

  get leafType(): number {
    return this.bytes[this.start + 31]!
  }

  get originNetwork(): NetworkId {
    return asNetworkId(uint32At(this.bytes, this.start + WORD + 28))
  }

  get originAddress(): Uint8Array {
    return viewOf(this, 2 * WORD + 12, 20)
  }

  get destinationNetwork(): NetworkId {
    return asNetworkId(uint32At(this.bytes, this.start + 3 * WORD + 28))
  }

  get destinationAddress(): Uint8Array {
    return viewOf(this, 4 * WORD + 12, 20)
  }

  get amount(): bigint {
    return uint256At(this.bytes, this.start + 5 * WORD)
  }

  get metadata(): Uint8Array {
    return viewOf(this, 9 * WORD, uint32At(this.bytes, this.start + 8 * WORD + 28))
  }
}

/** A ClaimEvent of etrog and later, read in the same way. */
export class PackedClaim implements ClaimEvent {
  readonly type = 'claim'
  readonly generation = 'v2'
  readonly blockNumber: BlockNumber
  readonly logIndex: number
  readonly transactionHash: Hash
  readonly sender = null
  readonly bytes: Uint8Array
  readonly start: number

  constructor(logs: PackedLogs, log: number, transactionHash: Hash) {
    this.blockNumber = asBlockNumber(logs.blockNumber(log))
    this.logIndex = logs.logIndex(log)
    this.transactionHash = transactionHash
    this.bytes = logs.bytes
    this.start = logs.dataStart(log)
  }

  get globalIndex(): bigint {
    return uint256At(this.bytes, this.start)
  }

  get originNetwork(): NetworkId {
    return asNetworkId(uint32At(this.bytes, this.start + WORD + 28))
  }

  get originAddress(): Uint8Array {
    return viewOf(this, 2 * WORD + 12, 20)
  }

  get destinationAddress(): Uint8Array {
    return viewOf(this, 3 * WORD + 12, 20)
  }

  get amount(): bigint {
    return uint256At(this.bytes, this.start + 4 * WORD)
  }
}

/**
 * Decodes a BridgeEvent of the only layout that contracts write.
 * @returns undefined for any other; the general decoder judges it.
 */
export function packedDeposit(
  logs: PackedLogs,
  log: number,
  transactionHash: Hash,
): PackedDeposit | undefined {
  const length = logs.dataLength(log)
  const { bytes } = logs
  const start = logs.dataStart(log)
  if (logs.topicCount(log) !== 1 || length < 9 * WORD) return undefined
  const isCanonical =
    isZero(bytes, start, 31) &&
    isZero(bytes, start + WORD, 28) &&
    isZero(bytes, start + 2 * WORD, 12) &&
    isZero(bytes, start + 3 * WORD, 28) &&
    isZero(bytes, start + 4 * WORD, 12) &&
    isZero(bytes, start + 6 * WORD, 28) &&
    uint32At(bytes, start + 6 * WORD + 28) === 8 * WORD &&
    isZero(bytes, start + 7 * WORD, 28) &&
    isZero(bytes, start + 8 * WORD, 28) &&
    length === WORD * (9 + Math.ceil(uint32At(bytes, start + 8 * WORD + 28) / WORD))
  return isCanonical ? new PackedDeposit(logs, log, transactionHash) : undefined
}

/** Decodes a ClaimEvent of etrog and later. @returns undefined for any other layout. */
export function packedClaim(logs: PackedLogs, log: number, transactionHash: Hash): PackedClaim | undefined {
  const { bytes } = logs
  const start = logs.dataStart(log)
  const isCanonical =
    logs.topicCount(log) === 1 &&
    logs.dataLength(log) === 5 * WORD &&
    isZero(bytes, start + WORD, 28) &&
    isZero(bytes, start + 2 * WORD, 12) &&
    isZero(bytes, start + 3 * WORD, 12)
  return isCanonical ? new PackedClaim(logs, log, transactionHash) : undefined
}

function isZero(bytes: Uint8Array, offset: number, length: number): boolean {
  for (let index = 0; index < length; index++) if (bytes[offset + index] !== 0) return false
  return true
}

function uint32At(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>>
    0
  )
}

function uint256At(bytes: Uint8Array, offset: number): bigint {
  return uint256OfParts((part) => uint32At(bytes, offset + 4 * part))
}

function viewOf(event: { bytes: Uint8Array; start: number }, offset: number, length: number): Uint8Array {
  return event.bytes.subarray(event.start + offset, event.start + offset + length)
}
