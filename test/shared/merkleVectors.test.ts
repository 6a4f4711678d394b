import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { appendLeaves } from '../../src/merkle/appendOnlyTree.js'
import { isBranchOf } from '../../src/merkle/branch.js'
import { type DepositLeaf, hashDepositLeaves, hashL1InfoLeaves } from '../../src/merkle/leafHashes.js'
import { getRoot, proveLeaf } from '../../src/merkle/treeProofs.js'
import { asNetworkId } from '../../src/protocol/units.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { MemoryTiles } from '../support/memoryTiles.js'
import { sharedPath } from '../support/sharedFolder.js'

const hasher = createHasher(compileMerkleModule())
const bytes = (text: string) => Buffer.from(text.replace(/^0x/, ''), 'hex')
const hex = (value: Uint8Array) => `0x${Buffer.from(value).toString('hex')}`

const readShared = (path: string) => readFileSync(sharedPath(path), 'utf8')
/** The caller knows the shape of the file. */
const readSharedJson = <T>(path: string) => JSON.parse(readShared(path)) as T

interface LeafVector {
  readonly originNetwork: number
  readonly tokenAddress: string
  readonly amount: string
  readonly destinationNetwork: number
  readonly destinationAddress: string
  readonly metadata: string
  readonly leafValue: string
}

function leafOf(vector: Omit<LeafVector, 'leafValue'>): string {
  const deposit: DepositLeaf = {
    leafType: 0,
    originNetwork: asNetworkId(vector.originNetwork),
    originAddress: bytes(vector.tokenAddress),
    destinationNetwork: asNetworkId(vector.destinationNetwork),
    destinationAddress: bytes(vector.destinationAddress),
    amount: BigInt(vector.amount),
    metadata: bytes(vector.metadata),
  }
  return hex(hashDepositLeaves(hasher, [deposit]))
}

/** A tree with these leaves, appended in one batch. */
function treeOf(leaves: readonly string[]) {
  const tree = { hasher, tiles: new MemoryTiles(), lineages: [{ cut: 0 }] }
  appendLeaves(tree, 0, 0, Buffer.concat(leaves.map(bytes)))
  return tree
}

const rootOf = (leaves: readonly string[]) => hex(getRoot(treeOf(leaves), 0, leaves.length))

function checkProof(leaves: readonly string[], index: number, branch: readonly string[], root: string): void {
  const version = { lineage: 0, leafCount: leaves.length, root: bytes(root) }
  const proof = proveLeaf(treeOf(leaves), version, index)
  assert.equal(hex(proof.branch), hex(Buffer.concat(branch.map(bytes))), `branch of leaf ${index}`)
  assert.equal(hex(proof.leaf), leaves[index])
  assert.ok(isBranchOf(hasher, version.root, bytes(leaves[index]!), Buffer.concat(branch.map(bytes)), index))
}

for (const dir of ['vectors/aggkit-tree', 'vectors/zkevm-bridge-service/mt-bridge']) {
  test(`${dir}: deposit leaves hash as given`, () => {
    const vectors = readSharedJson<LeafVector[]>(`${dir}/leaf-vectors.json`)
    assert.equal(vectors.length, 4)
    for (const vector of vectors) assert.equal(leafOf(vector), vector.leafValue)
  })

  test(`${dir}: roots before and after each append are as given`, () => {
    interface RootVector {
      readonly previousLeafsValues: string[]
      readonly currentRoot: string
      readonly newLeaf: Omit<LeafVector, 'leafValue'> & { readonly currentLeafValue: string }
      readonly newRoot: string
    }
    const vectors = readSharedJson<RootVector[]>(`${dir}/root-vectors.json`)
    assert.equal(vectors.length, 4)
    for (const { previousLeafsValues, currentRoot, newLeaf, newRoot } of vectors) {
      assert.equal(leafOf(newLeaf), newLeaf.currentLeafValue)
      assert.equal(rootOf(previousLeafsValues), currentRoot)
      assert.equal(rootOf([...previousLeafsValues, newLeaf.currentLeafValue]), newRoot)
      const tree = treeOf(previousLeafsValues)
      appendLeaves(tree, 0, previousLeafsValues.length, bytes(newLeaf.currentLeafValue))
      assert.equal(hex(getRoot(tree, 0, previousLeafsValues.length + 1)), newRoot, 'one appended to the rest')
    }
  })

  test(`${dir}: proofs are as given`, () => {
    interface ClaimVector {
      readonly leafs: LeafVector[]
      readonly index: number
      readonly proof: string[]
      readonly root: string
    }
    const vectors = readSharedJson<ClaimVector[]>(`${dir}/claim-vectors.json`)
    assert.equal(vectors.length, 4)
    for (const { leafs, index, proof, root } of vectors) {
      for (const leaf of leafs) assert.equal(leafOf(leaf), leaf.leafValue)
      checkProof(
        leafs.map((leaf) => leaf.leafValue),
        Number(index),
        proof,
        root,
      )
    }
  })
}

