import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodePacked, keccak256, toHex } from 'viem/utils'
import { hashDepositLeaves, hashL1InfoLeaves } from '../../../src/merkle/leafHashes.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'

const hasher = createHasher(compileMerkleModule())

test('deposit leaves hash as abi.encodePacked of their fields, with metadata of any length', () => {
  const deposits = [0, 1, 136, 70_000].map((metadataBytes, i) => ({
    leafType: i % 2,
    originNetwork: asNetworkId(i === 0 ? 0xffff_ffff : i),
    originAddress: randomBytes(20),
    destinationNetwork: asNetworkId(i + 7),
    destinationAddress: randomBytes(20),
    amount: [0n, 1n, 10n ** 18n, 2n ** 256n - 1n][i]!,
    metadata: randomBytes(metadataBytes),
  }))
  const expected = deposits.map((deposit) =>
    keccak256(
      encodePacked(
        ['uint8', 'uint32', 'address', 'uint32', 'address', 'uint256', 'bytes32'],
        [
          deposit.leafType,
          deposit.originNetwork,
          toHex(deposit.originAddress),
          deposit.destinationNetwork,
          toHex(deposit.destinationAddress),
          deposit.amount,
          keccak256(deposit.metadata),
        ],
      ),
      'bytes',
    ),
  )
  assert.deepEqual(Buffer.from(hashDepositLeaves(hasher, deposits)), Buffer.concat(expected))
})

test('L1 info leaves hash the global exit root, the parent hash and the timestamp as 8 bytes', () => {
  const leaves = [0, 1_700_000_000, 2 ** 40].map((timestampSec) => ({
    globalExitRoot: randomBytes(32),
    parentHash: randomBytes(32),
    timestampSec,
  }))
  const expected = leaves.map((leaf) => {
    const timestamp = leaf.timestampSec.toString(16).padStart(16, '0')
    return keccak_256(Buffer.concat([leaf.globalExitRoot, leaf.parentHash, Buffer.from(timestamp, 'hex')]))
  })
  assert.deepEqual(Buffer.from(hashL1InfoLeaves(hasher, leaves)), Buffer.concat(expected))
})

test('an empty list of deposits gives no leaves', () => {
  assert.equal(hashDepositLeaves(hasher, []).length, 0)
})
