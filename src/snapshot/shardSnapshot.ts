import { type ChildProcess, spawn } from 'node:child_process'
import { statfsSync, statSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { FatalError } from '../errors/chainErrors.js'
import { OperatorError } from '../errors/operatorError.js'
import type { TreeHasher } from '../merkle/hasher.js'
import { asNetworkId } from '../protocol/units.js'
import { fileBytesOf } from '../store/shardDirectory.js'
import { openShardStoreSnapshot } from '../store/shardStore.js'
import type { ChunkSink, ChunkSource } from './chunkStore.js'
import { type ChunkEntry, chunkName, type ShardSnapshot, sha256Of } from './manifest.js'
import { readShardFacts, type ShardFacts } from './shardFacts.js'

/** Bytes of a piece before it is compressed. */
const CHUNK_BYTES = 4 * 2 ** 20
/** Left free beside a copy, more than a store wants that is written: the service's may be on the same disk, and a restored one is written, too. */
const RESERVE_BYTES = 96 * 2 ** 20
/** Fast: half of a store is hashes, which no level makes smaller. */
const COMPRESSION = { level: 1 }
/** Share of copying in making a snapshot; compressing is the rest. */
const COPY_SHARE = 0.2
const LOOK_MS = 200

const compress = promisify<Uint8Array, object, Buffer>(gzip)
const decompress = promisify<Uint8Array, object, Buffer>(gunzip)

export interface SnapshotOptions {
  readonly networkId: number
  /** The shard's folder. The caller holds the lock of the data folder, as a reader or as the writer. */
  readonly directory: string
  /** A folder for the copy, which is made and removed again. */
  readonly workFolder: string
  readonly sink: ChunkSink
  readonly hasher: TreeHasher
  /** Longest time for the copy, while which the shard's writer can't reuse pages. Compressing takes longer, but holds back nothing. */
  readonly copyTimeoutMs: number
  /** @param share 0 to 1. */
  readonly onProgress: (share: number, what: string) => void
}

/**
 * Copies one shard into a chunk store, also while a service writes it. The facts are read from the copy.
 * @throws FatalError, OperatorError: one line.
 */
export async function writeShardSnapshot(options: SnapshotOptions): Promise<ShardSnapshot> {
  const { networkId, directory, workFolder, hasher, onProgress } = options
  await mkdir(workFolder, { recursive: true })
  try {
    assertRoom(workFolder, fileBytesOf(directory))
    await copyShard(options)
    const copy = openShardStoreSnapshot(workFolder)
    let facts: ShardFacts | undefined
    try {
      copy.refresh()
      facts = readShardFacts(copy, asNetworkId(networkId), hasher)
    } finally {
      copy.release()
      await copy.close()
    }
    if (facts === undefined) throw new FatalError(`${directory} holds no data`)
    const path = join(workFolder, 'data.mdb')
    const { size } = statSync(path)
    const chunks = await writeChunks(path, options.sink, (done) =>
      onProgress(COPY_SHARE + ((1 - COPY_SHARE) * done) / size, 'compressing'),
    )
    return { ...facts, bytes: size, chunks }
  } finally {
    await rm(workFolder, { recursive: true, force: true })
  }
}

/** @throws OperatorError when the disk of a folder has less free. */
export function assertRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const mib = (count: number) => `${Math.ceil(count / 2 ** 20)} MiB`
  if (bavail * bsize < bytes + RESERVE_BYTES)
    throw new OperatorError(
      `no room in ${folder}: ${mib(bytes + RESERVE_BYTES)} are needed, ${mib(bavail * bsize)} are free`,
    )
}

/** Has another process copy the shard, and ends that one when it takes too long. */
async function copyShard(options: SnapshotOptions): Promise<void> {
  const { networkId, directory, workFolder, copyTimeoutMs, onProgress } = options
  const entry = fileURLToPath(new URL('copyShard.js', import.meta.url))
  const child = spawn(process.execPath, [entry, directory, workFolder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    kill()
  }, copyTimeoutMs)
  const all = fileBytesOf(directory)
  const look = setInterval(
    () => onProgress((COPY_SHARE * Math.min(fileBytesOf(workFolder), all)) / all, 'copying'),
    LOOK_MS,
  )
  try {
    const fault = await faultOf(child)
    if (fault === undefined) return
    const what = `network ${networkId} could not be copied`
    throw new OperatorError(
      isLate ? `${what} within ${copyTimeoutMs / 1000} s: nothing was kept` : `${what}: ${fault}`,
    )
  } finally {
    clearTimeout(limit)
    clearInterval(look)
    process.off('exit', kill)
  }
}

