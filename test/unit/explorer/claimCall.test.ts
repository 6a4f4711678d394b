import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { Bridge, ClaimProof } from '../../../src/client/bridgeClient.js'
import { claimCall } from '../../../src/explorer/claimCall.js'

const abi = parseAbi([
  'function claimAsset(bytes32[32], bytes32[32], uint256, bytes32, bytes32, uint32, address, uint32, address, uint256, bytes)',
  'function claimMessage(bytes32[32], bytes32[32], uint256, bytes32, bytes32, uint32, address, uint32, address, uint256, bytes)',
])

const hash = (seed: number): Hex => `0x${seed.toString(16).padStart(2, '0').repeat(32)}`
const siblings = (from: number): Hex[] => Array.from({ length: 32 }, (_, at) => hash(from + at))

test('the claim call of the page is what viem encodes, for tokens and messages with data of any length', () => {
  for (const leafType of [0, 1])
    for (const length of [0, 1, 31, 32, 33, 200]) {
      const metadata: Hex = `0x${'ab'.repeat(length)}`
      const [local, rollup] = [siblings(1), siblings(100)]
      const to = {
        tokenNetwork: 7,
        tokenAddress: '0x5FC8d32690cc91D4c39d9d3abcBD16989F875707',
        destinationNetwork: 4_294_967_295,
        destinationAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        amount: 2n ** 256n - 1n,
      } as const
      const globalIndex = 2n ** 64n + 25n
      const bridge = { ...to, leafType, metadata, globalIndex } as unknown as Bridge
      const l1InfoTreeLeaf = { mainnetExitRoot: hash(200), rollupExitRoot: hash(201) }
      const proof = {
        ...{ smtProofLocalExitRoot: local, smtProofRollupExitRoot: rollup, l1InfoTreeLeaf },
      } as unknown as ClaimProof
      const expected = encodeFunctionData({
        abi,
        functionName: leafType === 0 ? 'claimAsset' : 'claimMessage',
        args: [
          local as never,
          rollup as never,
          globalIndex,
          hash(200),
          hash(201),
          to.tokenNetwork,
          to.tokenAddress,
          to.destinationNetwork,
          to.destinationAddress,
          to.amount,
          metadata,
        ],
      })
      assert.equal(claimCall(bridge, proof), expected, `leaf type ${leafType}, ${length} bytes`)
    }
})

test('data that are too long to be shown are refused, not left out', () => {
  assert.throws(() => claimCall({ metadata: null } as Bridge, {} as ClaimProof), RangeError)
})
