import { PackedClaim, PackedDeposit } from '../../events/packedEvents.js'
import type { Address, ClaimEvent, EventPosition, ForwardLeaf } from '../../protocol/chainEvent.js'
import { writeUint256 } from '../../protocol/uint256.js'

/** Memory that holds an event's byte fields, and the offset of each. */
export interface EventBytes {
  bytes: Uint8Array
  /** The same memory as 32-bit words. Addresses start at a word. */
  words: Int32Array
  /** 32 bytes. */
  transactionHashAt: number
  /** 20 bytes. */
  originAddressAt: number
  /** 20 bytes. */
  destinationAddressAt: number
  /** 32 bytes, big-endian. */
  amountAt: number
  /** 32 bytes, big-endian; claims only. */
  globalIndexAt: number
}

/** Holds the fields of events that are not packed: those at the tip, and the rare ones. */
const plainWords = new Int32Array(34)
const plain: EventBytes = {
  bytes: new Uint8Array(plainWords.buffer),
  words: plainWords,
  transactionHashAt: 0,
  amountAt: 32,
  globalIndexAt: 64,
  originAddressAt: 96,
  destinationAddressAt: 116,
}
/** Reused for all packed events: an object and views for each event would be most of the garbage of a backfill. */
const packed: EventBytes = { ...plain }

/** Memory and offsets of a deposit's fields. @returns an object valid until the next call. @throws RangeError when the amount is not a uint256. */
export function depositBytes(position: EventPosition, deposit: ForwardLeaf): EventBytes {
  if (!(deposit instanceof PackedDeposit)) {
    writePlain(position, deposit)
    return plain
  }
  packed.bytes = deposit.logs.bytes
  packed.words = deposit.logs.words
  packed.transactionHashAt = deposit.transactionHashAt
  packed.originAddressAt = deposit.originAddressAt
  packed.destinationAddressAt = deposit.destinationAddressAt
  packed.amountAt = deposit.amountAt
  return packed
}

/** As `depositBytes`, of a claim's fields. */
export function claimBytes(claim: ClaimEvent): EventBytes {
  if (!(claim instanceof PackedClaim)) {
    writePlain(claim, claim)
    writeUint256(plain.bytes, plain.globalIndexAt, claim.globalIndex)
    return plain
  }
  packed.bytes = claim.logs.bytes
  packed.words = claim.logs.words
  packed.transactionHashAt = claim.transactionHashAt
  packed.originAddressAt = claim.originAddressAt
  packed.destinationAddressAt = claim.destinationAddressAt
  packed.amountAt = claim.amountAt
  packed.globalIndexAt = claim.globalIndexAt
  return packed
}

function writePlain(
  { transactionHash }: Pick<EventPosition, 'transactionHash'>,
  event: { readonly originAddress: Address; readonly destinationAddress: Address; readonly amount: bigint },
): void {
  const { bytes } = plain
  bytes.set(transactionHash, plain.transactionHashAt)
  bytes.set(event.originAddress, plain.originAddressAt)
  bytes.set(event.destinationAddress, plain.destinationAddressAt)
  writeUint256(bytes, plain.amountAt, event.amount)
}
