import { statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { LIST_CHUNK, listKinds, tables } from '../../src/store/layout/tables.js'

/** Bytes on disk of each table of a shard: all its pages, full or not. Lists are reported by kind, by the bytes of their entries. */
export interface StoreBytes {
  readonly file: number
  readonly tables: ReadonlyMap<string, number>
  readonly lists: ReadonlyMap<string, number>
}

interface TableStats {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

/** What LMDB adds to an entry: its head, and its place in the page's index. */
const ENTRY_BYTES = 10
const CHUNK_NUMBER_BYTES = 4

/** Call it only while nobody has the shard open. */
export async function measureStore(directory: string): Promise<StoreBytes> {
  const options = { encoding: 'binary', keyEncoding: 'binary', maxDbs: 64 } as const
  const root = open({ path: directory, noSubdir: false, ...options })
  const byTable = new Map<string, number>()
  for (const name of Object.values(tables)) {
    const database = root.openDB<Uint8Array, Uint8Array>({ name, ...options })
    const stats = database.getStats() as TableStats
    const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages
    byTable.set(name, pages * stats.pageSize)
  }
  const kindNames = new Map<number, string>(Object.entries(listKinds).map(([name, kind]) => [kind, name]))
  const lists = new Map<string, number>()
  const heads = root.openDB<Uint8Array, Uint8Array>({ name: tables.listHeads, ...options })
  for (const { key, value } of heads.getRange({})) {
    const kind = kindNames.get(key[0]!) ?? `kind ${key[0]}`
    const length = new DataView(value.buffer, value.byteOffset, 4).getUint32(0, true)
    const chunk = 4 * LIST_CHUNK + key.length + CHUNK_NUMBER_BYTES + ENTRY_BYTES
    const bytes = key.length + value.length + ENTRY_BYTES + Math.floor(length / LIST_CHUNK) * chunk
    lists.set(kind, (lists.get(kind) ?? 0) + bytes)
  }
  await root.close()
  return { file: statSync(join(directory, 'data.mdb')).size, tables: byTable, lists }
}
