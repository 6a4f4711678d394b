import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonWriter } from '../../../src/api/present/jsonWriter.js'
import { presenters, type RecordByOperation } from '../../../src/api/present/present.js'
import { decodeAnswer, WrongShape } from '../../../src/client/decodeAnswer.js'
import { operations } from '../../../src/client/wireDefinition.js'
import type { OperationId } from '../../../src/query/queries.js'
import { claimTemplate, tokenMappingTemplate } from '../../../src/query/records.js'
import {
  bridgeRecord,
  bridgeStatusAnswer,
  claimProofRecord,
  claimRecord,
  claimTransactionRecord,
  l1InfoLeafRecord,
  l1InfoTreeIndexRecord,
  ORIGINATOR,
  pageOf,
  RECEIVER,
  SENDER,
  searchAnswer,
  TOKEN,
  tokenMappingRecord,
  uint256,
} from '../../support/sampleRecords.js'

/** What the service writes, as JSON. */
function answerOf<K extends OperationId>(operation: K, value: RecordByOperation[K]): unknown {
  const writer = new JsonWriter(16)
  presenters[operation].write(writer, value)
  return JSON.parse(new TextDecoder().decode(writer.bytes.subarray(0, writer.length)))
}

const repeat = (byte: string): string => `0x${byte.repeat(32)}`

const LARGEST = 2n ** 256n - 1n

test('a bridge as the service writes it is read field by field, its amount and global index as exact integers', () => {
  const page = pageOf([bridgeRecord({ amount: uint256(LARGEST) })], { nextCursor: 'AQAA' })
  assert.deepEqual(decodeAnswer('BridgesResponse', answerOf('getBridges', page)), {
    bridges: [
      {
        txHash: repeat('1a'),
        depositCount: 7,
        originNetwork: 1,
        destinationNetwork: 0,
        originAddress: SENDER,
        destinationAddress: RECEIVER,
        amount: LARGEST,
        blockTimestamp: 1700000001,
        readyForClaim: true,
        blockNumber: 4294967297,
        logIndex: 3,
        leafType: 0,
        tokenNetwork: 2,
        tokenAddress: TOKEN,
        metadata: '0xdead',
        txSender: ORIGINATOR,
        globalIndex: 7n,
        claimTxHash: repeat('2b'),
        l1InfoTreeIndex: 11,
      },
    ],
    pagination: { page: page.page, limit: page.limit, total: page.total, nextCursor: 'AQAA' },
  })
})

test('what is null or absent on the wire is null or absent in the record', () => {
  const fields = {
    originAddress: null,
    transactionSender: null,
    metadata: null,
    metadataLength: 5_000,
    metadataHash: new Uint8Array(32).fill(0xab),
    claimTransactionHash: null,
    l1InfoTreeIndex: null,
    claimMatches: false,
  } as const
  const { bridges } = decodeAnswer(
    'BridgesResponse',
    answerOf('getBridges', pageOf([bridgeRecord(fields), bridgeRecord()])),
  ) as { bridges: Record<string, unknown>[] }
  const [odd, usual] = bridges
  assert.deepEqual(
    [
      'originAddress',
      'txSender',
      'metadata',
      'metadataLength',
      'metadataHash',
      'claimTxHash',
      'claimMatches',
    ].map((name) => odd![name]),
    [null, null, null, 5_000, repeat('ab'), null, false],
  )
  for (const name of ['metadataLength', 'metadataHash', 'claimMatches']) assert.equal(name in usual!, false)
})

