import { equalBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import { checksumMask } from '../../protocol/checksumAddress.js'
import { encodeHex } from '../../protocol/hex.js'
import { LISTED_METADATA_BYTES } from '../../protocol/metadata.js'
import { tokenKey, uint32Key } from '../../store/layout/keys.js'
import { decodeTokenEntry, decodeUint32, encodeMetadataDigest } from '../../store/layout/smallRows.js'
import type { TableName } from '../../store/layout/tables.js'
import {
  countEntries,
  DamageError,
  entriesOf,
  expectEqual,
  expectStored,
  type VerifyContext,
} from './check.js'

/** Checks that no id of tokens or metadata is missing, that each entry leads back to its id, and that addresses have the spelling of EIP-55. */
export function checkDictionaries({ view, hasher, counters }: VerifyContext): string {
  let id = 0
  for (const { key, value } of entriesOf(view, 'tokens')) {
    expectEqual('token id', id, readUint32BigEndian(key, 0))
    const { network, address } = decodeTokenEntry(value)
    const place = `id of token ${encodeHex(address.bytes)} of network ${network}`
    expectEqual(
      place,
      id,
      decodeUint32(expectStored(place, view.get('tokenIds', tokenKey(network, address.bytes)))),
    )
    const mask = checksumMask(address.bytes, (bytes) => hasher.hash(bytes))
    if (!equalBytes(mask, address.checksumMask))
      throw new DamageError(`token ${id}: the spelling of ${encodeHex(address.bytes)} is not that of EIP-55`)
    id++
  }
  expectEqual('tokens', counters.tokens, id)
  expectEqual('token ids', counters.tokens, countEntries(view, 'tokenIds'))
  id = 0
  let long = 0
  for (const { key, value } of entriesOf(view, 'metadata')) {
    expectEqual('metadata id', id, readUint32BigEndian(key, 0))
    const place = `id of metadata ${id} by its hash`
    const { length } = value
    const hash = new Uint8Array(hasher.hash(value))
    expectEqual(place, id, decodeUint32(expectStored(place, view.get('metadataIds', hash))))
    if (length > LISTED_METADATA_BYTES) {
      const digest = `digest of metadata ${id}`
      if (
        !equalBytes(
          encodeMetadataDigest({ length, hash }),
          expectStored(digest, view.get('longMetadata', key)),
        )
      )
        throw new DamageError(`${digest} is not that of its bytes`)
      long++
    }
    id++
  }
  expectEqual('metadata', counters.metadata, id)
  expectEqual('metadata ids', counters.metadata, countEntries(view, 'metadataIds'))
  expectEqual('long metadata', long, countEntries(view, 'longMetadata'))
  return `${counters.tokens} tokens, ${counters.metadata} metadata`
}

/** Checks that a table's rows have the numbers 0 … `count` − 1. */
export function expectNumbered({ view }: VerifyContext, table: TableName, name: string, count: number): void {
  let ordinal = 0
  for (const { key } of entriesOf(view, table)) {
    if (!equalBytes(key, uint32Key(ordinal)))
      throw new DamageError(
        ordinal < count
          ? `${name} ${ordinal} is missing, ${count} are counted`
          : `${name} ${readUint32BigEndian(key, 0)} is stored, only ${count} are counted`,
      )
    ordinal++
  }
  if (ordinal !== count)
    throw new DamageError(
      ordinal < count
        ? `${name} ${ordinal} is missing, ${count} are counted`
        : `${name} ${count} is stored, only ${count} are counted`,
    )
}
