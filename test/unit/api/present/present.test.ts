import assert from 'node:assert/strict'
import test from 'node:test'
import { compileSchema } from '../../../../src/api/parse/parseQuery.js'
import { writeFailure } from '../../../../src/api/present/failure.js'
import { JsonWriter } from '../../../../src/api/present/jsonWriter.js'
import { presenters, type RecordByOperation } from '../../../../src/api/present/present.js'
import { routes } from '../../../../src/api/routes.js'
import {
  asBlockNumber,
  asDepositCount,
  asL1InfoTreeIndex,
  asNetworkId,
} from '../../../../src/protocol/units.js'
import { failure } from '../../../../src/query/answers.js'
import type { OperationId } from '../../../../src/query/queries.js'
import { type BridgeRecord, claimTemplate, tokenMappingTemplate } from '../../../../src/query/records.js'
import type { BridgeStageRecord, BridgeStatusRecord } from '../../../../src/query/statusRecords.js'
import {
  bridgeRecord,
  bridgeStatusAnswer,
  claimProofRecord,
  claimRecord,
  claimTransactionRecord,
  l1InfoTreeIndexRecord,
  ORIGINATOR,
  pageOf,
  RECEIVER,
  SENDER,
  searchAnswer,
  TOKEN,
  tokenMappingRecord,
  uint256,
} from '../../../support/sampleRecords.js'

const repeat = (byte: string): string => `0x${byte.repeat(32)}`

function present<K extends OperationId>(operation: K, value: RecordByOperation[K]): string {
  const writer = new JsonWriter(16)
  presenters[operation].write(writer, value)
  const text = new TextDecoder().decode(writer.bytes.subarray(0, writer.length))
  const validate = compileSchema(routes[operation].response)
  assert.ok(validate(JSON.parse(text)), `${operation}: ${JSON.stringify(validate.errors)}`)
  return text
}

const BRIDGE = {
  tx_hash: repeat('1a'),
  deposit_count: 7,
  origin_network: 1,
  destination_network: 0,
  origin_address: SENDER,
  destination_address: RECEIVER,
  amount: '1000000000000000000',
  block_timestamp: 1700000001,
  ready_for_claim: true,
  block_number: 4294967297,
  log_index: 3,
  leaf_type: 0,
  token_network: 2,
  token_address: TOKEN,
  metadata: '0xdead',
  tx_sender: ORIGINATOR,
  global_index: '0x0000000000000000000000000000000000000000000000000000000000000007',
  claim_tx_hash: repeat('2b'),
  l1_info_tree_index: 11,
}

test('a page of bridges has exactly the fields of the interface, then the additive ones, in order', () => {
  assert.equal(
    present(
      'getBridges',
      pageOf([bridgeRecord(), bridgeRecord()], {
        page: 3,
        limit: 2,
        total: 4_294_967_296,
        nextCursor: 'AQAA',
      }),
    ),
    JSON.stringify({
      bridges: [BRIDGE, BRIDGE],
      pagination: { page: 3, limit: 2, total: 4294967296, next_cursor: 'AQAA' },
    }),
  )
})

test('an empty page is an empty list with its pagination', () => {
  assert.equal(
    present('getBridges', pageOf([], { page: 9, total: 4 })),
    '{"bridges":[],"pagination":{"page":9,"limit":100,"total":4,"next_cursor":null}}',
  )
})

test('unknown facts of a bridge are null', () => {
  const record = bridgeRecord({
    originAddress: null,
    transactionSender: null,
    claimTransactionHash: null,
    l1InfoTreeIndex: null,
    readyForClaim: false,
  })
  const expected = {
    ...BRIDGE,
    origin_address: null,
    ready_for_claim: false,
    tx_sender: null,
    claim_tx_hash: null,
    l1_info_tree_index: null,
  }
  assert.equal(
    present('getBridges', pageOf([record])),
    JSON.stringify({ bridges: [expected], pagination: { page: 1, limit: 100, total: 1, next_cursor: null } }),
  )
})

