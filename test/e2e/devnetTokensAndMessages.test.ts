import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Address } from 'viem'
import { encodeAbiParameters, getContractAddress, keccak256, stringToHex } from 'viem/utils'
import { bridgeAsset, bridgeMessage, inject, mintToken, settle } from '../../src/devnet/actions.js'
import { readCompiledContract } from '../../src/devnet/compiledContracts.js'
import { bridgeAbi, messageReceiverAbi, tokenAbi } from '../../src/devnet/contractAbis.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { depositLeaf, naiveRoot, ZERO_HASH } from '../support/naiveTree.js'
import { claimFromL1, claimFromL2, isClaimed } from './devnet/naiveClaims.js'
import { testDevnet } from './devnet/testDevnet.js'

test('the first claim of a token deploys its wrapped token by CREATE2, and wrapped tokens can be bridged back', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  const { token } = l1.contracts
  await mintToken(l1, alice, 1000n)
  const metadata = encodeAbiParameters(
    [{ type: 'string' }, { type: 'string' }, { type: 'uint8' }],
    ['Lighthouse Dollar', 'LHD', 6],
  )
  const asset = { leafType: 0, originNetwork: 0, originAddress: token, metadata }
  const deposits = [400n, 50n].map((amount) => ({
    ...asset,
    destinationNetwork: 1,
    destinationAddress: bob,
    amount,
  }))
  for (const { amount } of deposits)
    await bridgeAsset(l1, {
      from: alice,
      destinationNetwork: 1,
      destinationAddress: bob,
      token,
      amount,
      forced: true,
    })
  await inject(devnet, network1)

  const bytecode = readCompiledContract('WrappedToken').bytecode
  const expected = getContractAddress({
    opcode: 'CREATE2',
    from: network1.contracts.bridge,
    salt: keccak256(`0x00000000${token.slice(2)}`),
    bytecode: `${bytecode}${metadata.slice(2)}`,
  })
  await sendClaim(network1, carol, claimFromL1(deposits, 0))
  await sendClaim(network1, carol, claimFromL1(deposits, 1))
  const created = await network1.client.getContractEvents({
    address: network1.contracts.bridge,
    abi: bridgeAbi,
    eventName: 'NewWrappedToken',
    fromBlock: 0n,
    strict: true,
  })
  assert.deepEqual(
    created.map(({ args }) => args),
    [{ originNetwork: 0, originTokenAddress: token, wrappedTokenAddress: expected, metadata }],
  )
  assert.equal(await balanceOf(network1, expected, bob), 450n)

  await bridgeAsset(network1, {
    from: bob,
    destinationNetwork: 0,
    destinationAddress: carol,
    token: expected,
    amount: 150n,
    forced: true,
  })
  await settle(devnet, network1)
  const home = [{ ...asset, destinationNetwork: 0, destinationAddress: carol, amount: 150n }]
  const roots = [naiveRoot(home.map(depositLeaf)), ZERO_HASH]
  await sendClaim(l1, bob, {
    ...claimFromL2(1, home, 0, roots),
    mainnetExitRoot: naiveRoot(deposits.map(depositLeaf)),
  })
  assert.equal(await balanceOf(network1, expected, bob), 300n)
  assert.equal(await balanceOf(l1, token, carol), 150n)
  assert.equal(await balanceOf(l1, token, l1.contracts.bridge), 300n)
})

test('a message reaches its contract with its ETH, and a receiver that reverts makes the claim fail', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, carol } = devnet.accounts
  const receiver = network1.contracts.messageReceiver
  const deposits = ['ahoy', 'refuse'].map((text) => ({
    leafType: 1,
    originNetwork: 0,
    originAddress: alice,
    destinationNetwork: 1,
    destinationAddress: receiver,
    amount: 7n,
    metadata: stringToHex(text),
  }))
  for (const { metadata, amount } of deposits)
    await bridgeMessage(l1, {
      from: alice,
      destinationNetwork: 1,
      destinationAddress: receiver,
      amount,
      metadata,
      forced: true,
    })
  await inject(devnet, network1)
  await sendClaim(network1, carol, claimFromL1(deposits, 0))
  const read = { address: receiver, abi: messageReceiverAbi } as const
  assert.equal(await network1.client.readContract({ ...read, functionName: 'lastData' }), stringToHex('ahoy'))
  assert.equal(await network1.client.getBalance({ address: receiver }), 7n)
  assert.equal(await findClaimError(network1, carol, claimFromL1(deposits, 1)), 'MessageFailed')
  assert.equal(await isClaimed(network1, 1, 0), false)
})

function balanceOf({ client }: DevnetChain, token: Address, account: Address): Promise<bigint> {
  return client.readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [account] })
}
