import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createStatusBoard, type StatusRow, statusRow } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import type { BlockBatch, IndexedBlock } from '../../src/protocol/chainEvent.js'
import type { BlockNumber } from '../../src/protocol/units.js'
import { readFeedPlace } from '../../src/shard/position/feedPosition.js'
import type { ShardWriter } from '../../src/shard/shardWriter.types.js'
import { entriesOfKind } from '../../src/shard/snapshot/hashRuns.js'
import { openShardWriter } from '../../src/shard/write/writer.js'
import { beginFeed } from '../../src/store/ensureFeed.js'
import { hashRunLayouts } from '../../src/store/layout/hashRun.js'
import { metaKey } from '../../src/store/layout/keys.js'
import { hashKinds, type TableName, tables } from '../../src/store/layout/tables.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import {
  openShardStoreReader,
  openShardStoreSnapshot,
  openShardStoreWriter,
} from '../../src/store/shardStore.js'
import type { ReadView } from '../../src/store/shardStore.types.js'
import { compileMerkleModule } from '../../src/wasm/wasmModule.js'
import { type NamedCommands, withNamedCommands } from './namedCommands.js'

const compiled = compileMerkleModule()

/** A shard's writer on a folder of its own, its status row, and a reader beside it. */
export interface TestShard {
  readonly writer: ShardWriter & NamedCommands
  readonly status: StatusRow
  /** Reads the newest state. */
  read<T>(body: (view: ReadView) => T): T
  close(): Promise<void>
}

/** The part of a configuration that a writer uses. */
function shardConfig(dataDir: string, networkId: number, keepEvents: number, startBlock = 1): Config {
  const feed = { keepEvents }
  return { dataDir, feed, networks: [{ networkId, startBlock }] } as unknown as Config
}

export function openTestShard(
  dataDir: string,
  networkId: number,
  board = createStatusBoard([networkId]),
  keepEvents = 1_000_000,
): TestShard {
  const config = shardConfig(dataDir, networkId, keepEvents)
  ensureFeed(dataDir, networkId)
  const writer = withNamedCommands(openShardWriter({ config, networkId, compiled, status: board }))
  const reader = openShardStoreReader(shardDirectory(dataDir, networkId))
  return {
    writer,
    status: statusRow(board, networkId),
    read(body) {
      reader.refresh()
      try {
        return body(reader)
      } finally {
        reader.release()
      }
    },
    async close() {
      await reader.close()
      await writer.close()
    },
  }
}

/** As main does before any other thread starts, but with the same feed for each network. */
function ensureFeed(dataDir: string, networkId: number): void {
  const store = openShardStoreWriter(shardDirectory(dataDir, networkId))
  if (readFeedPlace(store) === undefined) beginFeed(store, 0x0102_0304_0500 + networkId)
  // LMDB keeps the environment open for the writer that follows.
  store.close().catch(() => undefined)
}

/** A batch of these blocks. The last block is its head. */
export function batchOf(blocks: readonly IndexedBlock[], undoFloor = 0): BlockBatch {
  const head = blocks.at(-1)!.header
  return {
    fromBlock: blocks[0]!.header.number,
    head,
    blocks,
    finalizedBlock: Math.min(head.number, undoFloor) as BlockNumber,
    undoFloor: undoFloor as BlockNumber,
  }
}

/** Entries of hash runs by their key: which run holds an entry depends on the batches. */
function dumpHashRuns(view: ReadView): [string, string][] {
  const found = new Map<string, string[]>()
  for (const kind of Object.values(hashKinds))
    for (const words of entriesOfKind(view, kind)) {
      const { hashWords } = hashRunLayouts[kind]
      const key = `hashRuns/${kind}/${words.subarray(0, hashWords).join()}`
      found.set(key, [...(found.get(key) ?? []), words.subarray(hashWords).join()])
    }
  return [...found].map(([key, payloads]) => [key, payloads.join(' ')])
}

/** One hash over every key and value of every table, but for the file that the store was in at its last start. */
export function digestTables(view: ReadView): string {
  const hash = createHash('sha256')
  const all = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }
  for (const table of Object.keys(tables) as TableName[])
    for (const { key, value } of view.list(table, all)) {
      if (table === 'meta' && Buffer.from(key).equals(metaKey('feedFile'))) continue
      hash.update(`${table} ${key.length} ${value.length} `).update(key).update(value)
    }
  return hash.digest('hex')
}

/** Of every shard in a data folder that no service uses, by the shard's name. */
export async function digestsOfShards(dataDir: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const name of readdirSync(dataDir).sort()) {
    if (!existsSync(join(dataDir, name, 'data.mdb'))) continue
    const store = openShardStoreSnapshot(join(dataDir, name))
    store.refresh()
    digests[name] = digestTables(store)
    store.release()
    await store.close()
  }
  return digests
}

/** Every entry of every table as text, without the counts of reorgs and commits, without what audits note, and without the feed. */
export function dumpTables(view: ReadView, except: readonly TableName[] = []): Record<string, string> {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const entries: [string, string][] = []
  for (const table of Object.keys(tables) as TableName[]) {
    if (except.includes(table) || table === 'feed') continue
    if (table === 'hashRuns') {
      entries.push(...dumpHashRuns(view))
      continue
    }
    const all = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }
    for (const { key, value } of view.list(table, all)) entries.push([`${table}/${hex(key)}`, hex(value)])
  }
  // The end of the first batch depends on how blocks were batched, and who has read a chain only once saw no reorg.
  const left = ['epoch', 'commits', 'origin', 'startOvers', 'claimsCompared', 'feed', 'feedFile', 'lastReorg']
  const keys = left.map((name) => `meta/${hex(Buffer.from(name))}`)
  return Object.fromEntries(entries.filter(([key]) => !keys.includes(key)))
}