test('an optional field of a bridge stands where the definition has it, and is absent from other bridges', () => {
  const long = bridgeRecord({ metadata: null, metadataLength: 5_000, metadataHash: uint256(9n) })
  const [row, other] = JSON.parse(
    present('getBridges', pageOf([long, bridgeRecord({ claimMatches: false })])),
  ).bridges
  const inPlaceOfMetadata = {
    metadata: null,
    metadata_length: 5_000,
    metadata_hash: `0x${'9'.padStart(64, '0')}`,
  }
  const fields = Object.entries<unknown>(BRIDGE).flatMap((field) =>
    field[0] === 'metadata' ? Object.entries<unknown>(inPlaceOfMetadata) : [field],
  )
  assert.equal(JSON.stringify(row), JSON.stringify(Object.fromEntries(fields)))
  assert.equal(JSON.stringify(other), JSON.stringify({ ...BRIDGE, claim_matches: false }))
})

test('a record that lacks a required field is not written', () => {
  const record = { ...bridgeRecord(), tokenAddress: undefined } as unknown as BridgeRecord
  assert.throws(() => present('getBridges', pageOf([record])), TypeError)
})

test('a page of claims has exactly the fields of the interface, then the additive ones, in order', () => {
  const claim = {
    tx_hash: repeat('3c'),
    global_index: '0x0000000000000000000000000000000000000000000000010000000000000005',
    amount: '42',
    block_timestamp: 1700000002,
    bridge_tx_hash: repeat('4d'),
    block_number: 12,
    log_index: 6,
    origin_network: 0,
    deposit_count: 5,
    destination_network: 1,
    destination_address: RECEIVER,
    token_network: 3,
    token_address: TOKEN,
    from_address: SENDER,
    tx_sender: ORIGINATOR,
  }
  const unknown = claimRecord({ bridgeTransactionHash: null, caller: null, transactionSender: null })
  assert.equal(
    present('getClaims', pageOf([claimRecord(), unknown], { template: claimTemplate })),
    JSON.stringify({
      claims: [claim, { ...claim, bridge_tx_hash: null, from_address: null, tx_sender: null }],
      pagination: { page: 1, limit: 100, total: 2, next_cursor: null },
    }),
  )
})

test('a page of token mappings has exactly the fields of its definition, in order', () => {
  assert.equal(
    present('getTokenMappings', pageOf([tokenMappingRecord()], { template: tokenMappingTemplate })),
    JSON.stringify({
      token_mappings: [
        {
          tx_hash: repeat('5e'),
          block_number: 13,
          log_index: 8,
          block_timestamp: 1700000003,
          origin_network: 0,
          origin_token_address: TOKEN,
          wrapped_network: 1,
          wrapped_token_address: RECEIVER,
          metadata: '0x',
          name: null,
          symbol: null,
          decimals: null,
          is_not_mintable: false,
          token_type: 0,
          is_current: true,
        },
      ],
      pagination: { page: 1, limit: 100, total: 1, next_cursor: null },
    }),
  )
})

test('a token mapping that is written again, at any place of any page, has the same text', () => {
  const writer = new JsonWriter(16)
  const records = Array.from({ length: 4 }, (_, at) =>
    // The third is too long to be kept.
    tokenMappingRecord({ logIndex: 10 ** at, metadata: new Uint8Array(at === 2 ? 3000 : at) }),
  )
  const logIndexes = (order: readonly number[]): unknown[] => {
    writer.reset()
    const shown = order.map((at) => records[at]!)
    presenters.getTokenMappings.write(writer, pageOf(shown, { template: tokenMappingTemplate }))
    const text = new TextDecoder().decode(writer.bytes.subarray(0, writer.length))
    const { token_mappings: rows } = JSON.parse(text) as {
      token_mappings: { log_index: number; metadata: string }[]
    }
    return rows.map((row) => [row.log_index, row.metadata.length / 2 - 1])
  }
  for (const order of [[0, 1, 2, 3], [3, 2, 1, 0], [1], [2, 2, 0], [0, 1, 2, 3]])
    assert.deepEqual(
      logIndexes(order),
      order.map((at) => [10 ** at, at === 2 ? 3000 : at]),
    )
})

