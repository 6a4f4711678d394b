import { InvariantError } from '../../errors/invariantError.js'
import type {
  Address,
  BlockHeader,
  EventPosition,
  LegacyTokenRemovedEvent,
  SovereignTokenEvent,
  WrappedTokenEvent,
} from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import { latin1, listHeadKey, tokenKey, uint32Key } from '../../store/layout/keys.js'
import { type ListKind, listKinds } from '../../store/layout/tables.js'
import {
  decodeTokenMappingRow,
  encodeTokenMappingRow,
  type TokenMappingRow,
} from '../../store/layout/tokenMappingRow.js'
import { markMigrationsRemoved } from './applyTokenMigrations.js'
import { tokenMappingEventOf } from './feedRows.js'
import { readWholeList } from './listAppender.js'
import type { WriteContext } from './writeContext.js'

const NO_METADATA = new Uint8Array(0)

/** NewWrappedToken. */
export function applyWrappedToken(
  context: WriteContext,
  header: BlockHeader,
  event: WrappedTokenEvent,
): void {
  addMapping(context, header, event, {
    originNetwork: event.originNetwork,
    originTokenAddress: event.originTokenAddress,
    wrappedTokenAddress: event.wrappedTokenAddress,
    metadata: event.metadata,
    tokenType: 0,
    isNotMintable: false,
  })
}

/** SetSovereignTokenAddress, SetSovereignWETHAddress: the origin token maps to another token from now on. */
export function applySovereignToken(
  context: WriteContext,
  header: BlockHeader,
  event: SovereignTokenEvent,
): void {
  addMapping(context, header, event, {
    originNetwork: event.originNetwork,
    originTokenAddress: event.originTokenAddress,
    wrappedTokenAddress: event.sovereignTokenAddress,
    metadata: NO_METADATA,
    tokenType: 1,
    isNotMintable: event.isNotMintable,
  })
}

/** RemoveLegacySovereignTokenAddress: marks the mappings of an old sovereign token as removed. They stay as history. */
export function applyLegacyTokenRemoved(context: WriteContext, event: LegacyTokenRemovedEvent): void {
  context.lists.flushKind(listKinds.mappingsByWrappedToken)
  for (const ordinal of mappingsOf(context, listKinds.mappingsByWrappedToken, event.sovereignTokenAddress))
    changeMapping(context, ordinal, { isRemoved: true })
  markMigrationsRemoved(context, event.sovereignTokenAddress)
}

interface Mapping {
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
  readonly wrappedTokenAddress: Address
  readonly metadata: Uint8Array
  readonly tokenType: number
  readonly isNotMintable: boolean
}

function addMapping(
  context: WriteContext,
  header: BlockHeader,
  event: EventPosition,
  mapping: Mapping,
): void {
  const { view, memory, counters, lists } = context
  const originKey = tokenKey(mapping.originNetwork, mapping.originTokenAddress)
  lists.flushKind(listKinds.mappingsByOriginToken)
  const before = mappingsOf(context, listKinds.mappingsByOriginToken, originKey).at(-1)
  if (before !== undefined) changeMapping(context, before, { isCurrent: false })
  const ordinal = counters.tokenMappings++
  const originToken = memory.addresses.numberOf(mapping.originTokenAddress)
  const wrappedToken = memory.addresses.numberOf(mapping.wrappedTokenAddress)
  const row: TokenMappingRow = {
    transactionHash: event.transactionHash,
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: event.logIndex,
    originNetwork: mapping.originNetwork,
    originTokenAddress: memory.addresses.at(originToken),
    wrappedTokenAddress: memory.addresses.at(wrappedToken),
    metadataId: memory.dictionaries.metadataId(
      context,
      memory.metadataHashes.numberOf(mapping.metadata),
      mapping,
    ),
    tokenType: mapping.tokenType,
    isNotMintable: mapping.isNotMintable,
    isCurrent: true,
    isRemoved: false,
  }
  view.put('tokenMappings', uint32Key(ordinal), encodeTokenMappingRow(row))
  tellMapping(context, ordinal)
  lists.append(listKinds.mappingsByOriginToken, latin1(originKey), ordinal)
  lists.append(listKinds.mappingsByWrappedToken, latin1(mapping.wrappedTokenAddress), ordinal)
}

function mappingsOf(context: WriteContext, kind: ListKind, key: Uint8Array): number[] {
  return readWholeList(context.view, listHeadKey(kind, key))
}

function changeMapping(context: WriteContext, ordinal: number, change: Partial<TokenMappingRow>): void {
  const key = uint32Key(ordinal)
  const stored = context.view.get('tokenMappings', key)
  if (stored === undefined) throw new InvariantError(`token mapping ${ordinal} is listed but not stored`)
  context.view.put(
    'tokenMappings',
    key,
    encodeTokenMappingRow({ ...decodeTokenMappingRow(stored), ...change }),
  )
  tellMapping(context, ordinal)
}

function tellMapping(context: WriteContext, ordinal: number): void {
  if (context.feed.tellsBlocks) context.feed.tell(tokenMappingEventOf(context, ordinal))
}
