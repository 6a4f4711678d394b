import { equalBytes } from '../../protocol/abiBytes.js'
import { decodeTokenMetadata, isWholeMetadata, shownMetadata } from '../../protocol/metadata.js'
import type { NetworkId } from '../../protocol/units.js'
import type { TokenMappingRecord } from '../../query/records.js'
import { decodeTokenMappingRow } from '../../store/layout/tokenMappingRow.js'
import { SlotCache } from '../sets/slotCache.js'
import type { ShardView } from '../snapshot/shardView.js'

/** Records kept per network: about 600 bytes each, and as much again for what presenters keep for each record. */
const KEPT = 1024
/** Records with longer metadata are not kept. A token's metadata has 192 to 320 bytes, but anybody may write more. */
const MAX_METADATA_BYTES = 1024

interface Kept {
  readonly record: TokenMappingRecord
  /** The stored row, and the epoch for which its metadata id holds: while both are the same, the record is right. */
  readonly row: Uint8Array
  readonly epoch: number
  /** Commits of the shard when both were last compared. */
  commits: number
}

/** Records of token mappings. They hardly ever change, so each is made once and returned again: never write to it. */
export class TokenMappingRecords {
  readonly #kept = new Map<NetworkId, SlotCache<Kept>>()

  /** @param ordinal must be below the number of mappings. */
  get(view: ShardView, ordinal: number): TokenMappingRecord {
    const slots = this.#slotsOf(view.networkId)
    const kept = slots.get(ordinal)
    if (kept?.commits === view.commits) return kept.record
    const { epoch } = view.state
    // These are the store's own bytes: they are compared or copied before the next read.
    const row = view.peekTokenMapping(ordinal)
    if (kept?.epoch === epoch && equalBytes(kept.row, row)) {
      kept.commits = view.commits
      return kept.record
    }
    const own = new Uint8Array(row)
    const record = makeRecord(view, own)
    if (record.metadata === null || record.metadata.length <= MAX_METADATA_BYTES)
      slots.set(ordinal, { record, row: own, epoch, commits: view.commits })
    return record
  }

  #slotsOf(networkId: NetworkId): SlotCache<Kept> {
    let slots = this.#kept.get(networkId)
    if (slots === undefined) {
      slots = new SlotCache(KEPT)
      this.#kept.set(networkId, slots)
    }
    return slots
  }
}

function makeRecord(view: ShardView, bytes: Uint8Array): TokenMappingRecord {
  const row = decodeTokenMappingRow(bytes)
  const { dictionary } = view
  const metadata = dictionary.getListed(row.metadataId)
  const token = decodeTokenMetadata(
    isWholeMetadata(metadata) ? metadata : dictionary.peekMetadata(row.metadataId),
  )
  return {
    transactionHash: row.transactionHash,
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    timestampSec: row.timestampSec,
    originNetwork: row.originNetwork,
    originTokenAddress: row.originTokenAddress,
    wrappedNetwork: view.networkId,
    wrappedTokenAddress: row.wrappedTokenAddress,
    ...shownMetadata(metadata),
    ...token,
    isNotMintable: row.isNotMintable,
    tokenType: row.tokenType,
    isCurrent: row.isCurrent,
  }
}
