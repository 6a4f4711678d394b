import type { ChecksumAddress } from '../../protocol/checksumAddress.js'
import type { BlockNumber } from '../../protocol/units.js'
import { writeUint32, writeUint48 } from './bytes.js'

/** What the stored rows of a deposit and of a claim have alike: the place of the event, and its content. */
export interface EventRow {
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  readonly logIndex: number
  readonly tokenId: number
  readonly destinationAddress: ChecksumAddress
  /** 32 bytes, big-endian. */
  readonly amount: Uint8Array
}

type NumberField = 'blockNumber' | 'timestampSec' | 'logIndex' | 'tokenId'

/** Writes the number fields. The caller copies the byte fields itself. @param fields where each begins in the row. */
export function encodeEventNumbers(
  bytes: Uint8Array,
  offset: number,
  fields: Readonly<Record<NumberField, number>>,
  row: Pick<EventRow, NumberField>,
): void {
  writeUint48(bytes, offset + fields.blockNumber, row.blockNumber)
  writeUint48(bytes, offset + fields.timestampSec, row.timestampSec)
  writeUint32(bytes, offset + fields.logIndex, row.logIndex)
  writeUint32(bytes, offset + fields.tokenId, row.tokenId)
}
