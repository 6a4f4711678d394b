import type { TreeHasher } from '../merkle/hasher.js'
import { getRoot } from '../merkle/treeProofs.js'
import { encodeHex } from '../protocol/hex.js'
import { L1_NETWORK_ID } from '../protocol/networks.js'
import type { LeafCount, Lineage, NetworkId } from '../protocol/units.js'
import { readCheckpoint, readCounters } from '../shard/position/chainPosition.js'
import { readLogPlace, readLogSettings } from '../shard/position/logPosition.js'
import { localExitTreeSource, tileReader } from '../shard/snapshot/tiles.js'
import { metaKey, trees } from '../store/layout/keys.js'
import { decodeUint32 } from '../store/layout/smallRows.js'
import type { ReadView } from '../store/shardStore.types.js'
import { type Identity, readIdentity } from '../store/storeIdentity.js'

/** What a shard says of itself, as a manifest tells it. Numbers are those of the store's counters; hashes are 0x and 64 hex digits. */
export interface ShardFacts {
  readonly network_id: number
  readonly schema: number
  readonly identity: Identity
  /** The checkpoint; null while nothing is stored. */
  readonly block: { readonly number: number; readonly hash: string; readonly timestamp: number } | null
  readonly local_exit_root: string
  /** Root of the L1 info tree; null in shards of other networks. */
  readonly l1_info_root: string | null
  readonly deposits: number
  readonly claims: number
  readonly token_mappings: number
  readonly l1_info_leaves: number
  /** Number of the L1's info leaves that this network has asked its manager for; null where it does not. */
  readonly polled_leaves: number | null
  /** Place in the log that the shard follows: the newest command that it was given; null where it follows none. */
  readonly log: { readonly id: string; readonly sequence: number; readonly command: string } | null
}

/** @throws InvariantError for a tree with missing nodes; undefined for a store without identity. */
export function readShardFacts(
  view: ReadView,
  networkId: NetworkId,
  hasher: TreeHasher,
): ShardFacts | undefined {
  const made = readIdentity(view)
  if (made === undefined) return undefined
  const checkpoint = readCheckpoint(view)
  const { lineage, deposits, claims, tokenMappings, l1InfoLeaves } = readCounters(view)
  const logId = readLogSettings(view)?.logId
  const place = readLogPlace(view)
  const polled = view.get('meta', metaKey('polledLeaves'))
  const polledLeaves = polled === undefined ? null : decodeUint32(polled)
  const exitTree = localExitTreeSource(view, hasher, lineage)
  const infoTree = { hasher, tiles: tileReader(view, trees.l1InfoTree), lineages: [{ cut: 0 }] }
  return {
    network_id: networkId,
    ...made,
    block:
      checkpoint === undefined
        ? null
        : {
            number: checkpoint.number,
            hash: encodeHex(checkpoint.hash),
            timestamp: checkpoint.timestampSec,
          },
    local_exit_root: encodeHex(getRoot(exitTree, lineage as Lineage, deposits as LeafCount)),
    l1_info_root:
      networkId === L1_NETWORK_ID
        ? encodeHex(getRoot(infoTree, 0 as Lineage, l1InfoLeaves as LeafCount))
        : null,
    deposits,
    claims,
    token_mappings: tokenMappings,
    l1_info_leaves: l1InfoLeaves,
    polled_leaves: polledLeaves,
    log:
      logId === undefined || place === undefined
        ? null
        : { id: encodeHex(logId), sequence: place.sequence, command: encodeHex(place.commandId) },
  }
}
