import { createHash } from 'node:crypto'
import { DivergedError } from '../../errors/divergedError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getRoot } from '../../merkle/treeProofs.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { tables } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { SCHEMA_VERSION } from '../../store/storeIdentity.js'
import { readCounters } from '../position/chainPosition.js'
import { readShardCounts } from '../position/storedStatus.js'
import type { ShardMark, TableStretch } from '../shardLog.types.js'
import { localExitTreeSource } from '../snapshot/tiles.js'

/** LMDB keys are shorter, and none of ours begins with so many of these bytes. */
const LAST_KEY = new Uint8Array(64).fill(0xff)

export function makeMark(view: ReadView, hasher: TreeHasher, stretch: TableStretch): ShardMark {
  const { deposits, claims, l1InfoLeaves } = readShardCounts(view)
  const localExitRoot = readLocalExitRoot(view, hasher)
  const digest = digestOf(view, stretch)
  return { localExitRoot, deposits, claims, l1InfoLeaves, stretch, digest, schema: SCHEMA_VERSION }
}

/** Root of the local exit tree at the checkpoint; fresh memory. */
export function readLocalExitRoot(view: ReadView, hasher: TreeHasher): Hash {
  const { lineage, deposits } = readCounters(view)
  return getRoot(localExitTreeSource(view, hasher, lineage), lineage, deposits)
}

/** Instances of another build may have other tables: of these the digest is not compared. @throws DivergedError, in one line with both values, when the shard differs from the mark. */
export function assertMark(view: ReadView, hasher: TreeHasher, mark: ShardMark): void {
  const own = makeMark(view, hasher, mark.stretch)
  const numbers = ['deposits', 'claims', 'l1InfoLeaves', 'localExitRoot'] as const
  const compared = own.schema === mark.schema ? ([...numbers, 'digest'] as const) : numbers
  const differences = compared
    .map((field) => [field, textOf(own[field]), textOf(mark[field])])
    .filter(([, here, there]) => here !== there)
    .map(([field, here, there]) => `${field} ${here} (in the log: ${there})`)
  const { table, from, entries } = mark.stretch
  if (differences.length > 0)
    throw new DivergedError(
      `the shard differs from its log: ${differences.join(', ')}; digest of ${entries} entries of ${table} from ${encodeHex(from)} on`,
    )
}

/** The stretch behind this one, in the next table when this one is at its end. Round and round they cover every table. */
export function stretchAfter(view: ReadView, { table, from, entries }: TableStretch): TableStretch {
  const [first] = view.list(table, { start: from, end: LAST_KEY, limit: entries + 1 }).slice(entries)
  if (first !== undefined) return { table, from: first.key, entries }
  const names = Object.keys(tables) as (keyof typeof tables)[]
  return { table: names[(names.indexOf(table) + 1) % names.length]!, from: Uint8Array.of(0), entries }
}

function digestOf(view: ReadView, { table, from, entries }: TableStretch): Hash {
  const hash = createHash('sha256')
  const meta = view.list('meta', { start: Uint8Array.of(0), end: LAST_KEY })
  for (const { key, value } of [...meta, ...view.list(table, { start: from, end: LAST_KEY, limit: entries })])
    hash.update(`${key.length} ${value.length} `).update(key).update(value)
  return new Uint8Array(hash.digest())
}

function textOf(value: number | Hash): string {
  return typeof value === 'number' ? value.toString() : encodeHex(value)
}
