import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { isInjected } from '../../src/devnet/actions.js'
import { findUsableLeaf } from '../../src/devnet/claimFromLedger.js'
import { bridgeAbi } from '../../src/devnet/contractAbis.js'
import { branchOf, rootOver } from '../../src/devnet/exitTree.js'
import { claimAgainst, type LedgerDeposit, readLedger } from '../../src/devnet/ledger.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { findClaimError } from '../../src/devnet/sendClaim.js'
import { foldNaively, keccak, naiveBranch, naiveRoot } from '../support/naiveTree.js'
import { testDevnet } from './devnet/testDevnet.js'

test('the scenario leaves deposits claimed, claimable and pending, and the contract agrees about each', async (t) => {
  const devnet = await testDevnet(t)
  await playScenario(devnet)
  const ledger = await readLedger(devnet)
  const states = new Map<string, number[]>()
  const routes = new Set<string>()

  for (const deposit of ledger.deposits.flat()) {
    const { sourceNetwork, destinationNetwork, depositCount, leafType } = deposit
    routes.add(`${sourceNetwork}→${destinationNetwork} type ${leafType}`)
    const destination = devnet.chains[destinationNetwork]!
    const claimed = await destination.client.readContract({
      address: destination.contracts.bridge,
      abi: bridgeAbi,
      functionName: 'isClaimed',
      args: [depositCount, sourceNetwork],
    })
    const usable = await findUsableLeaf(devnet, ledger, deposit)
    const infoLeaf = usable ?? ledger.infoLeaves.at(-1)!
    const answer = await findClaimError(
      destination,
      devnet.accounts.carol,
      claimAgainst(ledger, deposit, infoLeaf),
    )
    const [state, expected] = claimed
      ? ['claimed', 'AlreadyClaimed']
      : usable !== undefined
        ? ['claimable', undefined]
        : isCovered(deposit)
          ? ['not injected', 'GlobalExitRootInvalid']
          : (await isInjected(destination, infoLeaf.globalExitRoot))
            ? ['not covered', 'InvalidSmtProof']
            : ['not covered', 'GlobalExitRootInvalid']
    // The L1 knows every root, so a claim of an uncovered deposit fails at its proof there.
    const answerExpected = state === 'not covered' && destinationNetwork === 0 ? 'InvalidSmtProof' : expected
    assert.equal(answer, answerExpected, `network ${sourceNetwork} deposit ${depositCount} is ${state}`)
    const counts = states.get(`${state} to network ${destinationNetwork}`) ?? []
    states.set(`${state} to network ${destinationNetwork}`, [...counts, depositCount])
  }

  function isCovered({ sourceNetwork, depositCount }: LedgerDeposit): boolean {
    return ledger.infoLeaves.some((leaf) => leaf.coveredDeposits[sourceNetwork]! > depositCount)
  }

  assert.deepEqual([...routes].sort(), [
    '0→1 type 0',
    '0→1 type 1',
    '0→2 type 0',
    '0→2 type 1',
    '1→0 type 0',
    '1→2 type 0',
    '1→2 type 1',
    '2→0 type 0',
    '2→0 type 1',
    '2→1 type 0',
    '2→1 type 1',
  ])
  for (const state of [
    ...[0, 1, 2].map((network) => `claimed to network ${network}`),
    ...[0, 1, 2].map((network) => `claimable to network ${network}`),
    'not injected to network 2',
    'not covered to network 0',
    'not covered to network 1',
  ])
    assert.ok(states.has(state), `no deposit is ${state}`)

  const injected = ledger.infoLeaves.map(({ globalExitRoot }) =>
    Promise.all(devnet.chains.slice(1).map((chain) => isInjected(chain, globalExitRoot))),
  )
  const skipped = (await Promise.all(injected)).filter((known) => known.includes(false))
  assert.ok(skipped.length > 0, 'no leaf was skipped')
})

test("the scenario's trees equal those of an independent hash function", () => {
  const leaves: Hex[] = []
  for (let count = 0; count <= 20; count++) {
    assert.equal(rootOver(leaves), naiveRoot(leaves), `${count} leaves`)
    for (const [index, leaf] of leaves.entries()) {
      const branch = branchOf(leaves, index)
      assert.deepEqual(branch, naiveBranch(leaves, index))
      assert.equal(foldNaively(leaf, branch, index), naiveRoot(leaves))
    }
    leaves.push(keccak(`0x${count.toString(16).padStart(2, '0')}`))
  }
})
