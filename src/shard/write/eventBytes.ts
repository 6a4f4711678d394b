import { bridgeEventAt, claimEventAt, readUint32BigEndian } from '../../protocol/abiBytes.js'
import type {
  Address,
  ClaimEvent,
  EventPosition,
  ForwardLeaf,
  LogColumns,
} from '../../protocol/chainEvent.js'
import { writeUint256 } from '../../protocol/uint256.js'
import type { NetworkId } from '../../protocol/units.js'

/** Memory that holds the byte fields of a deposit or a claim and the offset of each, beside its numbers. */
class EventBytes {
  bytes: Uint8Array
  /** The same memory as 32-bit words. Addresses start at a word. */
  words: Int32Array
  /** 32 bytes. */
  transactionHashAt = 0
  /** 32 bytes, big-endian. */
  amountAt = 32
  /** 32 bytes, big-endian; claims only. */
  globalIndexAt = 64
  /** 20 bytes. */
  originAddressAt = 96
  /** 20 bytes. */
  destinationAddressAt = 116
  logIndex = 0
  originNetwork = 0 as NetworkId

  constructor(words: Int32Array) {
    this.words = words
    this.bytes = new Uint8Array(words.buffer)
  }
}

/** As `EventBytes`, with what else belongs to a leaf of the local exit tree. */
class LeafBytes extends EventBytes {
  leafType = 0
  destinationNetwork = 0 as NetworkId
  /** Memory of the metadata, and where they lie in it. Most are never looked at: their number suffices. */
  metadataBytes = this.bytes
  metadataAt = 0
  metadataLength = 0

  /** A view. */
  get metadata(): Uint8Array {
    return this.metadataBytes.subarray(this.metadataAt, this.metadataAt + this.metadataLength)
  }
}

export type { EventBytes, LeafBytes }

// Reused for all events: an object and views for each would be most of the garbage of a backfill.

/** Hold the fields of events that are objects: those at the tip, and the rare ones. */
const plainLeaf = new LeafBytes(new Int32Array(34))
const plainClaim = new EventBytes(new Int32Array(34))
const rowLeaf = new LeafBytes(new Int32Array(0))
const rowClaim = new EventBytes(new Int32Array(0))

/** A leaf from an event. @returns an object valid until the next call. @throws RangeError when the amount is not a uint256. */
export function leafOf(position: EventPosition, leaf: ForwardLeaf): LeafBytes {
  writePlain(plainLeaf, position, leaf)
  plainLeaf.leafType = leaf.leafType
  plainLeaf.destinationNetwork = leaf.destinationNetwork
  plainLeaf.metadataBytes = leaf.metadata
  plainLeaf.metadataLength = leaf.metadata.length
  return plainLeaf
}

/** A leaf from a row of BridgeEvents. @returns an object valid until the next call. */
export function leafAt(logs: LogColumns, row: number): LeafBytes {
  const { bytes } = logs
  const start = logs.dataStart(row)
  rowLeaf.bytes = bytes
  rowLeaf.words = logs.words
  rowLeaf.transactionHashAt = logs.transactionHashAt(row)
  rowLeaf.originAddressAt = start + bridgeEventAt.originAddress
  rowLeaf.destinationAddressAt = start + bridgeEventAt.destinationAddress
  rowLeaf.amountAt = start + bridgeEventAt.amount
  rowLeaf.logIndex = logs.logIndex(row)
  rowLeaf.originNetwork = readUint32BigEndian(bytes, start + bridgeEventAt.originNetwork) as NetworkId
  rowLeaf.leafType = bytes[start + bridgeEventAt.leafType]!
  rowLeaf.destinationNetwork = readUint32BigEndian(
    bytes,
    start + bridgeEventAt.destinationNetwork,
  ) as NetworkId
  rowLeaf.metadataBytes = bytes
  rowLeaf.metadataAt = start + bridgeEventAt.metadata
  rowLeaf.metadataLength = readUint32BigEndian(bytes, start + bridgeEventAt.metadataLength)
  return rowLeaf
}

/** As `leafOf`, of a claim. */
export function claimOf(claim: ClaimEvent): EventBytes {
  writePlain(plainClaim, claim, claim)
  writeUint256(plainClaim.bytes, plainClaim.globalIndexAt, claim.globalIndex)
  return plainClaim
}

/** As `leafAt`, of a row of ClaimEvents. */
export function claimAt(logs: LogColumns, row: number): EventBytes {
  const start = logs.dataStart(row)
  rowClaim.bytes = logs.bytes
  rowClaim.words = logs.words
  rowClaim.transactionHashAt = logs.transactionHashAt(row)
  rowClaim.originAddressAt = start + claimEventAt.originAddress
  rowClaim.destinationAddressAt = start + claimEventAt.destinationAddress
  rowClaim.amountAt = start + claimEventAt.amount
  rowClaim.globalIndexAt = start + claimEventAt.globalIndex
  rowClaim.logIndex = logs.logIndex(row)
  rowClaim.originNetwork = readUint32BigEndian(logs.bytes, start + claimEventAt.originNetwork) as NetworkId
  return rowClaim
}

function writePlain(
  target: EventBytes,
  { transactionHash, logIndex }: EventPosition,
  event: {
    readonly originNetwork: NetworkId
    readonly originAddress: Address
    readonly destinationAddress: Address
    readonly amount: bigint
  },
): void {
  const { bytes } = target
  bytes.set(transactionHash, target.transactionHashAt)
  bytes.set(event.originAddress, target.originAddressAt)
  bytes.set(event.destinationAddress, target.destinationAddressAt)
  writeUint256(bytes, target.amountAt, event.amount)
  target.logIndex = logIndex
  target.originNetwork = event.originNetwork
}
