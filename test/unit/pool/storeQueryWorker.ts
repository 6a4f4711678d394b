import { workerData } from 'node:worker_threads'
import { createVersionReader } from '../../../src/board/version.js'
import type { QueryWorkerData } from '../../../src/pool/queryPool.js'
import { createBatchRunner, type QueryFunctions } from '../../../src/pool/runBatch.js'
import { createWorkerTask } from '../../../src/pool/workerTask.js'
import { success } from '../../../src/query/answers.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../../src/store/shardStore.js'
import { QueryThreadTimes } from '../../../src/telemetry/counts/queryThreadTimes.js'
import { l1InfoTreeIndexRecord } from '../../support/sampleRecords.js'
import { type SnapshotCare, VALUE_KEY } from './storeQuery.js'

/** A pool worker over a real store. Its one answer has the number that is stored. */

const { config, status, compiled, slots, times } = workerData as QueryWorkerData
const { care } = compiled as unknown as { readonly care: SnapshotCare }
const store = openShardStoreReader(shardDirectory(config.dataDir, 0))

const shards = {
  withSnapshots<T>(body: () => T): T {
    if (care !== 'none') store.refresh()
    try {
      return body()
    } finally {
      if (care === 'both ends') store.release()
    }
  },
  rememberSnapshots: () => () => true,
}

const unused = (): never => {
  throw new Error('not part of this worker')
}

const queries: QueryFunctions<typeof shards> = {
  getBridges: unused,
  getClaims: unused,
  getTokenMappings: unused,
  getClaimProof: unused,
  getClaimTransaction: unused,
  getBridgeStatus: unused,
  getSearch: unused,
  readFeed: unused,
  getInjectedL1InfoLeaf: unused,
  getL1InfoTreeIndex: () => {
    const value = store.get('meta', VALUE_KEY)!
    const timestampSec = new DataView(value.buffer, value.byteOffset).getUint32(0)
    return success({ ...l1InfoTreeIndexRecord(), timestampSec })
  },
}

export default createWorkerTask(
  slots,
  createBatchRunner(shards, queries, createVersionReader(status)),
  new QueryThreadTimes(times),
)
