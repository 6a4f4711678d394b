import { existsSync, statSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../errors/operatorError.js'
import type { TreeHasher } from '../merkle/hasher.js'
import { removeShard } from '../store/removeShard.js'
import { restoreDirectory, restoreMarker, shardDirectory } from '../store/shardDirectory.js'
import { type ChunkSource, syncFolder } from './chunkStore.js'
import { inCopyOrder, type ShardSnapshot } from './manifest.js'
import { assertRoom, assertSameFacts, readShardSnapshot } from './shardSnapshot.js'

/** One network of a set that is made into a store. */
export interface StagedShard {
  readonly networkId: number
  readonly snapshot: ShardSnapshot
}

export interface StageOptions<Shard extends StagedShard, Report> {
  readonly shards: readonly Shard[]
  readonly source: ChunkSource
  /** Folder of the stores, one within it for each network. What is there of these networks is removed first. */
  readonly staging: string
  readonly hasher: TreeHasher
  /** Looks at one store beside the others of the set. @param onProgress 0 to 1. @throws FatalError for a damaged one. */
  readonly check: (
    shard: Shard,
    onProgress: (share: number, what: string) => void,
  ) => Promise<Report> | Report
  /** @param share 0 to 1 of the whole. */
  readonly onProgress: (share: number, networkId: number, what: string) => void
}

/**
 * Makes the stores of a set in a folder of their own, compares each with the manifest and checks it.
 * @throws FatalError, OperatorError: one line, for the first fault; what was made is left for the caller to remove.
 */
export async function stageSet<Shard extends StagedShard, Report>(
  options: StageOptions<Shard, Report>,
): Promise<Report[]> {
  const { shards, source, staging, hasher, check, onProgress } = options
  for (const { networkId } of shards)
    await rm(shardDirectory(staging, networkId), { recursive: true, force: true })
  await mkdir(staging, { recursive: true })
  assertRoom(
    staging,
    shards.reduce((sum, { snapshot }) => sum + snapshot.bytes, 0),
  )
  // Two rounds over all networks: reading, then checking, which compares networks with each other.
  const show = (step: number, share: number, { networkId }: Shard, what: string): void =>
    onProgress((step + share) / (2 * shards.length), networkId, what)
  for (const [at, shard] of shards.entries())
    await readShardSnapshot(shard.snapshot, source, shardDirectory(staging, shard.networkId), (share) =>
      show(at, share, shard, 'reading'),
    )
  const reports: Report[] = []
  for (const [at, shard] of shards.entries()) {
    await assertSameFacts(shard.snapshot, shardDirectory(staging, shard.networkId), hasher)
    reports.push(await check(shard, (share, what) => show(shards.length + at, share, shard, what)))
  }
  return reports
}

/** @throws OperatorError when a network's folder is a disk of its own: no store can be moved there in one step. */
export function assertOneDisk(dataDir: string, networkIds: readonly number[]): void {
  for (const networkId of networkIds) {
    const found = statSync(shardDirectory(dataDir, networkId), { throwIfNoEntry: false })
    if (found !== undefined && found.dev !== statSync(dataDir).dev)
      throw new OperatorError(
        `${shardDirectory(dataDir, networkId)} is a disk of its own: restore into another data_dir and copy data.mdb from there`,
      )
  }
}

/**
 * Removes what is staged, of sets that were never whole. The marker of a placing that can't be finished stays: without it a part of the
 * stores would be served. The caller holds the lock of the data folder, and has tried `finishPlacing`.
 */
export async function clearStaging(dataDir: string): Promise<void> {
  const staging = restoreDirectory(dataDir)
  if (!existsSync(restoreMarker(dataDir))) return rm(staging, { recursive: true, force: true })
  for (const name of await readdir(staging))
    if (join(staging, name) !== restoreMarker(dataDir)) await rm(join(staging, name), { recursive: true })
}

/**
 * Puts staged stores into the data folder, in place of those that are there. The caller holds its lock, and nobody has a store open. When the
 * process ends meanwhile, the marker tells it and names the stores of the set, and `finishPlacing` does the rest.
 */
export async function placeStaged(dataDir: string, networkIds: readonly number[]): Promise<void> {
  const marker = restoreMarker(dataDir)
  // A part of the names would place a part of the set.
  await writeFile(`${marker}.partial`, JSON.stringify(networkIds), { flush: true })
  await rename(`${marker}.partial`, marker)
  await syncFolder(restoreDirectory(dataDir))
  await moveStaged(dataDir, networkIds)
}

/**
 * Goes on where a process has ended while it placed stores: those that are still staged were all checked before the first was placed.
 * @returns `unnamed`: the marker, of an older build, does not tell which stores were checked, and nothing was done.
 */
export async function finishPlacing(dataDir: string): Promise<'none' | 'finished' | 'unnamed'> {
  if (!existsSync(restoreMarker(dataDir))) return 'none'
  const networkIds = decodeMarker(await readFile(restoreMarker(dataDir), 'utf8'))
  if (networkIds === undefined) return 'unnamed'
  const staged = networkIds.filter((networkId) =>
    existsSync(shardDirectory(restoreDirectory(dataDir), networkId)),
  )
  await moveStaged(dataDir, staged)
  return 'finished'
}

function decodeMarker(text: string): number[] | undefined {
  return /^\[\d+(,\d+)*\]$/.test(text) ? (JSON.parse(text) as number[]) : undefined
}

async function moveStaged(dataDir: string, networkIds: readonly number[]): Promise<void> {
  const staging = restoreDirectory(dataDir)
  const inOrder = inCopyOrder(networkIds.map((networkId) => ({ networkId })))
  // Never an old store of another network beside the L1's of the set, at no moment: it may have read more of the L1.
  for (const { networkId } of inOrder) removeShard(shardDirectory(dataDir, networkId))
  for (const { networkId } of inOrder.toReversed()) {
    // Of the process that checked it.
    await rm(join(shardDirectory(staging, networkId), 'lock.mdb'), { force: true })
    await rename(shardDirectory(staging, networkId), shardDirectory(dataDir, networkId))
  }
  await syncFolder(dataDir)
  await rm(staging, { recursive: true, force: true })
}
