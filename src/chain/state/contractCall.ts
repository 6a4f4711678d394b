import type { BlockNumber } from '../../protocol/units.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { quantity } from '../rpc/rpcBlocks.js'
import { isRevert, RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcCall, RpcOutcome } from '../rpc/rpcTransport.js'

/** A block by number, by hash (EIP-1898), or the newest one. */
export type StateBlock = BlockNumber | { readonly blockHash: string } | 'latest'

export function contractCall(to: string, data: string, block: StateBlock): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, typeof block === 'number' ? quantity(block) : block] }
}

/**
 * @returns `0x…` with at least one word; undefined when the contract does not answer: it reverts, or does not exist.
 * @throws RpcFailure for everything else.
 */
export function contractAnswer(outcome: RpcOutcome): string | undefined {
  if (!outcome.ok) {
    if (isRevert(outcome.failure)) return undefined
    throw outcome.failure
  }
  return typeof outcome.result === 'string' && outcome.result.length >= 66 ? outcome.result : undefined
}

/** Calls one getter at a block. @see contractAnswer */
export async function readContract(
  to: string,
  data: string,
  block: StateBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<string | undefined> {
  const call = contractCall(to, data, block)
  try {
    return contractAnswer({ ok: true, result: await endpoint.call(call.method, call.params, signal) })
  } catch (error) {
    if (error instanceof RpcFailure) return contractAnswer({ ok: false, failure: error })
    throw error
  }
}
