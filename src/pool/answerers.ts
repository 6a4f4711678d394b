import type { PoolOperation } from '../query/queries.js'
import { getBridgeStatus } from '../shard/queries/getBridgeStatus.js'
import { getBridges } from '../shard/queries/getBridges.js'
import { getClaimProof } from '../shard/queries/getClaimProof.js'
import { getClaims } from '../shard/queries/getClaims.js'
import { getClaimTransaction } from '../shard/queries/getClaimTransaction.js'
import { getInjectedL1InfoLeaf } from '../shard/queries/getInjectedL1InfoLeaf.js'
import { getL1InfoTreeIndex } from '../shard/queries/getL1InfoTreeIndex.js'
import { getSearch } from '../shard/queries/getSearch.js'
import { getTokenMappings } from '../shard/queries/getTokenMappings.js'
import { readFeed } from '../shard/queries/readFeed.js'
import type { ShardReaders } from '../shard/queries/shardReaders.js'
import type { QueryFunction } from './runBatch.js'

/** The function that answers each operation. An operation without one does not compile. */
export const answerers: { readonly [K in PoolOperation]: QueryFunction<ShardReaders, K> } = {
  getBridges,
  getClaims,
  getClaimProof,
  getL1InfoTreeIndex,
  getInjectedL1InfoLeaf,
  getTokenMappings,
  getClaimTransaction,
  getBridgeStatus,
  getSearch,
  readFeed,
}