test('a claim proof is one object with camelCase names and 32 siblings on each side', () => {
  const branch = (first: number): string[] =>
    Array.from({ length: 32 }, (_, level) => repeat((first + level).toString(16).padStart(2, '0')))
  assert.equal(
    present('getClaimProof', claimProofRecord()),
    JSON.stringify({
      proof: {
        smtProofLocalExitRoot: branch(0),
        smtProofRollupExitRoot: branch(0x80),
        l1InfoTreeLeaf: {
          globalExitRoot: repeat('63'),
          blockNumber: 14,
          timestamp: 1700000004,
          l1InfoTreeIndex: 9,
          mainnetExitRoot: repeat('61'),
          rollupExitRoot: repeat('62'),
          previousBlockHash: repeat('64'),
          hash: repeat('65'),
        },
        globalIndex: `0x${(5n << 32n).toString(16).padStart(64, '0')}`,
        leafHash: repeat('66'),
      },
    }),
  )
})

test('only a proof that no followed reorg can change is kept beyond the next commit', () => {
  assert.equal(presenters.getClaimProof.life(claimProofRecord({ isFinal: true })), 'epoch')
  assert.equal(presenters.getClaimProof.life(claimProofRecord({ isFinal: false })), 'commit')
})

test('the L1 info tree index answer has the leaf and the first covering index', () => {
  assert.equal(
    present('getL1InfoTreeIndex', l1InfoTreeIndexRecord()),
    JSON.stringify({
      l1_info_tree_index: 9,
      block_number: 14,
      global_exit_root: repeat('63'),
      first_covering_index: 4,
      mainnet_exit_root: repeat('61'),
      rollup_exit_root: repeat('62'),
      timestamp: 1700000004,
    }),
  )
})

test('proofs that share their leaf or their rollup branch have, in any order, the text that each has alone', () => {
  const branches = [1, 2].map((byte) => new Uint8Array(1024).fill(byte))
  const { leaf } = claimProofRecord()
  const leaves = [leaf, { ...leaf, timestampSec: leaf.timestampSec + 1 }]
  const proofs = [0, 1, 2, 3].map((at) =>
    claimProofRecord({
      leaf: leaves[at >> 1]!,
      rollupExitRootBranch: branches[at & 1]!,
      leafHash: new Uint8Array(32).fill(at),
    }),
  )
  const writer = new JsonWriter(16)
  for (const at of [0, 1, 2, 3, 3, 0, 2, 1]) {
    writer.reset()
    presenters.getClaimProof.write(writer, proofs[at]!)
    const { proof } = JSON.parse(new TextDecoder().decode(writer.bytes.subarray(0, writer.length)))
    assert.deepEqual(
      [proof.l1InfoTreeLeaf.timestamp, proof.smtProofRollupExitRoot, proof.leafHash],
      [
        leaf.timestampSec + (at >> 1),
        new Array(32).fill(`0x0${1 + (at & 1)}`.padEnd(66, `0${1 + (at & 1)}`)),
        `0x0${at}`.padEnd(66, `0${at}`),
      ],
      `proof ${at}`,
    )
  }
})

test('a status has what it waits for and its stages one after another, without the keys that a stage lacks', () => {
  const hash = (byte: string): string => `0x${byte.repeat(32)}`
  const bridge = {
    tx_hash: hash('1a'),
    deposit_count: 7,
    origin_network: 1,
    destination_network: 0,
    global_index: `0x${'7'.padStart(64, '0')}`,
  }
  assert.equal(
    present('getBridgeStatus', bridgeStatusAnswer()),
    JSON.stringify({
      statuses: [
        {
          ...bridge,
          ready_for_claim: true,
          claim_tx_hash: hash('2b'),
          l1_info_tree_index: 11,
          claim_matches: false,
          current_stage: 'claimable',
          waits_for: { event: 'finality', network_id: 3, block_number: 16 },
          stages: [
            {
              stage: 'injected',
              state: 'removed',
              network_id: 4,
              block_number: 15,
              block_timestamp: 1700000005,
              tx_hash: hash('71'),
              l1_info_tree_index: 12,
              global_exit_root: hash('72'),
              typical: { since: 'in_l1_info_tree', median_seconds: 600, p90_seconds: 900, sample_size: 21 },
            },
            { stage: 'claimed', state: 'waiting', network_id: 5 },
          ],
        },
        {
          ...bridge,
          ready_for_claim: false,
          claim_tx_hash: null,
          l1_info_tree_index: null,
          current_stage: 'claimed',
          waits_for: null,
          stages: [],
        },
      ],
      total: 2,
    }),
  )
})

