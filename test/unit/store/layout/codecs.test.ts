import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { readUint32BigEndian } from '../../../../src/protocol/abiBytes.js'
import { checksumMask, encodeChecksumAddress } from '../../../../src/protocol/checksumAddress.js'
import { writeUint256 } from '../../../../src/protocol/uint256.js'
import type { BlockNumber, DepositCount, LeafCount, NetworkId } from '../../../../src/protocol/units.js'
import {
  readUint48,
  readUint48BigEndian,
  readUint256,
  writeUint32BigEndian,
  writeUint48,
  writeUint48BigEndian,
} from '../../../../src/store/layout/bytes.js'
import {
  CLAIM_BYTES,
  CLAIM_HASH_BYTES,
  CLAIM_LINK_BYTES,
  claimFields,
  decodeClaimRow,
  encodeClaimRow,
} from '../../../../src/store/layout/claimRow.js'
import {
  DEPOSIT_BYTES,
  decodeDepositRow,
  depositFields,
  encodeDepositRow,
} from '../../../../src/store/layout/depositRow.js'
import { blockKey, tileKey, trees, uint32PairKey } from '../../../../src/store/layout/keys.js'
import {
  decodeL1InfoLeafRow,
  encodeL1InfoLeafRow,
  L1_INFO_LEAF_BYTES,
} from '../../../../src/store/layout/l1InfoLeafRow.js'
import { SENDER_BYTES } from '../../../../src/store/layout/senderRow.js'
import {
  decodeHeader,
  decodeRollupEntry,
  encodeHeader,
  encodeRollupEntry,
} from '../../../../src/store/layout/smallRows.js'
import {
  CLAIM_HASHES_PER_CHUNK,
  CLAIM_LINKS_PER_CHUNK,
  CLAIMS_PER_CHUNK,
  DEPOSITS_PER_CHUNK,
  L1_INFO_LEAVES_PER_CHUNK,
  SENDERS_PER_CHUNK,
} from '../../../../src/store/layout/tables.js'
import { decodeTokenMappingRow, encodeTokenMappingRow } from '../../../../src/store/layout/tokenMappingRow.js'
import { decodeUndoPart, UndoPart } from '../../../../src/store/undo.js'

const bytes = (length: number, first: number) => Uint8Array.from({ length }, (_, index) => first + index)
const address = (first: number) => ({ bytes: bytes(20, first), checksumMask: bytes(5, first + 100) })
const MAX_UINT48 = 2 ** 48 - 1
const MAX_UINT32 = 2 ** 32 - 1

test("EIP-55 masks give the spelling of the standard's addresses", () => {
  const spelled = [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ]
  for (const text of spelled) {
    const mask = checksumMask(Buffer.from(text.slice(2), 'hex'), keccak_256)
    const digits = [...text.slice(2).toLowerCase()].map((digit, index) =>
      (mask[index >> 3]! >> (7 - (index & 7))) & 1 ? digit.toUpperCase() : digit,
    )
    assert.equal(`0x${digits.join('')}`, text)
  }
})

test('integers decode to what was encoded at their limits', () => {
  const buffer = new Uint8Array(40)
  for (const value of [0, 1, MAX_UINT32, MAX_UINT32 + 1, MAX_UINT48]) {
    writeUint48(buffer, 3, value)
    assert.equal(readUint48(buffer, 3), value)
    writeUint48BigEndian(buffer, 3, value)
    assert.equal(readUint48BigEndian(buffer, 3), value)
  }
  writeUint32BigEndian(buffer, 1, MAX_UINT32)
  assert.equal(readUint32BigEndian(buffer, 1), MAX_UINT32)
  for (const value of [0n, 1n, 2n ** 64n + 5n, 2n ** 256n - 1n]) {
    writeUint256(buffer, 4, value)
    assert.equal(readUint256(buffer, 4), value)
    assert.equal(BigInt(`0x${Buffer.from(buffer.subarray(4, 36)).toString('hex')}`), value)
  }
})

test('keys sort as their numbers do', () => {
  const sorted = (keys: Uint8Array[]) =>
    keys.every((key, i) => i === 0 || Buffer.compare(keys[i - 1]!, key) < 0)
  assert.ok(sorted([0, 255, 256, MAX_UINT32, MAX_UINT32 + 1, MAX_UINT48].map(blockKey)))
  assert.ok(sorted([uint32PairKey(1, MAX_UINT32), uint32PairKey(2, 0), uint32PairKey(256, 0)]))
  assert.ok(sorted([tileKey(trees.localExitTree, 0, 5, 9), tileKey(trees.localExitTree, 256, 0, 0)]))
})

