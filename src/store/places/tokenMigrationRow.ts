import {
  CHECKSUM_ADDRESS_BYTES,
  type ChecksumAddress,
  copyChecksumAddress,
  encodeChecksumAddress,
} from '../../protocol/checksumAddress.js'
import { writeUint256 } from '../../protocol/uint256.js'
import { readUint256 } from '../layout/bytes.js'
import { EVENT_PLACE_BYTES, type EventPlace, readEventPlace, writeEventPlace } from './eventPlace.js'

/** One MigrateLegacyToken as table `tokenMigrations` holds it: an account changed its balance of a token that was replaced. */
export interface TokenMigrationRow extends EventPlace {
  /** Who changed it, as the event names it. */
  readonly account: ChecksumAddress
  readonly legacyTokenAddress: ChecksumAddress
  readonly updatedTokenAddress: ChecksumAddress
  readonly amount: bigint
  /** RemoveLegacySovereignTokenAddress has removed the legacy token since. The row stays as history. */
  readonly isRemoved: boolean
}

const at = {
  account: EVENT_PLACE_BYTES,
  legacyTokenAddress: EVENT_PLACE_BYTES + CHECKSUM_ADDRESS_BYTES,
  updatedTokenAddress: EVENT_PLACE_BYTES + 2 * CHECKSUM_ADDRESS_BYTES,
  amount: EVENT_PLACE_BYTES + 3 * CHECKSUM_ADDRESS_BYTES,
  flags: EVENT_PLACE_BYTES + 3 * CHECKSUM_ADDRESS_BYTES + 32,
} as const

/** @returns fresh bytes: 156. */
export function encodeTokenMigrationRow(row: TokenMigrationRow): Uint8Array {
  const bytes = new Uint8Array(at.flags + 1)
  writeEventPlace(bytes, 0, row)
  encodeChecksumAddress(bytes, at.account, row.account)
  encodeChecksumAddress(bytes, at.legacyTokenAddress, row.legacyTokenAddress)
  encodeChecksumAddress(bytes, at.updatedTokenAddress, row.updatedTokenAddress)
  writeUint256(bytes, at.amount, row.amount)
  bytes[at.flags] = row.isRemoved ? 1 : 0
  return bytes
}

/** @returns byte fields are copies. */
export function decodeTokenMigrationRow(bytes: Uint8Array): TokenMigrationRow {
  return {
    ...readEventPlace(bytes, 0),
    account: copyChecksumAddress(bytes, at.account),
    legacyTokenAddress: copyChecksumAddress(bytes, at.legacyTokenAddress),
    updatedTokenAddress: copyChecksumAddress(bytes, at.updatedTokenAddress),
    amount: readUint256(bytes, at.amount),
    isRemoved: bytes[at.flags] === 1,
  }
}
