import type { TreeHasher } from '../../merkle/hasher.js'
import { equalBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { BlockHeader, Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { NetworkId } from '../../protocol/units.js'
import { decodeArchivedDeposit } from '../../store/layout/depositRow.js'
import { chunkKey, uint32Key } from '../../store/layout/keys.js'
import type { Counters } from '../../store/layout/metaValues.js'
import type { TableName } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { copyOf } from '../snapshot/chunkReader.js'
import { readLineages } from '../snapshot/tiles.js'

/** What every check of a shard reads: one snapshot with its counters and checkpoint. */
export interface VerifyContext {
  readonly view: ReadView
  readonly networkId: NetworkId
  readonly hasher: TreeHasher
  readonly counters: Readonly<Counters>
  readonly checkpoint: BlockHeader | undefined
}

/** One check of a shard. */
export interface ShardCheck {
  readonly name: string
  /** @returns what was checked, as text. @throws DamageError, InvariantError or RangeError for the first fault. */
  run(context: VerifyContext): string
}

/** The store contradicts itself. The message names the place, the expected value and the stored one. */
export class DamageError extends Error {
  override readonly name = 'DamageError'
}

export function expectEqual(place: string, expected: number | string, found: number | string): void {
  if (expected !== found) throw new DamageError(`${place}: expected ${expected}, found ${found}`)
}

export function expectHash(place: string, expected: Hash, found: Hash): void {
  if (!equalBytes(expected, found)) expectEqual(place, encodeHex(expected), encodeHex(found))
}

/** @throws DamageError when there is no value. */
export function expectStored<Value extends object>(place: string, value: Value | undefined): Value {
  if (value === undefined) throw new DamageError(`${place} is missing`)
  return value
}

export const LAST_KEY = new Uint8Array(64).fill(0xff)
const PAGE = 256

/** Yields every entry of a table in the order of the keys. Keys and values are copies. */
export function* entriesOf(
  view: ReadView,
  table: TableName,
): Generator<{ key: Uint8Array; value: Uint8Array }> {
  let start: Uint8Array = Uint8Array.of(0)
  for (;;) {
    const page = view.list(table, { start, end: LAST_KEY, limit: PAGE })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    // The lowest key above the last one.
    start = new Uint8Array(last.key.length + 1)
    start.set(last.key)
  }
}

export function countEntries(view: ReadView, table: TableName): number {
  let count = 0
  for (const _ of entriesOf(view, table)) count++
  return count
}

/** A chunked table: the name and the layout of its rows. */
export interface ChunkedTable {
  readonly table: TableName
  /** `deposit`, `claim`, … */
  readonly rowName: string
  readonly rowBytes: number
  readonly rowsPerChunk: number
}

/**
 * Yields every chunk of a table that must hold `count` rows: its first ordinal, its bytes (copies), and its number of rows.
 * @throws DamageError when a row is missing, or when there are more than `count`.
 */
export function* chunksOf(
  view: ReadView,
  { table, rowName, rowBytes, rowsPerChunk }: ChunkedTable,
  count: number,
): Generator<{ first: number; bytes: Uint8Array; rows: number }> {
  for (let first = 0; first < count; first += rowsPerChunk) {
    const rows = Math.min(rowsPerChunk, count - first)
    const bytes = copyOf(view.get(table, chunkKey(first, rowsPerChunk)))
    const stored = Math.floor((bytes?.length ?? 0) / rowBytes)
    if (bytes === undefined || stored < rows)
      throw new DamageError(`${rowName} ${first + stored} is missing, ${count} are counted`)
    if (bytes.length !== rows * rowBytes)
      throw new DamageError(`${rowName} ${first + rows} is stored, only ${count} are counted`)
    yield { first, bytes, rows }
  }
  const [last] = view.list(table, { start: LAST_KEY, end: uint32Key(0), limit: 1, reverse: true })
  const lastFirst = last === undefined ? -1 : readUint32BigEndian(last.key, 0)
  if (lastFirst >= count)
    throw new DamageError(`${rowName} ${lastFirst} is stored, only ${count} are counted`)
}

/** Checks that rows are in the order of the chain, and not after the checkpoint. */
export class ChainOrder {
  readonly #checkpoint: number
  readonly #rowName: string
  #block = -1
  #logIndex = -1

  constructor({ checkpoint }: VerifyContext, rowName: string) {
    this.#checkpoint = checkpoint?.number ?? -1
    this.#rowName = rowName
  }

  /** @param mayShare whether the row may come from the same log as the row before: leaves of ForwardLET do. */
  expectNext(ordinal: number, block: number, logIndex: number, mayShare = false): void {
    const place = `${this.#rowName} ${ordinal}`
    if (block > this.#checkpoint)
      throw new DamageError(`${place} is of block ${block}, after the checkpoint ${this.#checkpoint}`)
    const isLater =
      block > this.#block || (block === this.#block && logIndex > this.#logIndex - (mayShare ? 1 : 0))
    if (!isLater)
      throw new DamageError(
        `${place} is of block ${block}, log ${logIndex}, but the one before it is of block ${this.#block}, log ${this.#logIndex}`,
      )
    this.#block = block
    this.#logIndex = logIndex
  }
}

/**
 * The leaf count that each lineage of the local exit tree grew to. The archive has the deposits that a cut removed from a lineage. If
 * a cut removed none, the lineage had as many leaves as the cut keeps.
 */
export function lineageLeafCounts(view: ReadView, { lineage, deposits }: Readonly<Counters>): number[] {
  const leafCounts = readLineages(view, lineage)
    .slice(1)
    .map(({ cut }) => cut)
  leafCounts.push(deposits)
  if (lineage === 0) return leafCounts
  for (const { value } of entriesOf(view, 'archivedDeposits')) {
    const archived = decodeArchivedDeposit(value)
    leafCounts[archived.lineage] = Math.max(leafCounts[archived.lineage] ?? 0, archived.depositCount + 1)
  }
  return leafCounts
}