test('a status with all that it may have is not longer than its route estimates', () => {
  const [{ stages, ...bridge }] = bridgeStatusAnswer().statuses as [BridgeStatusRecord]
  const most = 2 ** 47
  const [{ typical: _, l1InfoTreeIndex, globalExitRoot, transactionHash, ...full }] = stages as [
    BridgeStageRecord,
  ]
  const place = {
    ...full,
    blockNumber: asBlockNumber(most),
    timestampSec: most,
    networkId: asNetworkId(2 ** 32 - 1),
  }
  const leaf = { l1InfoTreeIndex: asL1InfoTreeIndex(2 ** 32 - 1), globalExitRoot }
  const typical = { since: 'in_l1_info_tree', medianSec: most, p90Sec: most, sampleSize: 1_000 } as const
  assert.ok(l1InfoTreeIndex !== undefined)
  // What each stage may have, as docs/api.md tells it.
  const facts: { readonly [Stage in BridgeStageRecord['stage']]: Partial<BridgeStageRecord> } = {
    bridged: { ...place, transactionHash },
    final: {},
    settled: { ...place, typical },
    in_l1_info_tree: { ...place, ...leaf, typical },
    injected: { ...place, ...leaf, typical },
    claimable: {},
    claimed: { ...place, transactionHash, typical },
  }
  const nothing = { blockNumber: undefined, timestampSec: undefined, transactionHash: undefined }
  const all = Object.entries(facts).map(([stage, own]) => ({
    ...full,
    ...nothing,
    ...{ l1InfoTreeIndex: undefined, globalExitRoot: undefined, typical: undefined },
    ...own,
    stage: stage as BridgeStageRecord['stage'],
  }))
  const text = present('getBridgeStatus', { statuses: [{ ...bridge, stages: all }], total: 1 })
  const estimate = routes.getBridgeStatus.estimateBytes({ depositCount: asDepositCount(7) })
  assert.ok(text.length <= estimate, `${text.length} exceeds ${estimate}`)
  assert.ok(text.length > 0.7 * estimate, `${text.length} is far below ${estimate}`)
})

test('a search result has the keys of its type alone', () => {
  assert.equal(
    present('getSearch', searchAnswer()),
    JSON.stringify({
      results: [
        {
          type: 'claim',
          network_id: 1,
          origin_network: 2,
          deposit_count: 7,
          tx_hash: `0x${'73'.repeat(32)}`,
        },
        {
          type: 'address',
          network_id: 3,
          address: SENDER,
          bridges_sent: 4,
          bridges_received: 5,
          claims_made: 6,
          claims_received: 8,
        },
        {
          type: 'token',
          network_id: 9,
          tx_hash: `0x${'74'.repeat(32)}`,
          address: SENDER,
          token_network: 10,
          token_address: TOKEN,
          name: 'Fake',
          symbol: null,
          decimals: 18,
          is_current: true,
        },
      ],
      is_complete: true,
    }),
  )
})

test('a claim transaction has the call and the claim that it makes', () => {
  assert.equal(
    present('getClaimTransaction', claimTransactionRecord()),
    JSON.stringify({
      to: TOKEN,
      data: '0xccaa2d11',
      value: '0',
      chain_id: 1101,
      leaf_type: 0,
      origin_network: 1,
      destination_network: 0,
      deposit_count: 7,
      global_index: `0x${'7'.padStart(64, '0')}`,
      l1_info_tree_index: 11,
    }),
  )
})

test('a failure is an error object with code and message only', () => {
  const writer = new JsonWriter(16)
  writeFailure(writer, failure('INVALID_PARAMETER', 'network_id "\u0000é" is not a decimal integer', 5))
  assert.equal(
    new TextDecoder().decode(writer.bytes.subarray(0, writer.length)),
    JSON.stringify({
      error: { code: 'INVALID_PARAMETER', message: 'network_id "\u0000é" is not a decimal integer' },
    }),
  )
})
