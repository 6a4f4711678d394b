import assert from 'node:assert/strict'
import test from 'node:test'
import { bytesToBigInt, bytesToHex, encodeFunctionData, parseAbi } from 'viem/utils'
import { type ClaimCall, encodeClaimCall } from '../../../../src/shard/queries/getClaimTransaction.js'

const abi = parseAbi([
  'function claimAsset(bytes32[32] smtProofLocalExitRoot, bytes32[32] smtProofRollupExitRoot, uint256 globalIndex, bytes32 mainnetExitRoot, bytes32 rollupExitRoot, uint32 originNetwork, address originTokenAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata)',
  'function claimMessage(bytes32[32] smtProofLocalExitRoot, bytes32[32] smtProofRollupExitRoot, uint256 globalIndex, bytes32 mainnetExitRoot, bytes32 rollupExitRoot, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata)',
])

/** Bytes without a zero, different at each place, so that a swapped or shifted field is noticed. */
const pattern = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => 1 + ((seed * 31 + at * 7) % 255))

const call = (leafType: number, metadataLength: number): ClaimCall => ({
  leafType,
  localExitRootBranch: pattern(1024, 1),
  rollupExitRootBranch: pattern(1024, 2),
  globalIndex: pattern(32, 3),
  mainnetExitRoot: pattern(32, 4),
  rollupExitRoot: pattern(32, 5),
  originNetwork: 0xffff_fffe,
  originAddress: pattern(20, 6),
  destinationNetwork: 0x8000_0001,
  destinationAddress: pattern(20, 7),
  amount: pattern(32, 8),
  metadata: pattern(metadataLength, 9),
})

const words = (branch: Uint8Array) =>
  Array.from({ length: 32 }, (_, at) => bytesToHex(branch.subarray(32 * at, 32 * at + 32))) as never

test('a claim call has the bytes that viem encodes, for both functions and any length of metadata', () => {
  let cases = 0
  for (const leafType of [0, 1])
    for (const metadataLength of [0, 1, 31, 32, 33, 64, 200]) {
      const made = call(leafType, metadataLength)
      const expected = encodeFunctionData({
        abi,
        functionName: leafType === 0 ? 'claimAsset' : 'claimMessage',
        args: [
          words(made.localExitRootBranch),
          words(made.rollupExitRootBranch),
          bytesToBigInt(made.globalIndex),
          bytesToHex(made.mainnetExitRoot),
          bytesToHex(made.rollupExitRoot),
          made.originNetwork,
          bytesToHex(made.originAddress),
          made.destinationNetwork,
          bytesToHex(made.destinationAddress),
          bytesToBigInt(made.amount),
          bytesToHex(made.metadata),
        ],
      })
      assert.equal(bytesToHex(encodeClaimCall(made)), expected, `type ${leafType}, ${metadataLength} bytes`)
      cases++
    }
  assert.equal(cases, 14)
})

test('the claim functions are those of the bridge since etrog', () => {
  assert.equal(bytesToHex(encodeClaimCall(call(0, 0)).subarray(0, 4)), '0xccaa2d11')
  assert.equal(bytesToHex(encodeClaimCall(call(1, 0)).subarray(0, 4)), '0xf5efcd79')
})
