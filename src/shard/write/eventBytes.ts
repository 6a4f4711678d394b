import { PackedClaim, PackedDeposit } from '../../events/packedEvents.js'
import type { Address, ClaimEvent, EventPosition, ForwardLeaf } from '../../protocol/chainEvent.js'
import { writeUint256 } from '../../protocol/uint256.js'

/** Memory and offsets of an event's byte fields. */
export interface EventBytes {
  bytes: Uint8Array
  /** The same memory as 32-bit words. Addresses start at a word. */
  words: Int32Array
  /** 32 bytes. */
  transactionHash: number
  /** 20 bytes. */
  originAddress: number
  /** 20 bytes. */
  destinationAddress: number
  /** 32 bytes, big-endian. */
  amount: number
  /** 32 bytes, big-endian; claims only. */
  globalIndex: number
}

/** Holds the fields of events that are not packed: those at the tip, and the rare ones. */
const plainWords = new Int32Array(34)
const plain: EventBytes = {
  bytes: new Uint8Array(plainWords.buffer),
  words: plainWords,
  transactionHash: 0,
  amount: 32,
  globalIndex: 64,
  originAddress: 96,
  destinationAddress: 116,
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
  packed.transactionHash = deposit.transactionHashAt
  packed.originAddress = deposit.originAddressAt
  packed.destinationAddress = deposit.destinationAddressAt
  packed.amount = deposit.amountAt
  return packed
}

/** As `depositBytes`, of a claim's fields. */
export function claimBytes(claim: ClaimEvent): EventBytes {
  if (!(claim instanceof PackedClaim)) {
    writePlain(claim, claim)
    writeUint256(plain.bytes, plain.globalIndex, claim.globalIndex)
    return plain
  }
  packed.bytes = claim.logs.bytes
  packed.words = claim.logs.words
  packed.transactionHash = claim.transactionHashAt
  packed.originAddress = claim.originAddressAt
  packed.destinationAddress = claim.destinationAddressAt
  packed.amount = claim.amountAt
  packed.globalIndex = claim.globalIndexAt
  return packed
}

function writePlain(
  { transactionHash }: Pick<EventPosition, 'transactionHash'>,
  event: { readonly originAddress: Address; readonly destinationAddress: Address; readonly amount: bigint },
): void {
  const { bytes } = plain
  bytes.set(transactionHash, plain.transactionHash)
  bytes.set(event.originAddress, plain.originAddress)
  bytes.set(event.destinationAddress, plain.destinationAddress)
  writeUint256(bytes, plain.amount, event.amount)
}
