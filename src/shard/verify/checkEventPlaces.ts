import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeL1InfoLeafNumbers, L1_INFO_LEAF_BYTES } from '../../store/layout/l1InfoLeafRow.js'
import { decodeInjectedGerEntry } from '../../store/layout/smallRows.js'
import { L1_INFO_LEAVES_PER_CHUNK } from '../../store/layout/tables.js'
import { type PlacedKind, placedKinds, readEventPlace } from '../../store/places/eventPlace.js'
import { decodeGerRemovalEntry } from '../../store/places/gerRemovalEntry.js'
import { decodeTokenMigrationRow } from '../../store/places/tokenMigrationRow.js'
import { decodeUnsetClaimRow, unsetOrdinalOf } from '../../store/places/unsetClaimRow.js'
import {
  ChainOrder,
  DamageError,
  entriesOf,
  expectEqual,
  expectHash,
  expectStored,
  type VerifyContext,
} from './check.js'
import { expectNumbered } from './checkDictionaries.js'

/** Checks that each place is of a row that there is, and of the block that the row says. Rows from before schema 8 have none. */
export function checkEventPlaces(context: VerifyContext): string {
  const { view, counters, checkpoint } = context
  const names = new Map<number, PlacedKind>(
    Object.entries(placedKinds).map(([name, kind]) => [kind, name as PlacedKind]),
  )
  let count = 0
  for (const { key, value } of entriesOf(view, 'eventPlaces')) {
    const kind = names.get(key[0]!)
    const number = readUint32BigEndian(key, 1)
    const place = `place of ${kind ?? `kind ${key[0]}`} ${number}`
    const { blockNumber } = readEventPlace(value, 0)
    if (blockNumber > (checkpoint?.number ?? -1))
      throw new DamageError(`${place} is of block ${blockNumber}, after the checkpoint`)
    if (kind === 'rollupExitVersion') {
      if (number < 1 || number > counters.rollupExitVersion)
        throw new DamageError(`${place}: the newest version is ${counters.rollupExitVersion}`)
    } else if (kind === 'injection') {
      const row = expectStored(`injection ${number}`, view.get('injectedGers', uint32Key(number)))
      expectEqual(`block of the ${place}`, decodeInjectedGerEntry(row).blockNumber, blockNumber)
    } else if (kind === 'l1InfoLeaf')
      expectEqual(`block of the ${place}`, leafBlock(context, number), blockNumber)
    else throw new DamageError(`${place} is of an unknown kind`)
    count++
  }
  return `${count} places`
}

function leafBlock({ view, counters }: VerifyContext, index: number): number {
  if (index >= counters.l1InfoLeaves)
    throw new DamageError(`L1 info leaf ${index} has a place, only ${counters.l1InfoLeaves} are counted`)
  const inChunk = index % L1_INFO_LEAVES_PER_CHUNK
  const chunk = expectStored(`L1 info leaf ${index}`, view.get('l1InfoLeaves', uint32Key(index - inChunk)))
  return decodeL1InfoLeafNumbers(chunk, L1_INFO_LEAF_BYTES * inChunk).blockNumber
}

/** Checks that removed roots were injected, and that there are no more removals than are counted. */
export function checkGerRemovals({ view, counters }: VerifyContext): string {
  let count = 0
  for (const { key, value } of entriesOf(view, 'gerRemovals')) {
    const ordinal = readUint32BigEndian(key, 0)
    if (ordinal >= counters.gerRemovals)
      throw new DamageError(`removal ${ordinal} is stored, only ${counters.gerRemovals} are counted`)
    const { globalExitRoot, injectionOrdinal } = decodeGerRemovalEntry(value)
    const place = `injection ${injectionOrdinal}, which removal ${ordinal} took back`
    const injected = expectStored(place, view.get('injectedGers', uint32Key(injectionOrdinal)))
    expectHash(place, globalExitRoot, decodeInjectedGerEntry(injected).globalExitRoot)
    count++
  }
  return `${count} removals`
}

/** Checks that unset claims are in the order of the chain, and that each and its claim name each other. */
export function checkUnsetClaims(context: VerifyContext): string {
  const { view, counters } = context
  expectNumbered(context, 'unsetClaims', 'unset claim', counters.unsetClaims)
  const order = new ChainOrder(context, 'unset claim')
  let ordinal = 0
  let named = 0
  for (const { value } of entriesOf(view, 'unsetClaims')) {
    const { blockNumber, logIndex, claimOrdinal } = decodeUnsetClaimRow(value)
    order.expectNext(ordinal, blockNumber, logIndex)
    if (claimOrdinal !== undefined) {
      const place = `why claim ${claimOrdinal} is out of force`
      const why = expectStored(place, view.get('claimsOutOfForce', uint32Key(claimOrdinal)))
      expectEqual(place, `unset ${ordinal}`, `unset ${unsetOrdinalOf(why) ?? 'by none'}`)
      named++
    }
    ordinal++
  }
  let naming = 0
  for (const { value } of entriesOf(view, 'claimsOutOfForce'))
    if (unsetOrdinalOf(value) !== undefined) naming++
  expectEqual('claims that name what unset them', named, naming)
  return `${counters.unsetClaims} unset claims`
}

/** Checks that token migrations are in the order of the chain. Their lists are checked with the others. */
export function checkTokenMigrations(context: VerifyContext): string {
  const { view, counters } = context
  expectNumbered(context, 'tokenMigrations', 'token migration', counters.tokenMigrations)
  const order = new ChainOrder(context, 'token migration')
  let ordinal = 0
  for (const { value } of entriesOf(view, 'tokenMigrations')) {
    const { blockNumber, logIndex } = decodeTokenMigrationRow(value)
    order.expectNext(ordinal++, blockNumber, logIndex)
  }
  return `${counters.tokenMigrations} migrations`
}