test('rows in the middle of a chunk decode to what was encoded, with all numbers at their limits', () => {
  const when = { blockNumber: MAX_UINT48 as BlockNumber, timestampSec: MAX_UINT48 }
  const position = { transactionHash: bytes(32, 1), ...when }
  const deposit = {
    ...position,
    logIndex: MAX_UINT32,
    leafType: 255,
    isForwardLeaf: true,
    tokenId: MAX_UINT32,
    metadataId: MAX_UINT32 - 1,
    destinationNetwork: MAX_UINT32 as NetworkId,
    destinationAddress: address(2),
    amount: bytes(32, 3),
  }
  const claim = {
    ...when,
    logIndex: MAX_UINT32,
    globalIndex: bytes(32, 4),
    sourceNetwork: MAX_UINT32 as NetworkId,
    depositCount: (MAX_UINT32 - 2) as DepositCount,
    isSetByAdministrator: true,
    tokenId: MAX_UINT32,
    destinationAddress: address(5),
    amount: bytes(32, 6),
  }
  const leaf = {
    mainnetExitRoot: bytes(32, 7),
    rollupExitRoot: bytes(32, 8),
    globalExitRoot: bytes(32, 9),
    previousBlockHash: bytes(32, 10),
    hash: bytes(32, 11),
    timestampSec: MAX_UINT48,
    blockNumber: MAX_UINT48 as BlockNumber,
    mainnetLeafCount: MAX_UINT32 as LeafCount,
    rollupExitVersion: MAX_UINT32 - 3,
  }
  const mapping = {
    ...position,
    logIndex: MAX_UINT32,
    originNetwork: MAX_UINT32 as NetworkId,
    originTokenAddress: address(12),
    wrappedTokenAddress: address(13),
    metadataId: MAX_UINT32,
    tokenType: 1,
    isNotMintable: true,
    isCurrent: false,
    isRemoved: true,
  }
  const chunk = new Uint8Array(4096).fill(0xee)
  encodeDepositRow(chunk, 17, deposit)
  chunk.set(deposit.transactionHash, 17 + depositFields.transactionHash)
  chunk.set(deposit.amount, 17 + depositFields.amount)
  encodeChecksumAddress(chunk, 17 + depositFields.destinationAddress, deposit.destinationAddress)
  assert.deepEqual(decodeDepositRow(chunk, 17), deposit)
  assert.deepEqual([chunk[16], chunk[17 + DEPOSIT_BYTES]], [0xee, 0xee])
  chunk.fill(0xee)
  encodeClaimRow(chunk, 17, claim)
  chunk.set(claim.globalIndex, 17 + claimFields.globalIndex)
  chunk.set(claim.amount, 17 + claimFields.amount)
  encodeChecksumAddress(chunk, 17 + claimFields.destinationAddress, claim.destinationAddress)
  assert.deepEqual(decodeClaimRow(chunk, 17), claim)
  assert.deepEqual([chunk[16], chunk[17 + CLAIM_BYTES]], [0xee, 0xee])
  chunk.fill(0xee)
  encodeL1InfoLeafRow(chunk, 17, leaf)
  assert.deepEqual(decodeL1InfoLeafRow(chunk, 17), leaf)
  assert.deepEqual([chunk[16], chunk[17 + L1_INFO_LEAF_BYTES]], [0xee, 0xee])
  assert.deepEqual(decodeTokenMappingRow(encodeTokenMappingRow(mapping)), mapping)
  const rollup = { chainId: 2n ** 64n - 1n, rollupAddress: bytes(20, 1) }
  assert.deepEqual(decodeRollupEntry(encodeRollupEntry(rollup)), rollup)
})

test('a full chunk of each table fits one page', () => {
  const chunks = [
    DEPOSIT_BYTES * DEPOSITS_PER_CHUNK,
    CLAIM_BYTES * CLAIMS_PER_CHUNK,
    L1_INFO_LEAF_BYTES * L1_INFO_LEAVES_PER_CHUNK,
    CLAIM_LINK_BYTES * CLAIM_LINKS_PER_CHUNK,
    CLAIM_HASH_BYTES * CLAIM_HASHES_PER_CHUNK,
    SENDER_BYTES * SENDERS_PER_CHUNK,
  ]
  for (const size of chunks) assert.ok(size <= 4080, `${size} bytes`)
})

test('an undo part keeps the first old value of each key, also when the key was absent', () => {
  const part = new UndoPart()
  part.record('claims', bytes(4, 1), () => bytes(5000, 2))
  part.record('claims', bytes(4, 1), () => bytes(1, 9))
  part.record('meta', bytes(4, 1), () => undefined)
  part.record('headers', bytes(6, 1), () => new Uint8Array(0))
  assert.deepEqual(
    decodeUndoPart(part.encode()).sort((a, b) => a.table.localeCompare(b.table)),
    [
      { table: 'claims', key: bytes(4, 1), value: bytes(5000, 2) },
      { table: 'headers', key: bytes(6, 1), value: new Uint8Array(0) },
      { table: 'meta', key: bytes(4, 1), value: undefined },
    ],
  )
})

test('a header whose parent hash is unknown is stored with zeros in its place, and is read without one', () => {
  const known = { number: 7 as BlockNumber, hash: new Uint8Array(32).fill(1), timestampSec: 9 }
  const stored = encodeHeader(known)
  assert.equal(Buffer.from(stored).toString('hex'), `${'01'.repeat(32)}${'00'.repeat(32)}090000000000`)
  assert.deepEqual(decodeHeader(known.number, stored), known)
  const linked = { ...known, parentHash: bytes(32, 2) }
  assert.deepEqual(decodeHeader(known.number, encodeHeader(linked)), linked)
})