/** @returns why a process failed, in one line; undefined when it did not. */
async function faultOf(child: ChildProcess): Promise<string | undefined> {
  let text = ''
  child.stderr?.on('data', (piece: Buffer) => {
    text += piece.toString()
  })
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (...outcome) => resolve(outcome))
  })
  return code === 0 ? undefined : text.trim().split('\n')[0] || `it ended with ${signal ?? code}`
}

async function writeChunks(
  path: string,
  sink: ChunkSink,
  onDone: (bytes: number) => void,
): Promise<ChunkEntry[]> {
  const file = await open(path, 'r')
  const chunks: ChunkEntry[] = []
  try {
    for (let at = 0; ; ) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, at)
      if (bytesRead === 0) return chunks
      const stored = await compress(buffer.subarray(0, bytesRead), COMPRESSION)
      const chunk = { sha256: sha256Of(stored), bytes: bytesRead, stored_bytes: stored.length }
      await sink.put(chunkName(chunk), stored)
      chunks.push(chunk)
      at += bytesRead
      onDone(at)
    }
  } finally {
    await file.close()
  }
}

/**
 * Puts a shard's file together again in `folder`, which is made, and makes it outlast the end of the machine. What is stored in it is not
 * looked at: see `assertSameFacts`.
 * @throws FatalError, one line, for a missing or damaged piece.
 */
export async function readShardSnapshot(
  snapshot: ShardSnapshot,
  source: ChunkSource,
  folder: string,
  onProgress: (share: number) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const file = await open(join(folder, 'data.mdb'), 'w')
  const damaged = (index: number, reason: string) =>
    new FatalError(
      `the backup is damaged: piece ${index + 1} of ${snapshot.chunks.length} of network ${snapshot.network_id} ${reason}`,
    )
  try {
    let at = 0
    for (const [index, chunk] of snapshot.chunks.entries()) {
      const stored = await source.get(chunkName(chunk))
      if (stored === undefined) throw damaged(index, 'is missing')
      if (sha256Of(stored) !== chunk.sha256) throw damaged(index, 'does not have its SHA-256')
      const bytes = await decompress(stored, { maxOutputLength: CHUNK_BYTES })
      await file.write(bytes, 0, bytes.length, at)
      at += bytes.length
      onProgress(at / snapshot.bytes)
    }
    if (at !== snapshot.bytes)
      throw damaged(snapshot.chunks.length - 1, `ends at byte ${at}, not ${snapshot.bytes}`)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Compares what a manifest tells of a shard with what the shard itself says.
 * @param directory the shard that was made of the snapshot; nobody else has it open.
 * @throws FatalError, one line.
 */
export async function assertSameFacts(
  snapshot: ShardSnapshot,
  directory: string,
  hasher: TreeHasher,
): Promise<void> {
  const store = openShardStoreSnapshot(directory)
  try {
    store.refresh()
    const facts = readShardFacts(store, asNetworkId(snapshot.network_id), hasher)
    for (const [name, value] of Object.entries(facts ?? {})) {
      const told: unknown = snapshot[name as keyof ShardFacts]
      // A field that an older build did not tell.
      if (told === undefined || JSON.stringify(told) === JSON.stringify(value)) continue
      const texts = [JSON.stringify(value), JSON.stringify(told)]
      throw new FatalError(
        `the backup of network ${snapshot.network_id} has ${name} ${texts[0]}, its manifest says ${texts[1]}`,
      )
    }
    if (facts === undefined)
      throw new FatalError(`the backup of network ${snapshot.network_id} holds no data`)
  } finally {
    store.release()
    await store.close()
  }
}
