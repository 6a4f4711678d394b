import { threadId, workerData } from 'node:worker_threads'
import { statusRow } from '../../src/board/statusBoard.js'
import { createVersionReader } from '../../src/board/version.js'
import { InvariantError } from '../../src/errors/invariantError.js'
import type { QueryWorkerData } from '../../src/pool/queryPool.js'
import { createBatchRunner, type QueryFunctions } from '../../src/pool/runBatch.js'
import { createWorkerTask } from '../../src/pool/workerTask.js'
import { asDepositCount } from '../../src/protocol/units.js'
import { type Failure, failure, success } from '../../src/query/answers.js'
import type { ClaimProofRecord } from '../../src/query/proofRecords.js'
import { claimTemplate, tokenMappingTemplate } from '../../src/query/records.js'
import { QueryThreadTimes } from '../../src/telemetry/counts/queryThreadTimes.js'
import { faultCounts, type Gate, HEAVY_PAGE, type QueryFault, waitAt } from './fakeQueryFaults.js'
import {
  bridgeRecord,
  bridgeStatusAnswer,
  claimProofRecord,
  claimRecord,
  claimTransactionRecord,
  l1InfoLeafRecord,
  l1InfoTreeIndexRecord,
  pageOf,
  searchAnswer,
  tokenMappingRecord,
} from './sampleRecords.js'

/**
 * A pool worker with made-up answers: a page has as many rows as asked for, deposit counts from `faultCounts`
 * cause the fault of their name, every other query succeeds.
 */

const { config, status, compiled, slots, times } = workerData as QueryWorkerData
// The pool passes on anything in place of the wasm module.
const gate = (compiled as unknown as { readonly gate?: Gate }).gate

/** A module whose only function is the instruction `unreachable`. */
const unreachable = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0],
  ...[7, 5, 1, 1, 0x66, 0, 0, 10, 5, 1, 3, 0, 0, 0x0b],
)

function trap(): undefined {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(unreachable))
  ;(exports as { f(): void }).f()
  return undefined
}

function fillHeap(): never {
  const kept: number[][] = []
  // In small pieces: Node stops a thread beyond its heap limit only within the next 16 MB.
  for (;;) kept.push(new Array<number>(500_000).fill(kept.length + 0.5))
}

const shards = { withSnapshots: <T>(body: () => T): T => body(), rememberSnapshots: () => () => true }

/** What each fault does instead of an answer, or before one. */
const faults: Readonly<Record<QueryFault, () => Failure | undefined>> = {
  exit: () => process.exit(1),
  throw: () => {
    throw new TypeError('thrown on purpose')
  },
  invariant: () => {
    throw new InvariantError('root 0xaa stored, 0xbb computed', { networkId: 2 })
  },
  trap,
  outOfMemory: fillHeap,
  hold: () => void waitAt(gate!),
  commitWhileReading: () => void statusRow(status, 0).add('commits', 1),
  halfWritten: () => undefined,
  notFound: () => failure('BRIDGE_NOT_FOUND', 'deposit 5 of network 1 is not indexed'),
  notYet: () => failure('PROOF_NOT_AVAILABLE', 'not final yet', 12),
  unavailable: () => failure('SERVICE_UNAVAILABLE', 'network 1 is halted', 5),
}
const byCount = new Map(Object.entries(faults).map(([name, act]) => [faultCounts[name as QueryFault], act]))
const misbehave = (depositCount: number): Failure | undefined => byCount.get(depositCount)?.()

const queries: QueryFunctions<typeof shards> = {
  getBridges: (_, { pageSize, pageNumber }) =>
    success(
      pageOf(
        Array.from({ length: pageSize }, (_, at) =>
          bridgeRecord({
            depositCount: asDepositCount(at),
            ...(pageNumber === HEAVY_PAGE ? { metadata: new Uint8Array(8_192) } : {}),
          }),
        ),
        { page: pageNumber, limit: pageSize },
      ),
    ),
  getClaims: (_, { pageSize, pageNumber }) =>
    success(
      pageOf(Array(pageSize).fill(claimRecord()), {
        template: claimTemplate,
        page: pageNumber,
        limit: pageSize,
      }),
    ),
  getTokenMappings: () => success(pageOf([tokenMappingRecord()], { template: tokenMappingTemplate })),
  getClaimProof: (_, { depositCount, leafIndex }) =>
    misbehave(depositCount) ??
    success(
      depositCount === faultCounts.halfWritten
        ? ({ ...claimProofRecord(), leafHash: undefined } as unknown as ClaimProofRecord)
        : claimProofRecord({ isFinal: leafIndex === 0 }),
    ),
  getL1InfoTreeIndex: (_, { depositCount }) =>
    misbehave(depositCount) ?? success({ ...l1InfoTreeIndexRecord(), timestampSec: depositCount }),
  getInjectedL1InfoLeaf: () => success(l1InfoLeafRecord()),
  getClaimTransaction: () => success({ ...claimTransactionRecord(), chainId: threadId }),
  getBridgeStatus: () => success(bridgeStatusAnswer()),
  getSearch: () => success(searchAnswer()),
  readFeed: () => success({ feedId: 0, oldest: 1, newest: 0, events: [] }),
}

export default createWorkerTask(
  slots,
  createBatchRunner(shards, queries, createVersionReader(status), undefined, config.http.maxResponseBytes),
  new QueryThreadTimes(times),
)
