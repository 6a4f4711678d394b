import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../telemetry/clocks.js'
import { type ApiClient, type BridgeAnswer, createApiClient, type DepositKey } from './apiClient.js'
import { requestClaim } from './claimThroughApi.js'
import { createDevnetClient } from './devnetChain.js'
import { DevnetError } from './devnetError.js'
import { findRunningDevnet } from './runningDevnets.js'
import { sendClaim } from './sendClaim.js'

export interface ClaimOptions extends DepositKey {
  /** Address of the service; needed when several devnets run. */
  readonly url?: string
}

const longestWaitMs = 30_000
const betweenLooksMs = 200

/**
 * `bds devnet claim`: claims a deposit of the running devnet with the l1InfoTreeIndex and the proof that the API serves.
 * @param print takes lines for the user.
 * @throws DevnetError (ApiError for errors of the API) with a message that says what to do.
 */
export async function runClaim(options: ClaimOptions, print: (line: string) => void): Promise<void> {
  const devnet = findRunningDevnet(options.url)
  const api = createApiClient(devnet.serviceUrl)
  const name = `deposit ${options.deposit} of network ${options.network}`
  const before = await api.findBridge(options)
  if (before === undefined)
    throw new DevnetError(
      `${name} is not indexed: see ${api.url}/bridge/v1/bridges?network_id=${options.network}`,
    )
  print(
    `Record before, GET ${api.url}/bridge/v1/bridges?network_id=${options.network}&deposit_count=${options.deposit}`,
  )
  print(JSON.stringify(before, undefined, 2))
  if (before.claim_tx_hash !== null)
    throw new DevnetError(`${name} is claimed already, by ${before.claim_tx_hash}`)

  const { claim, leafIndex } = await requestClaim(api, before)
  print(`\nProof from the API against leaf ${leafIndex} of the L1 info tree`)
  const chain = devnet.chains.find(({ networkId }) => networkId === before.destination_network)
  if (chain === undefined)
    throw new DevnetError(
      `${name} goes to network ${before.destination_network}, which the devnet does not have`,
    )
  const client = createDevnetClient(chain.rpcUrl)
  const receipt = await sendClaim({ ...chain, client }, devnet.accounts.carol, claim)
  const contractFunction = before.leaf_type === 0 ? 'claimAsset' : 'claimMessage'
  print(`${contractFunction} on ${chain.contracts.bridge} of network ${chain.networkId} succeeded:`)
  print(`transaction ${receipt.transactionHash}, block ${receipt.blockNumber}, gas ${receipt.gasUsed}`)

  const after = await waitUntilClaimed(api, options)
  print('\nRecord after')
  print(JSON.stringify(after, undefined, 2))
}

async function waitUntilClaimed(api: ApiClient, key: DepositKey): Promise<BridgeAnswer> {
  const deadline = monotonicMs() + longestWaitMs
  while (monotonicMs() < deadline) {
    const bridge = await api.findBridge(key)
    if (bridge !== undefined && bridge.claim_tx_hash !== null) return bridge
    await sleep(betweenLooksMs)
  }
  throw new DevnetError(`the claim succeeded, but the API does not show it after ${longestWaitMs / 1000} s`)
}
