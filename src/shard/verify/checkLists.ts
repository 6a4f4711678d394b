import { getLeaf } from '../../merkle/treeProofs.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import { encodeHex } from '../../protocol/hex.js'
import { decodeArchivedDeposit } from '../../store/layout/depositRow.js'
import { chunkKey, listChunkKey, tokenKey, uint32Key } from '../../store/layout/keys.js'
import { decodeListChunk, decodeListTail, listLength } from '../../store/layout/listEntry.js'
import { decodeSenderRow, SENDER_BYTES } from '../../store/layout/senderRow.js'
import { LIST_CHUNK, listKinds, SENDERS_PER_CHUNK } from '../../store/layout/tables.js'
import { decodeTokenMappingRow } from '../../store/layout/tokenMappingRow.js'
import { decodeTokenMigrationRow } from '../../store/places/tokenMigrationRow.js'
import { senderWatermark } from '../position/chainPosition.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { originShownAsSender, readClaim, readDeposit } from '../snapshot/transactionLogs.js'
import {
  countEntries,
  DamageError,
  entriesOf,
  expectEqual,
  expectStored,
  type VerifyContext,
} from './check.js'

const kindNames = new Map<number, string>(Object.entries(listKinds).map(([name, kind]) => [kind, name]))

/** The rows that are in lists of one kind: their number, and the list keys of each. */
interface ListedRows {
  readonly count: number
  /** @returns keys valid until the next read; none for a row that is in no list of the kind. */
  keysOf(ordinal: number): readonly Uint8Array[]
}

/**
 * Checks lists against rows: the ordinals of a list ascend and their rows have the list's key, and all lists of a kind together
 * have as many ordinals as the rows need. So no ordinal is missing, and none is too many.
 */
export function checkLists(context: VerifyContext): string {
  const { view } = context
  const kinds = listedRows(context)
  const found = new Map<number, number>()
  let lists = 0
  let chunks = 0
  for (const { key, value } of entriesOf(view, 'listHeads')) {
    const kind = key[0]!
    const listKey = key.subarray(1)
    const place = `list ${kindNames.get(kind) ?? kind} of ${encodeHex(listKey)}`
    const rows = kinds.get(kind)
    if (rows === undefined) throw new DamageError(`${place} is of an unknown kind`)
    const length = listLength(value)
    const tail = decodeListTail(value)
    const fullChunks = Math.floor(length / LIST_CHUNK)
    expectEqual(`${place}, ordinals after the last chunk`, length % LIST_CHUNK, tail.length)
    let before = -1
    const check = (ordinals: readonly number[]): void => {
      for (const ordinal of ordinals) {
        if (ordinal <= before) throw new DamageError(`${place} has ${ordinal} after ${before}`)
        if (ordinal >= rows.count)
          throw new DamageError(`${place} has row ${ordinal}, only ${rows.count} are counted`)
        if (!rows.keysOf(ordinal).some((key) => equalBytes(key, listKey)))
          throw new DamageError(`${place} has row ${ordinal}, which does not belong to it`)
        before = ordinal
      }
    }
    for (let chunk = 0; chunk < fullChunks; chunk++) {
      const bytes = expectStored(`${place}, chunk ${chunk}`, view.get('lists', listChunkKey(key, chunk)))
      check(decodeListChunk(bytes))
    }
    check(tail)
    found.set(kind, (found.get(kind) ?? 0) + length)
    chunks += fullChunks
    lists++
  }
  for (const [kind, rows] of kinds) {
    let expected = 0
    for (let ordinal = 0; ordinal < rows.count; ordinal++) expected += rows.keysOf(ordinal).length
    expectEqual(`rows in lists ${kindNames.get(kind)}`, expected, found.get(kind) ?? 0)
  }
  expectEqual('chunks of lists', chunks, countEntries(view, 'lists'))
  return `${lists} lists`
}

