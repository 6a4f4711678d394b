import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Hex } from 'viem'
import { hexToBytes, keccak256, size } from 'viem/utils'
import { JsonWriter } from '../../../../src/api/present/jsonWriter.js'
import { presenters } from '../../../../src/api/present/present.js'
import { routes } from '../../../../src/api/routes.js'
import { decodeTokenMetadata } from '../../../../src/protocol/metadata.js'
import { asBlockNumber, asDepositCount, asNetworkId } from '../../../../src/protocol/units.js'
import { tokenMappingTemplate } from '../../../../src/query/records.js'
import { getClaimTransaction } from '../../../../src/shard/queries/getClaimTransaction.js'
import { getTokenMappings } from '../../../../src/shard/queries/getTokenMappings.js'
import type { ShardReaders } from '../../../../src/shard/queries/shardReaders.js'
import { bothTexts } from '../../../support/bothTexts.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { tokenMetadata } from '../../../support/fakeChainScenario.js'
import { tokenAddress } from '../../../support/fakeState.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'
import { pageOf, tokenMappingRecord } from '../../../support/sampleRecords.js'

const networkId = asNetworkId(0)
const page = { networkId, pageNumber: 1, pageSize: 1000, isAscending: true }
const KIB_85 = 85 * 1024
const MIB_16 = 16 * 1024 ** 2

interface MetadataFields {
  readonly deposit_count: number
  readonly metadata: Hex | null
  readonly metadata_length?: number
  readonly metadata_hash?: Hex
}

/**
 * Messages 0, 1, 2, … with metadata of the given lengths, in hexadecimal digits that are decimal too, so that no
 * byte is special.
 */
