import assert from 'node:assert/strict'
import type { HaltReason } from '../../src/board/haltReason.js'
import { createStatusBoard, type StatusBoardHandle, statusRow } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import { ExitRootSearch } from '../../src/indexer/sync/exitRootSearch.js'
import type { BlockHeader } from '../../src/protocol/chainEvent.js'
import { asBlockNumber, asNetworkId } from '../../src/protocol/units.js'
import { applyOrThrow } from '../../src/shard/applyOrThrow.js'
import { handOn } from '../../src/shard/proposer.js'
import { openShardReaders, type ShardReaders } from '../../src/shard/queries/shardReaders.js'
import { openL1ShardReader } from '../../src/shard/readiness/l1ShardReader.js'
import type { ShardWriter } from '../../src/shard/shardWriter.types.js'
import { openShardWriter } from '../../src/shard/write/writer.js'
import { prepareStores, type StoreGuard } from '../../src/store/openStores.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import type { FakeWorld } from './fakeChain.js'
import { headerOf, indexedBlock, toHex } from './indexedBlocks.js'
import { loadedConfig } from './loadedConfig.js'
import { type NamedCommands, withNamedCommands } from './namedCommands.js'
import { type Cleaner, tempFolder } from './tempFolder.js'

const compiled = compileMerkleModule()

export interface SyncOptions {
  /** Last block to index; default: the head. */
  readonly to?: number
  /** How far finality is behind the last block. Default: 0. */
  readonly finalizedLag?: number
  /** Newest block that cannot be undone. Default: none. */
  readonly undoFloor?: number
  /** Blocks per batch; default: all in one. */
  readonly batchBlocks?: number
  /** False: senders stay open, as in backfill. */
  readonly withSenders?: boolean
}

/**
 * A fake world, indexed into real shards by the real writer and read by the real readers, without RPC, threads and
 * pool. Call `sync` after mining.
 */
export class IndexedWorld {
  readonly world: FakeWorld
  readonly config: Config
  readonly status: StatusBoardHandle
  readonly readers: ShardReaders
  private readonly guard: StoreGuard
  private readonly writers: ReadonlyMap<number, ReturnType<typeof openShardWriter> & NamedCommands>
  private readonly l1Reader: ReturnType<typeof openL1ShardReader> | undefined
  private readonly searches = new Map<number, ExitRootSearch>()

  constructor(context: Cleaner, world: FakeWorld, served: readonly number[] = world.networkIds) {
    this.world = world
    const networks = served.map((networkId) => world.network(networkId).config(['http://127.0.0.1:1']))
    this.config = { ...loadedConfig(tempFolder(context)), networks }
    this.status = createStatusBoard(served)
    this.guard = prepareStores(this.config)
    const open = (networkId: number) =>
      withNamedCommands(openShardWriter({ config: this.config, networkId, compiled, status: this.status }))
    this.writers = new Map(served.map((networkId) => [networkId, open(networkId)]))
    this.readers = openShardReaders({ config: this.config, compiled, status: this.status })
    this.l1Reader = served.includes(0) ? openL1ShardReader(this.config, createHasher(compiled)) : undefined
    for (const networkId of served) if (networkId !== 0) this.restartSearch(networkId)
    context.after(() => this.close())
  }

  /** Runs one query, or anything else that reads, as one task. */
  ask<T>(body: (shards: ShardReaders) => T): T {
    return this.readers.withSnapshots(() => {
      const result = body(this.readers)
      makeRows(result)
      return result
    })
  }

  syncAll(options: SyncOptions = {}): void {
    for (const networkId of this.writers.keys()) this.sync(networkId, options)
    this.searchRoots()
  }

  /** Searches roots that were settled inside a block, as each indexer thread does between its blocks. */
  searchRoots(): void {
    for (const [networkId, search] of this.searches)
      if (this.writer(networkId).checkpoint() !== undefined)
        do {
          const found = search.search()
          if (found.length > 0) applyOrThrow(this.writer(networkId), { type: 'addSettledRoots', found })
          search.stored()
        } while (search.hasWork)
  }

  /** Restarts the network's search: the state of the previous one is forgotten. */
  restartSearch(networkId: number): void {
    if (this.l1Reader === undefined) return
    const row = (id: number) => statusRow(this.status, id)
    this.searches.set(
      networkId,
      new ExitRootSearch({
        networkId: asNetworkId(networkId),
        exitRoots: this.writers.get(networkId)!.exitRoots,
        proposer: handOn(this.writer(networkId)),
        settlements: this.l1Reader,
        clock: performance,
        row: row(networkId),
        l1: row(0),
      }),
    )
  }

  /** Follows the canonical chain of one network: reverts blocks that are no longer in it, then applies new ones. */
  sync(networkId: number, options: SyncOptions = {}): void {
    const network = this.world.network(networkId)
    const writer = this.writer(networkId)
    const onChain = ({ number, hash }: BlockHeader) => network.blocks[number]?.hash === toHex(hash)
    let checkpoint = writer.checkpoint()
    if (checkpoint !== undefined && !onChain(checkpoint)) {
      let ancestor: BlockHeader | undefined = checkpoint
      while (ancestor !== undefined && !onChain(ancestor))
        ancestor = writer.headerAtOrBelow(asBlockNumber(ancestor.number - 1))
      if (ancestor === undefined) throw new Error(`network ${networkId} has no common ancestor`)
      writer.revertTo(ancestor.number)
      checkpoint = writer.checkpoint()
    }
    const to = options.to ?? network.head.number
    const step = options.batchBlocks ?? to + 1
    for (let from = checkpoint === undefined ? 0 : checkpoint.number + 1; from <= to; from += step) {
      const end = Math.min(to, from + step - 1)
      const mined = network.blocks.slice(from, end + 1)
      writer.applyBlocks({
        fromBlock: asBlockNumber(from),
        head: headerOf(mined.at(-1)!),
        blocks: mined
          .filter(({ logs }) => logs.length > 0)
          .map((block) => indexedBlock(network, block, options.withSenders ?? true)),
        finalizedBlock: asBlockNumber(Math.max(0, end - (options.finalizedLag ?? 0))),
        undoFloor: asBlockNumber(options.undoFloor ?? 0),
      })
    }
  }

  writer(networkId: number): ShardWriter & NamedCommands {
    return this.writers.get(networkId)!
  }

  halt(networkId: number, reason: HaltReason): void {
    statusRow(this.status, networkId).setHaltReason(reason)
  }

  private async close(): Promise<void> {
    await this.readers.close()
    await this.l1Reader?.close()
    for (const writer of this.writers.values()) await writer.close()
    await this.guard.close()
  }
}

/** A page reads its rows lazily, which only works inside the task. */
function makeRows(result: unknown): void {
  const answer = result as { readonly value?: { readonly rows?: readonly unknown[] } } | undefined
  assert.notEqual(answer?.value?.rows?.length, -1)
}
