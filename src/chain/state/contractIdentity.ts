import type { NetworkConfig } from '../../config/config.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { readHead } from '../endpoints/readBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { findMissingContracts, readNetworkId } from './contractReads.js'

/**
 * Checks that the configured contracts exist, and that the bridge names the configured network id. A chain that has not
 * reached `start_block` has no contracts yet: it passes.
 * @throws FatalError `wrong_contract`; RpcFailure.
 */
export async function assertContracts(
  network: NetworkConfig,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<void> {
  const head = await readHead(endpoint, signal)
  if (head.number < network.startBlock) return
  const wrong = (text: string) =>
    new FatalError(`network ${network.networkId}: ${text}`, { reason: 'wrong_contract' })
  try {
    const missing = await findMissingContracts(network, endpoint, signal)
    if (missing.length > 0) throw wrong(`no contract at ${missing.join(', ')}`)
  } catch (error) {
    // Some gateways do not serve eth_getCode; the bridge's answer below proves more anyway.
    if (!(error instanceof RpcFailure) || error.kind !== 'rpc') throw error
  }
  const networkId = await readNetworkId(network.bridge, endpoint, signal)
  if (networkId === undefined) throw wrong(`bridge ${network.bridge} does not answer networkID()`)
  if (networkId !== network.networkId)
    throw wrong(`bridge ${network.bridge} says that its network id is ${networkId}`)
}
