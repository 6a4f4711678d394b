import { createHash } from 'node:crypto'
import { FatalError } from '../errors/chainErrors.js'
import { L1_NETWORK_ID } from '../protocol/networks.js'
import type { ShardFacts } from './shardFacts.js'

/** One piece of a copied file, in order. Its name in a chunk store is its SHA-256 and `.gz`. */
export interface ChunkEntry {
  /** Of the piece as it lies in the chunk store, in 64 hex digits. */
  readonly sha256: string
  /** Before it was compressed. */
  readonly bytes: number
  readonly stored_bytes: number
}

/** The copy of one shard. */
export interface ShardSnapshot extends ShardFacts {
  /** Size of its file. */
  readonly bytes: number
  readonly chunks: readonly ChunkEntry[]
}

/** What a snapshot is made of: one shard, or those of a set of networks. */
export interface Manifest {
  readonly format: number
  /** ISO 8601, UTC. */
  readonly made_at: string
  /** Version of the package that made it. */
  readonly build: string
  /** Version of the commands that its shards were changed by. */
  readonly command_version: number
  readonly networks: readonly ShardSnapshot[]
}

/** Version of the manifest and of how pieces are named and packed. Fields may be added within one version. */
export const SNAPSHOT_FORMAT = 1
/** Name of the manifest in a chunk store. It is stored last: without it there is no snapshot. */
export const MANIFEST_NAME = 'manifest.json'

export function chunkName({ sha256 }: Pick<ChunkEntry, 'sha256'>): string {
  return `${sha256}.gz`
}

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** As JSON for people, with a checksum of itself as its last field. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const sha256 = sha256Of(JSON.stringify(manifest))
  return Buffer.from(`${JSON.stringify({ ...manifest, sha256 }, null, 1)}\n`)
}

/**
 * @param bytes undefined when there is none.
 * @param where names the snapshot in messages.
 * @throws FatalError, one line.
 */
export function decodeManifest(bytes: Uint8Array | undefined, where: string): Manifest {
  if (bytes === undefined)
    throw new FatalError(`${where} holds no ${MANIFEST_NAME}: it is no backup, or one that was not finished`)
  let parsed: Manifest & { readonly sha256?: string }
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    throw new FatalError(`${where} is damaged: ${MANIFEST_NAME} is not JSON`)
  }
  const { sha256, ...manifest } = parsed
  if (sha256 !== sha256Of(JSON.stringify(manifest)))
    throw new FatalError(`${where} is damaged: ${MANIFEST_NAME} does not have the SHA-256 that it names`)
  if (manifest.format !== SNAPSHOT_FORMAT)
    throw new FatalError(`${where} has format ${manifest.format}, this build reads ${SNAPSHOT_FORMAT}`)
  return manifest
}

/** The order in which a set is copied: network 0 last, so that the L1's shard is never older than what another network has read of it. */
export function inCopyOrder<T extends { readonly networkId: number }>(networks: readonly T[]): T[] {
  const isL1 = ({ networkId }: T) => networkId === L1_NETWORK_ID
  return [...networks.filter((network) => !isL1(network)), ...networks.filter(isL1)]
}

type ReadOfL1 = Pick<ShardFacts, 'network_id' | 'l1_info_leaves' | 'polled_leaves'>

/** @throws FatalError, one line, when the L1's shard has fewer info leaves than another network has polled. Without the L1 nothing is compared. */
export function assertL1NotOlder(shards: readonly ReadOfL1[]): void {
  const l1 = shards.find(({ network_id }) => network_id === L1_NETWORK_ID)
  if (l1 === undefined) return
  for (const { network_id, polled_leaves } of shards)
    if (polled_leaves !== null && polled_leaves > l1.l1_info_leaves)
      throw new FatalError(
        `network 0 is older than network ${network_id}: it has ${l1.l1_info_leaves} L1 info leaves, of which network ${network_id} has polled ${polled_leaves}`,
      )
}
