import type { Address, BlockHeader, TokenMigratedEvent } from '../../protocol/chainEvent.js'
import { latin1, listHeadKey, uint32Key } from '../../store/layout/keys.js'
import { listKinds } from '../../store/layout/tables.js'
import { placeOfEvent } from '../../store/places/eventPlace.js'
import { decodeTokenMigrationRow, encodeTokenMigrationRow } from '../../store/places/tokenMigrationRow.js'
import { readWholeList } from './listAppender.js'
import type { WriteContext } from './writeContext.js'

/** MigrateLegacyToken. */
export function applyTokenMigrated(
  context: WriteContext,
  header: BlockHeader,
  event: TokenMigratedEvent,
): void {
  const { view, memory, counters, lists } = context
  const { addresses } = memory
  // All three first: to add an address ends what `at` has given.
  const account = addresses.numberOf(event.account)
  const legacyToken = addresses.numberOf(event.legacyTokenAddress)
  const updatedToken = addresses.numberOf(event.updatedTokenAddress)
  const ordinal = counters.tokenMigrations++
  view.put(
    'tokenMigrations',
    uint32Key(ordinal),
    encodeTokenMigrationRow({
      ...placeOfEvent(header, event),
      account: addresses.at(account),
      legacyTokenAddress: addresses.at(legacyToken),
      updatedTokenAddress: addresses.at(updatedToken),
      amount: event.amount,
      isRemoved: false,
    }),
  )
  lists.append(listKinds.migrationsByLegacyToken, latin1(event.legacyTokenAddress), ordinal)
}

/** The legacy token was removed: marks its migrations. They stay as history. */
export function markMigrationsRemoved(context: WriteContext, legacyTokenAddress: Address): void {
  const { view, lists } = context
  lists.flushKind(listKinds.migrationsByLegacyToken)
  const key = listHeadKey(listKinds.migrationsByLegacyToken, legacyTokenAddress)
  for (const ordinal of readWholeList(view, key)) {
    const row = decodeTokenMigrationRow(view.get('tokenMigrations', uint32Key(ordinal))!)
    view.put('tokenMigrations', uint32Key(ordinal), encodeTokenMigrationRow({ ...row, isRemoved: true }))
  }
}
