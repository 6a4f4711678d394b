import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyBoard } from '../cluster/keyBoard.js'
import { type HeldLease, type LeaseTiming, takeLease } from '../cluster/lease.js'
import type { Config } from '../config/config.types.js'
import { OperatorError } from '../errors/operatorError.js'
import { COMMAND_CODEC_VERSION } from '../log/commandCodec.js'
import type { TreeHasher } from '../merkle/hasher.js'
import {
  assertL1NotOlder,
  encodeManifest,
  inCopyOrder,
  MANIFEST_NAME,
  type Manifest,
  type ShardSnapshot,
  SNAPSHOT_FORMAT,
} from '../snapshot/manifest.js'
import { writeShardSnapshot } from '../snapshot/shardSnapshot.js'
import { stageSet } from '../snapshot/stagedSet.js'
import { shardDirectory } from '../store/shardDirectory.js'
import { buildInfo } from '../telemetry/buildInfo.js'
import { systemClock, unixMs } from '../telemetry/clocks.js'
import { checkStaged } from './checkStaged.js'
import type { SnapshotSets, VerifiedSet } from './snapshotSets.js'

/** Longest time to copy one network: meanwhile its store can't reuse space. */
const COPY_TIMEOUT_MS = 600_000
/** Begins the names of folders for copies, in the data folder. */
export const WORK_PREFIX = 'snapshot-'

/** A check of a large store takes long, and the thread renews nothing meanwhile. Whoever is killed with the lease holds others up so long. */
const TIMING: LeaseTiming = { leaseMs: 300_000, holdMs: 240_000, renewMs: 5_000, lookMs: 1_000 }

/** Waits for the right to make a snapshot, which one process has at a time. @param instance name of this one. */
export function takeSnapshotLease(
  board: KeyBoard,
  instance: string,
  signal: AbortSignal,
): Promise<HeldLease> {
  const holder = `${instance} ${randomBytes(4).toString('hex')}`
  return takeLease(board, 'snapshots', holder, TIMING, systemClock, signal)
}

export interface TakeSnapshotOptions {
  readonly config: Config
  readonly sets: SnapshotSets
  /** Of the instance whose stores are copied. */
  readonly maker: string
  readonly hasher: TreeHasher
  readonly signal: AbortSignal
  readonly onProgress: (share: number, what: string) => void
}

/**
 * Copies the stores of all networks of this instance into the object store, network 0 last, reads them back, verifies them, and lists the
 * set. The caller holds the lock of the data folder, as a reader or the writer, and the lease of snapshots.
 * @throws FatalError, OperatorError: one line; what was put there is removed.
 */
export async function takeSnapshot(options: TakeSnapshotOptions): Promise<VerifiedSet> {
  const { config, sets, maker, hasher, signal, onProgress } = options
  const { dataDir, networks } = config
  const madeAtMs = unixMs()
  const id = `${new Date(madeAtMs).toISOString().replace(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}`
  const work = join(dataDir, WORK_PREFIX + id)
  const sink = sets.sink(id, signal)
  const made: ShardSnapshot[] = []
  try {
    for (const { networkId } of inCopyOrder(networks)) {
      const snapshot = await writeShardSnapshot({
        ...{ networkId, sink, hasher, copyTimeoutMs: COPY_TIMEOUT_MS },
        directory: shardDirectory(dataDir, networkId),
        workFolder: join(work, 'copy'),
        onProgress: (share, what) =>
          onProgress((made.length + share) / (2 * networks.length), `network ${networkId}: ${what}`),
      })
      if (snapshot.log === null)
        throw new OperatorError(`network ${networkId} has nothing of its log yet: no snapshot was made`)
      made.push(snapshot)
      signal.throwIfAborted()
    }
    assertL1NotOlder(made)
    const manifest: Manifest = {
      format: SNAPSHOT_FORMAT,
      made_at: new Date(madeAtMs).toISOString(),
      build: buildInfo.version,
      command_version: COMMAND_CODEC_VERSION,
      networks: made,
    }
    await sink.finish(MANIFEST_NAME, encodeManifest(manifest))
    const staging = join(work, 'check')
    await stageSet({
      ...{ source: sets.source(id, signal), staging, hasher },
      shards: made.map((snapshot) => ({ networkId: snapshot.network_id, snapshot })),
      check: ({ networkId }) => checkStaged(staging, networkId, hasher),
      onProgress: (share, networkId, what) =>
        onProgress(0.5 + share / 2, `network ${networkId}: ${what === 'reading' ? 'reading back' : what}`),
    })
    const sequences = Object.fromEntries(made.map(({ network_id, log }) => [network_id, log!.sequence]))
    const bytes = Object.fromEntries(
      made.map(({ network_id, chunks }) => [
        network_id,
        chunks.reduce((sum, { stored_bytes }) => sum + stored_bytes, 0),
      ]),
    )
    const set: VerifiedSet = { id, madeAtMs, maker, sequences, bytes }
    await sets.add(set, signal)
    return set
  } catch (error) {
    await sink.discard()
    throw error
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