test('every answer that the service writes is read, and no field is lost', () => {
  const answers = {
    getBridges: answerOf('getBridges', pageOf([bridgeRecord()])),
    getClaims: answerOf('getClaims', pageOf([claimRecord()], { template: claimTemplate })),
    getClaimProof: answerOf('getClaimProof', claimProofRecord()),
    getL1InfoTreeIndex: answerOf('getL1InfoTreeIndex', l1InfoTreeIndexRecord()),
    getInjectedL1InfoLeaf: answerOf('getInjectedL1InfoLeaf', l1InfoLeafRecord()),
    getTokenMappings: answerOf(
      'getTokenMappings',
      pageOf([tokenMappingRecord()], { template: tokenMappingTemplate }),
    ),
    getClaimTransaction: answerOf('getClaimTransaction', claimTransactionRecord()),
    getBridgeStatus: answerOf('getBridgeStatus', bridgeStatusAnswer()),
    getSearch: answerOf('getSearch', searchAnswer()),
  } satisfies Record<OperationId, unknown>
  const leaves = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 1
      : Object.values(value).reduce((sum: number, own) => sum + leaves(own), 0)
  for (const [id, json] of Object.entries(answers)) {
    assert.ok(leaves(json) > 5, id)
    assert.equal(leaves(decodeAnswer(operations[id as OperationId].shape, json)), leaves(json), id)
  }
})

const CALL = {
  to: TOKEN,
  data: '0xdeadbeef',
  value: '0',
  chain_id: 1101,
  leaf_type: 0,
  origin_network: 0,
  destination_network: 1,
  deposit_count: 5,
  // Bits that the contract ignores.
  global_index: `0x${'f'.repeat(47)}10000000000000005`,
  l1_info_tree_index: 3,
}

test('all 256 bits of a global index are kept', () => {
  const call = decodeAnswer('ClaimTransactionResponse', CALL) as { globalIndex: bigint }
  assert.equal(call.globalIndex, (2n ** 188n - 1n) * 2n ** 68n + 2n ** 64n + 5n)
})

test('fields of a newer service are left out, one that is missing is refused by name', () => {
  const { value: _, ...older } = CALL
  assert.deepEqual(
    decodeAnswer('ClaimTransactionResponse', { ...CALL, new_field: 1 }),
    decodeAnswer('ClaimTransactionResponse', CALL),
  )
  assert.throws(() => decodeAnswer('ClaimTransactionResponse', older), new WrongShape('value is missing'))
})

const wrongValues: readonly (readonly [Readonly<Record<string, unknown>>, message: string])[] = [
  [{ to: '0xdead' }, 'to is not an address'],
  [{ to: null }, 'to is not an address'],
  [{ data: '0xabc' }, 'data is not bytes in hexadecimal'],
  [{ data: 'deadbeef' }, 'data is not bytes in hexadecimal'],
  [{ value: 0 }, 'value is not a decimal integer'],
  [{ value: '1e3' }, 'value is not a decimal integer'],
  [{ value: '0x10' }, 'value is not a decimal integer'],
  [{ value: '-1' }, 'value is not a decimal integer'],
  [{ value: '' }, 'value is not a decimal integer'],
  [{ chain_id: '1' }, 'chain_id is not an integer'],
  [{ chain_id: 2 ** 53 }, 'chain_id is not an integer'],
  [{ global_index: '0x05' }, 'global_index is not 32 bytes in hexadecimal'],
]

for (const [fields, message] of wrongValues)
  test(`${JSON.stringify(fields)} in an answer: ${message}`, () => {
    assert.throws(
      () => decodeAnswer('ClaimTransactionResponse', { ...CALL, ...fields }),
      new WrongShape(message),
    )
  })

test('the place of a fault in a list is told', () => {
  const pagination = { page: 1, limit: 1, total: 1, next_cursor: null }
  assert.throws(
    () => decodeAnswer('BridgesResponse', { bridges: [{}], pagination }),
    new WrongShape('bridges[0].tx_hash is missing'),
  )
  assert.throws(
    () => decodeAnswer('BridgesResponse', { bridges: {}, pagination }),
    new WrongShape('bridges is not a list'),
  )
  assert.throws(
    () => decodeAnswer('BridgesResponse', { bridges: [null], pagination }),
    new WrongShape('bridges[0] is not an object'),
  )
})

test('16 MiB of metadata are read whole', () => {
  const data = `0x${'ab'.repeat(2 ** 24)}`
  const call = decodeAnswer('ClaimTransactionResponse', { ...CALL, data }) as { data: string }
  assert.equal(call.data.length, data.length)
})
