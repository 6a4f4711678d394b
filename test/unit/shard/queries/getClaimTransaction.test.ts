import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeFunctionData, getAddress, parseAbi } from 'viem/utils'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../../../src/protocol/units.js'
import { getClaimTransaction } from '../../../../src/shard/queries/getClaimTransaction.js'
import { verifiesOnChain } from '../../../support/fakeChainModel.js'
import { buildSmallWorld } from '../../../support/fakeChainScenario.js'
import type { FakeDeposit } from '../../../support/fakeState.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const abi = parseAbi([
  'function claimAsset(bytes32[32], bytes32[32], uint256, bytes32, bytes32, uint32, address, uint32, address, uint256, bytes)',
  'function claimMessage(bytes32[32], bytes32[32], uint256, bytes32, bytes32, uint32, address, uint32, address, uint256, bytes)',
])

function transactionOf(indexed: IndexedWorld, deposit: FakeDeposit, leafIndex?: number) {
  return indexed.ask((shards) =>
    getClaimTransaction(shards, {
      networkId: asNetworkId(deposit.networkId),
      depositCount: asDepositCount(deposit.depositCount),
      ...(leafIndex === undefined ? {} : { leafIndex: asL1InfoTreeIndex(leafIndex) }),
    }),
  )
}

test('the claim transaction has function, arguments, bridge and chain id of the destination, and a valid proof', (context) => {
  const { world, ready, betweenRollups, claimedOnL1 } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  for (const deposit of [ready, betweenRollups, claimedOnL1]) {
    const answer = transactionOf(indexed, deposit)
    assert.ok(answer.ok)
    const { data, to, l1InfoTreeIndex, globalIndex, ...rest } = answer.value
    const call = decodeFunctionData({ abi, data: toHex(data) })
    const info = world.network(0).head.state.l1InfoLeaves[l1InfoTreeIndex]!
    const [localExitRootBranch, rollupExitRootBranch, ...others] = call.args
    assert.equal(call.functionName, deposit.leafType === 1 ? 'claimMessage' : 'claimAsset')
    assert.deepEqual(others, [
      deposit.globalIndex,
      info.mainnetExitRoot,
      info.rollupExitRoot,
      deposit.originNetwork,
      getAddress(deposit.originAddress),
      deposit.destinationNetwork,
      getAddress(deposit.destinationAddress),
      deposit.amount,
      deposit.metadata,
    ])
    assert.ok(verifiesOnChain(world, deposit, l1InfoTreeIndex, { localExitRootBranch, rollupExitRootBranch }))
    const destination = world.network(deposit.destinationNetwork)
    assert.equal(spelling(to), getAddress(destination.contracts.bridge))
    assert.equal(BigInt(toHex(globalIndex)), deposit.globalIndex)
    assert.deepEqual(rest, {
      value: new Uint8Array(32),
      chainId: destination.chainId,
      leafType: deposit.leafType,
      sourceNetwork: deposit.networkId,
      destinationNetwork: deposit.destinationNetwork,
      depositCount: deposit.depositCount,
    })
  }
})

test('a requested leaf is used, and refused when it does not cover the deposit', (context) => {
  const { world, ready } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const last = world.network(0).head.state.l1InfoLeaves.length - 1
  const answer = transactionOf(indexed, ready, last)
  assert.equal(answer.ok && answer.value.l1InfoTreeIndex, last)
  const early = transactionOf(indexed, ready, 0)
  assert.equal(!early.ok && early.code, 'PROOF_NOT_AVAILABLE')
})

test('without a usable leaf, or without an indexed destination, there is no claim transaction', (context) => {
  const { world, pending, ready } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world, [0, 2])
  indexed.syncAll()
  const uncovered = transactionOf(indexed, pending)
  assert.equal(!uncovered.ok && uncovered.code, 'PROOF_NOT_AVAILABLE')
  assert.deepEqual(transactionOf(indexed, ready), {
    ok: false,
    code: 'PROOF_NOT_AVAILABLE',
    message: 'Destination network 1 is not indexed here: its bridge and chain are unknown',
    lacking: 'destination',
  })
})

/** Address text from bytes and the mask of its upper-case digits. */
function spelling({ bytes, checksumMask }: { bytes: Uint8Array; checksumMask: Uint8Array }): string {
  const digits = [...toHex(bytes).slice(2)].map((digit, at) =>
    (checksumMask[at >> 3]! >> (7 - (at & 7))) & 1 ? digit.toUpperCase() : digit,
  )
  return `0x${digits.join('')}`
}