test('vectors/aggkit-l1-info-tree: roots before and after each append are as given', () => {
  interface RootVector {
    readonly previousLeafValues: string[]
    readonly currentRoot: string
    readonly newLeafValue: string
    readonly newRoot: string
  }
  const vectors = readSharedJson<RootVector[]>('vectors/aggkit-l1-info-tree/root-vectors.json')
  assert.equal(vectors.length, 4)
  for (const { previousLeafValues, currentRoot, newLeafValue, newRoot } of vectors) {
    assert.equal(rootOf(previousLeafValues), currentRoot)
    assert.equal(rootOf([...previousLeafValues, newLeafValue]), newRoot)
  }
})

test('vectors/aggkit-l1-info-tree: proofs are as given', () => {
  interface ProofVector {
    readonly leaves: string[]
    readonly index: number
    readonly proof: string[]
    readonly root: string
  }
  const vectors = readSharedJson<ProofVector[]>('vectors/aggkit-l1-info-tree/proof-vectors.json')
  assert.equal(vectors.length, 4)
  for (const { leaves, index, proof, root } of vectors) checkProof(leaves, Number(index), proof, root)
})

test('vectors/zkevm-bridge-service: deposits with ABI-encoded metadata hash as given', () => {
  const vectors = readSharedJson<LeafVector[]>('vectors/zkevm-bridge-service/deposit-raw.json')
  assert.equal(vectors.length, 4)
  for (const vector of vectors) assert.equal(leafOf(vector), `0x${vector.leafValue}`)
})

test('vectors/zkevm-bridge-service: 26 deposits of a public testnet give the stored root', () => {
  interface Row {
    readonly leaf_type: string
    readonly network_id: string
    readonly orig_net: string
    readonly orig_addr: string
    readonly amount: string
    readonly dest_net: string
    readonly dest_addr: string
    readonly deposit_cnt: string
    readonly metadata: string
  }
  const { deposits, root_network0 } = readSharedJson<{ deposits: Row[]; root_network0: string }>(
    'vectors/zkevm-bridge-service/mt-bridge/fullmt-deposits.json',
  )
  const leaves = deposits
    .filter((row) => row.network_id === '0')
    .sort((a, b) => Number(a.deposit_cnt) - Number(b.deposit_cnt))
    .map((row) =>
      leafOf({
        originNetwork: Number(row.orig_net),
        tokenAddress: row.orig_addr,
        amount: row.amount,
        destinationNetwork: Number(row.dest_net),
        destinationAddress: row.dest_addr,
        metadata: row.metadata,
      }),
    )
  assert.equal(leaves.length, 26)
  assert.equal(rootOf(leaves), root_network0)
})

test('vectors/zkevm-bridge-service: every stored node of that tree is the hash of its two children', () => {
  const sql = readShared('vectors/zkevm-bridge-service/mt-bridge/fullmt-vector.sql')
  const rows = [
    ...sql.matchAll(/decode\('([0-9A-F]{64})','hex'\), '\{\\\\x([0-9a-f]{64}),\\\\x([0-9a-f]{64})\}'/g),
  ]
  assert.equal(rows.length, 864)
  for (const [, node, left, right] of rows)
    assert.equal(hex(hasher.hashPair(bytes(left!), bytes(right!))), `0x${node!.toLowerCase()}`)
})

test('vectors/zkevm-commonjs: L1 info leaves and their roots are as given', () => {
  interface TreeVector {
    readonly leafs: ReadonlyArray<{
      readonly leafData: { readonly ger: string; readonly blockHash: string; readonly timestamp: string }
      readonly expectedLeafValue: string
    }>
    readonly expectedRoot: string
  }
  const vectors = readSharedJson<TreeVector[]>('vectors/zkevm-commonjs/l1-info-tree.json')
  assert.equal(vectors.length, 4)
  for (const { leafs, expectedRoot } of vectors) {
    const leaves = hashL1InfoLeaves(
      hasher,
      leafs.map(({ leafData }) => ({
        globalExitRoot: bytes(leafData.ger),
        parentHash: bytes(leafData.blockHash),
        timestampSec: BigInt(leafData.timestamp),
      })),
    )
    const expected = leafs.map((leaf) => leaf.expectedLeafValue)
    assert.equal(hex(leaves), hex(Buffer.concat(expected.map(bytes))))
    assert.equal(rootOf(expected), expectedRoot)
  }
})