function messagesOf(context: TestContext, sizes: readonly number[]) {
  const world = createFakeWorld({ networks: [1] })
  const metadata = sizes.map((bytes, at): Hex => `0x${(10 + (at % 80)).toString().repeat(bytes)}`)
  world.network(0).mine((block) => {
    for (const each of metadata) block.tx().deposit({ destinationNetwork: 1, leafType: 1, metadata: each })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  return { world, indexed, metadata }
}

/** The rows as the API gives them, from either writer. */
function rowsOf(indexed: IndexedWorld, depositCounts?: readonly number[]): readonly MetadataFields[] {
  const query =
    depositCounts === undefined ? page : { ...page, depositCounts: depositCounts.map(asDepositCount) }
  const [plain, packed] = bothTexts(indexed, 'getBridges', query)
  assert.ok(packed === plain, `${packed.length} characters of ${plain.length}, at last ${packed.slice(-900)}`)
  return (JSON.parse(packed) as { bridges: readonly MetadataFields[] }).bridges
}

function shownIn(row: MetadataFields): object {
  const { metadata, metadata_length, metadata_hash } = row
  return { metadata, metadata_length, metadata_hash }
}

const whole = (metadata: Hex) => ({ metadata, metadata_length: undefined, metadata_hash: undefined })
const told = (metadata: Hex) => ({
  metadata: null,
  metadata_length: size(metadata),
  metadata_hash: keccak256(metadata),
})

test('a listed row has metadata of up to 4,096 bytes whole, and length and keccak-256 of longer metadata', (context) => {
  const { indexed, metadata } = messagesOf(context, [0, 1, 4_095, 4_096, 4_097, 70_000, 130_000, 3, 4_097])
  const expected = metadata.map((each) => (size(each) <= 4_096 ? whole(each) : told(each)))
  // Also when the digests are kept.
  for (const _ of [1, 2]) assert.deepEqual(rowsOf(indexed).map(shownIn), expected)
  assert.deepEqual(rowsOf(indexed, [3, 4]).map(shownIn), [whole(metadata[3]!), told(metadata[4]!)])
})

test('a page of 1,000 rows with 4,096 bytes of metadata each fits the smallest http.max_response_bytes', (context) => {
  const { indexed } = messagesOf(
    context,
    Array.from({ length: 1_000 }, () => 4_096),
  )
  const [, text] = bothTexts(indexed, 'getBridges', page)
  assert.ok(text.length > 8_000_000 && text.length < 10 * 1024 ** 2, `${text.length} bytes`)
})

test('a page of a thousand longest possible token mappings fits the smallest http.max_response_bytes', () => {
  const writer = new JsonWriter()
  const texts = '\u0001'.repeat(256)
  const whole = hexToBytes(tokenMetadata(texts, texts, 255))
  const metadata = new Uint8Array(4_096)
  metadata.set(whole)
  const row = tokenMappingRecord({
    ...{ metadata, ...decodeTokenMetadata(metadata), timestampSec: 2 ** 48 - 1, logIndex: 2 ** 32 - 1 },
    ...{ blockNumber: asBlockNumber(2 ** 48 - 1), originNetwork: asNetworkId(2 ** 32 - 1) },
    wrappedNetwork: asNetworkId(2 ** 32 - 1),
  })
  assert.equal(row.name, texts)
  const rows = Array.from({ length: 1_000 }, () => row)
  presenters.getTokenMappings.write(writer, pageOf(rows, { template: tokenMappingTemplate }))
  const bytes = routes.getTokenMappings.entitledBytes({ pageNumber: 1, pageSize: 1_000 })
  assert.ok(writer.length > 11_000_000 && writer.length < bytes, `${writer.length} of ${bytes} bytes`)
})

test('one bridge by its deposit count, and its claim transaction, have metadata whole up to 16 MiB', (context) => {
  const { world, indexed, metadata } = messagesOf(context, [4_097, KIB_85, MIB_16, MIB_16 + 1, 5])
  for (const [depositCount, each] of metadata.entries()) {
    const expected = size(each) <= MIB_16 ? whole(each) : told(each)
    const [row, ...others] = rowsOf(indexed, [depositCount])
    assert.equal(others.length, 0)
    // Not compared by deepEqual: printing a difference of 33 MB takes minutes.
    assert.ok(row!.metadata === expected.metadata, `deposit ${depositCount}`)
    assert.deepEqual(
      [row!.metadata_length, row!.metadata_hash],
      [expected.metadata_length, expected.metadata_hash],
    )
  }
  // Two counts are a list, the same count twice is not.
  assert.equal(rowsOf(indexed, [0, 1])[0]!.metadata, null)
  world.network(0).mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  world.network(1).mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
  indexed.syncAll()
  const callOf = (depositCount: number) =>
    indexed.ask((shards) =>
      getClaimTransaction(shards, { networkId, depositCount: asDepositCount(depositCount) }),
    )
  for (const depositCount of [1, 2]) {
    const answer = callOf(depositCount)
    assert.ok(answer.ok)
    assert.ok(toHex(answer.value.data).includes(metadata[depositCount]!.slice(2)), `deposit ${depositCount}`)
  }
  assert.deepEqual(callOf(3), {
    ok: false,
    code: 'PROOF_NOT_AVAILABLE',
    message: 'Deposit 3 of network 0 has 16777217 bytes of metadata: a claim call is made of up to 16777216',
  })
})

test('metadata that was found too long for a page is not read by the next page', (context) => {
  const { indexed } = messagesOf(
    context,
    Array.from({ length: 105 }, (_, at) => KIB_85 + at),
  )
  rowsOf(indexed)
  indexed.ask((shards) => {
    const { dictionary } = shards.find(networkId)!
    const read = dictionary.peekMetadata.bind(dictionary)
    let reads = 0
    dictionary.peekMetadata = (id) => {
      reads++
      return read(id)
    }
    for (let id = 0; id < 105; id++) assert.equal(dictionary.peekListed(id), undefined)
    assert.equal(reads, 0)
  })
})

test('after a reorg the digests of long metadata are those of the new metadata', (context) => {
  const { world, indexed, metadata } = messagesOf(context, [4_097])
  const mine = (digits: string, bytes: number): Hex => {
    const long: Hex = `0x${digits.repeat(bytes)}`
    world.network(0).mine((block) => {
      block.tx().deposit({ destinationNetwork: 1, leafType: 1, metadata: long })
    })
    indexed.syncAll()
    return long
  }
  const before = mine('ab', 5_000)
  assert.deepEqual(rowsOf(indexed).map(shownIn), [told(metadata[0]!), told(before)])
  world.network(0).reorg({ depth: 1 })
  const after = mine('cd', 6_000)
  assert.deepEqual(rowsOf(indexed).map(shownIn), [told(metadata[0]!), told(after)])
})

test('a token mapping leaves out long metadata by the same rule, and names that are too long', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, l2] = [world.network(0), world.network(1)]
  const tokens = [
    { metadata: tokenMetadata('n'.repeat(60_000), 'LONG', 18), name: null, symbol: 'LONG' },
    { metadata: tokenMetadata('n'.repeat(257), 'S', 18), name: null, symbol: 'S' },
    // 256 characters of four bytes each.
    {
      metadata: tokenMetadata('🌉'.repeat(256), 's'.repeat(256), 18),
      name: '🌉'.repeat(256),
      symbol: 's'.repeat(256),
    },
    { metadata: tokenMetadata('🌉'.repeat(257), 's'.repeat(5_000), 18), name: null, symbol: null },
  ]
  l1.mine((block) => {
    for (const [at, { metadata }] of tokens.entries())
      block
        .tx()
        .deposit({ originAddress: tokenAddress(at), originNetwork: 0, destinationNetwork: 1, metadata })
  })
  l2.mine((block) => {
    for (const [at, deposit] of l1.deposits().entries())
      block.tx().claim({ deposit, newWrappedToken: tokenAddress(100 + at) })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const expected = tokens.map(({ metadata, name, symbol }) => ({
    ...(size(metadata) <= 4_096 ? whole(metadata) : told(metadata)),
    ...{ name, symbol, decimals: 18 },
  }))
  for (const _ of [1, 2]) {
    const { token_mappings: rows } = indexed.ask(tokenMappingsAnswer)
    assert.deepEqual(
      rows.map(({ name, symbol, decimals, ...row }) => ({ ...shownIn(row), name, symbol, decimals })),
      expected,
    )
  }
})

interface TokenMappingsAnswer {
  readonly token_mappings: readonly (MetadataFields & Record<'name' | 'symbol' | 'decimals', unknown>)[]
}

function tokenMappingsAnswer(shards: ShardReaders): TokenMappingsAnswer {
  const answer = getTokenMappings(shards, { pageNumber: 1, pageSize: 10, isAscending: true })
  assert.ok(answer.ok)
  const writer = new JsonWriter()
  presenters.getTokenMappings.write(writer, answer.value)
  return JSON.parse(Buffer.from(writer.bytes.subarray(0, writer.length)).toString()) as TokenMappingsAnswer
}
