import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { type AbiParameter, type Address, decodeAbiParameters, type Hex } from 'viem'
import { inject, settle, updateGlobalExitRoot } from '../../src/devnet/actions.js'
import { bridgeAbi } from '../../src/devnet/contractAbis.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { NOT_INSTALLED } from '../support/installedProgram.js'
import { serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

/** Where `npm ci --prefix test/clients` puts it. */
const FOLDER = new URL('../../../test/clients/', import.meta.url)
const isInstalled = existsSync(new URL('node_modules/@maticnetwork/lxlyjs/', FOLDER))

/** What of lxly.js is called. */
interface Lxly {
  setProofApi(url: string): void
  readonly service: {
    readonly network: {
      getBridgeTransactionDetails(
        networkId: number,
        depositCount: number,
      ): Promise<{ readonly ready_for_claim: boolean }>
    }
  }
  readonly BridgeUtil: new (
    client: object,
  ) => {
    buildPayloadForClaim(transactionHash: Hex, networkId: number, bridgeIndex: number): Promise<Payload>
  }
}

interface Payload {
  readonly smtProof: readonly Hex[]
  readonly smtProofRollup: readonly Hex[]
  readonly globalIndex: string
  readonly mainnetExitRoot: Hex
  readonly rollupExitRoot: Hex
  readonly originNetwork: number
  readonly originTokenAddress: Address
  readonly destinationNetwork: number
  readonly destinationAddress: Address
  readonly amount: bigint
  readonly metadata: Hex
}

/** Its way to the chains, in the place of its plugins for web3 and ethers. */
function clientOn(chains: readonly DevnetChain[]): object {
  const inputs = bridgeAbi.find((item) => item.type === 'event' && item.name === 'BridgeEvent')!.inputs
  return {
    abiManager: { getABI: () => [{ name: 'BridgeEvent', inputs }] },
    providers: Object.fromEntries(
      chains.map(({ networkId, client }) => [
        networkId,
        {
          provider: {
            getTransactionReceipt: (hash: Hex) => client.getTransactionReceipt({ hash }),
            decodeParameters: (data: Hex, types: readonly AbiParameter[]) => decodeAbiParameters(types, data),
          },
        },
      ]),
    ),
  }
}

test('lxly.js makes claims that pass of what the proof API tells, from the L1 and from an L2', {
  skip: isInstalled ? false : `${NOT_INSTALLED}lxly.js (npm ci --prefix test/clients)`,
}, async (t) => {
  const lxly = createRequire(FOLDER)('@maticnetwork/lxlyjs') as Lxly
  const devnet = await testDevnet(t)
  await playScenario(devnet)
  const [l1, ...l2s] = devnet.chains
  await updateGlobalExitRoot(l1, devnet.accounts.alice)
  for (const l2 of l2s) await settle(devnet, l2)
  for (const l2 of l2s) await inject(devnet, l2)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()

  lxly.setProofApi(`${service.process.url}/proof`)
  const util = new lxly.BridgeUtil(clientOn(devnet.chains))
  const bridges = await service.allBridges()
  const sources = new Set<number>()
  for (const bridge of bridges) {
    const { origin_network: source, deposit_count: count, tx_hash: hash } = bridge
    const deposit = await lxly.service.network.getBridgeTransactionDetails(source, count)
    // Whether it was claimed, it asks the contract.
    assert.equal(deposit.ready_for_claim, true)
    const before = bridges.filter(
      (other) => other.origin_network === source && other.tx_hash === hash && other.deposit_count < count,
    )
    const payload = await util.buildPayloadForClaim(hash, source, before.length)
    const claim = {
      leafType: bridge.leaf_type,
      smtProofLocalExitRoot: payload.smtProof,
      smtProofRollupExitRoot: payload.smtProofRollup,
      globalIndex: BigInt(payload.globalIndex),
      mainnetExitRoot: payload.mainnetExitRoot,
      rollupExitRoot: payload.rollupExitRoot,
      originNetwork: payload.originNetwork,
      originAddress: payload.originTokenAddress,
      destinationNetwork: payload.destinationNetwork,
      destinationAddress: payload.destinationAddress,
      amount: payload.amount,
      metadata: payload.metadata,
    }
    const destination = devnet.chains.find(({ networkId }) => networkId === payload.destinationNetwork)!
    const fault = await findClaimError(destination, devnet.accounts.alice, claim)
    assert.equal(fault, bridge.claim_tx_hash === null ? undefined : 'AlreadyClaimed', `${source}:${count}`)
    if (fault !== undefined) continue
    await sendClaim(destination, devnet.accounts.alice, claim)
    sources.add(source)
  }
  assert.ok(sources.has(0) && sources.size > 1)
})