function listedRows(context: VerifyContext): ReadonlyMap<number, ListedRows> {
  const { view, counters, hasher } = context
  const deposits = (keyOf: (row: ReturnType<typeof readDeposit>) => Uint8Array): ListedRows => ({
    count: counters.deposits,
    keysOf: (ordinal) => [keyOf(readDeposit(view, ordinal))],
  })
  const claims = (keysOf: (row: ReturnType<typeof readClaim>) => readonly Uint8Array[]): ListedRows => ({
    count: counters.claims,
    keysOf: (ordinal) => keysOf(readClaim(view, ordinal)),
  })
  const mappings = (keyOf: (row: ReturnType<typeof decodeTokenMappingRow>) => Uint8Array): ListedRows => ({
    count: counters.tokenMappings,
    keysOf: (ordinal) => {
      const bytes = expectStored(`token mapping ${ordinal}`, view.get('tokenMappings', uint32Key(ordinal)))
      return [keyOf(decodeTokenMappingRow(bytes))]
    },
  })
  const tree = localExitTreeSource(view, hasher, counters.lineage)
  const archived: ListedRows = {
    count: counters.archivedDeposits,
    keysOf: (ordinal) => {
      const bytes = expectStored(
        `archived deposit ${ordinal}`,
        view.get('archivedDeposits', uint32Key(ordinal)),
      )
      const { lineage, depositCount } = decodeArchivedDeposit(bytes)
      return [getLeaf(tree, lineage, depositCount)]
    },
  }
  return new Map<number, ListedRows>([
    [listKinds.depositsBySender, senders(context, 'deposit')],
    [listKinds.depositsByDestinationNetwork, deposits((row) => uint32Key(row.destinationNetwork))],
    [listKinds.depositsByDestinationAddress, deposits((row) => row.destinationAddress.bytes)],
    [
      listKinds.depositsByLeafType,
      {
        count: counters.deposits,
        keysOf: (ordinal) => {
          const { leafType } = readDeposit(view, ordinal)
          return leafType === 0 ? [] : [Uint8Array.of(leafType)]
        },
      },
    ],
    [listKinds.claimsBySender, senders(context, 'claim')],
    [
      listKinds.claimsByDestinationAddress,
      claims((row) => (row.isSetByAdministrator ? [] : [row.destinationAddress.bytes])),
    ],
    [listKinds.claimsBySourceNetwork, claims((row) => [uint32Key(row.sourceNetwork)])],
    [
      listKinds.claimsSetByAdministrator,
      claims((row) => (row.isSetByAdministrator ? [new Uint8Array(0)] : [])),
    ],
    [
      listKinds.mappingsByOriginToken,
      mappings((row) => tokenKey(row.originNetwork, row.originTokenAddress.bytes)),
    ],
    [listKinds.mappingsByWrappedToken, mappings((row) => row.wrappedTokenAddress.bytes)],
    [listKinds.archivedByLeafHash, archived],
    [
      listKinds.migrationsByLegacyToken,
      {
        count: counters.tokenMigrations,
        keysOf: (ordinal) => {
          const bytes = view.get('tokenMigrations', uint32Key(ordinal))
          const row = decodeTokenMigrationRow(expectStored(`token migration ${ordinal}`, bytes))
          return [row.legacyTokenAddress.bytes]
        },
      },
    ],
  ])
}

/** A row is in the lists of its caller, its transaction sender and, for some messages, its origin address: once for each address. */
function senders({ view }: VerifyContext, kind: 'deposit' | 'claim'): ListedRows {
  const table = kind === 'deposit' ? 'depositSenders' : 'claimSenders'
  return {
    count: senderWatermark(view, kind),
    keysOf: (ordinal) => {
      const chunk = expectStored(
        `sender of ${kind} ${ordinal}`,
        view.get(table, chunkKey(ordinal, SENDERS_PER_CHUNK)),
      )
      const at = SENDER_BYTES * (ordinal % SENDERS_PER_CHUNK)
      // Decoded from a copy, since the deposit is read before the row is used. undefined: no endpoint knows the transaction.
      const row = decodeSenderRow(new Uint8Array(chunk.subarray(at, at + SENDER_BYTES)), 0)
      const origin =
        kind === 'deposit'
          ? originShownAsSender(view, readDeposit(view, ordinal), row !== undefined)
          : undefined
      const keys = row === undefined ? [] : [row.caller.bytes, row.transactionSender.bytes]
      if (origin !== undefined) keys.push(origin)
      return keys.filter((key, index) => keys.findIndex((each) => equalBytes(each, key)) === index)
    },
  }
}
