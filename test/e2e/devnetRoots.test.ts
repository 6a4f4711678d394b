import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { bridgeAsset, bridgeMessage, settle } from '../../src/devnet/actions.js'
import { bridgeAbi } from '../../src/devnet/contractAbis.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { foldNaively } from '../support/naiveTree.js'
import { serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

interface ProofBody {
  readonly proof: {
    readonly smtProofLocalExitRoot: readonly Hex[]
    readonly smtProofRollupExitRoot: readonly Hex[]
    readonly leafHash: Hex
    readonly l1InfoTreeLeaf: { readonly mainnetExitRoot: Hex; readonly rollupExitRoot: Hex }
  }
}

const depositsPerNetwork = 9

test("the service's proofs fold to the contract's getRoot() after every deposit", async (t) => {
  const devnet = await testDevnet(t)
  const service = await serviceOn(t, devnet)
  const [l1, network1] = devnet.chains
  const { alice, bob } = devnet.accounts
  // Each round makes two L1 info leaves: one by a forced deposit on the L1, one by a settlement of network 1.
  const roots: { network: number; depositCount: number; leafIndex: number; root: Hex }[] = []
  for (let depositCount = 0; depositCount < depositsPerNetwork; depositCount++) {
    const step = { from: alice, destinationAddress: bob, amount: BigInt(depositCount), forced: true }
    await bridgeAsset(l1, { ...step, destinationNetwork: 1 })
    roots.push({ network: 0, depositCount, leafIndex: 2 * depositCount, root: await getRoot(l1) })
    await bridgeMessage(network1, { ...step, destinationNetwork: 0, metadata: '0xc0ffee' })
    await settle(devnet, network1)
    roots.push({ network: 1, depositCount, leafIndex: 2 * depositCount + 1, root: await getRoot(network1) })
  }
  await service.inStepAndFinal()

  // Every deposit so far is under this root: check the first, the one before the newest, and the newest.
  for (const { network, depositCount, leafIndex, root } of roots)
    for (const proven of new Set([0, Math.max(0, depositCount - 1), depositCount])) {
      const name = `network ${network}, deposit ${proven} in the root after deposit ${depositCount}`
      const { proof } = await service.process.read<ProofBody>(
        `/bridge/v1/claim-proof?network_id=${network}&deposit_count=${proven}&leaf_index=${leafIndex}`,
      )
      const folded = foldNaively(proof.leafHash, proof.smtProofLocalExitRoot, proven)
      assert.equal(folded, root, name)
      const { mainnetExitRoot, rollupExitRoot } = proof.l1InfoTreeLeaf
      if (network === 0) assert.equal(mainnetExitRoot, root, name)
      else assert.equal(foldNaively(root, proof.smtProofRollupExitRoot, network - 1), rollupExitRoot, name)
    }
})

function getRoot({ client, contracts }: DevnetChain): Promise<Hex> {
  return client.readContract({ address: contracts.bridge, abi: bridgeAbi, functionName: 'getRoot' })
}
