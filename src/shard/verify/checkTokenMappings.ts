import { encodeHex } from '../../protocol/hex.js'
import { latin1, tokenKey } from '../../store/layout/keys.js'
import { decodeTokenMappingRow } from '../../store/layout/tokenMappingRow.js'
import { ChainOrder, DamageError, entriesOf, type VerifyContext } from './check.js'
import { expectNumbered } from './checkDictionaries.js'

/** Checks that no token mapping is missing, that they are in the order of the chain, and that only each token's newest one is current. */
export function checkTokenMappings(context: VerifyContext): string {
  const { view, counters } = context
  expectNumbered(context, 'tokenMappings', 'token mapping', counters.tokenMappings)
  const order = new ChainOrder(context, 'token mapping')
  const newest = new Map<string, { ordinal: number; isCurrent: boolean }>()
  let ordinal = 0
  for (const { value } of entriesOf(view, 'tokenMappings')) {
    const row = decodeTokenMappingRow(value)
    order.expectNext(ordinal, row.blockNumber, row.logIndex)
    const key = latin1(tokenKey(row.originNetwork, row.originTokenAddress.bytes))
    const before = newest.get(key)
    if (before?.isCurrent)
      throw new DamageError(
        `token mapping ${before.ordinal} of ${encodeHex(row.originTokenAddress.bytes)} is current, but mapping ${ordinal} is newer`,
      )
    newest.set(key, { ordinal, isCurrent: row.isCurrent })
    ordinal++
  }
  for (const mapping of newest.values())
    if (!mapping.isCurrent)
      throw new DamageError(`token mapping ${mapping.ordinal} is the newest of its token, but not current`)
  return `${counters.tokenMappings} mappings`
}
