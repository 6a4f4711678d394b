import { decodeBlock, quantity, type RpcBlock } from '../rpc/rpcBlocks.js'
import { isUnknownBlock, RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcCall, RpcOutcome } from '../rpc/rpcTransport.js'
import type { Endpoint } from './endpoint.js'

export type BlockTag = 'latest' | 'safe' | 'finalized'

/** How often in a row nothing but null is answered before the endpoint counts as behind: several nodes may be behind one address. */
export const NULL_TRIES = 4

export function blockCall(block: number | BlockTag): RpcCall {
  const name = typeof block === 'number' ? quantity(block) : block
  return { method: 'eth_getBlockByNumber', params: [name, false] }
}

/**
 * Asks for a block. When a height that the endpoint has told of is unknown, a node that lags has answered, and the next one is
 * asked: two calls in turn, to two nodes in turn, would meet the same nodes for ever.
 * @returns undefined when the endpoint does not know the block.
 * @throws RpcFailure
 */
export async function findBlock(
  block: number | BlockTag,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<RpcBlock | undefined> {
  const call = blockCall(block)
  for (let tries = 1; ; tries++) {
    const [outcome] = await endpoint.callAll([call], signal)
    if (typeof block !== 'number') {
      if (!outcome!.ok) throw outcome!.failure
      return decodeBlock(outcome!.result, endpoint.alias)
    }
    const found = expectBlock(outcome!, block, endpoint)
    const isTold = endpoint.head !== undefined && block <= endpoint.head.number
    if (found !== undefined || !isTold || tries === NULL_TRIES) return found
  }
}

/**
 * The block that `blockCall(number)` asked for.
 * @returns undefined when the endpoint does not know it.
 * @throws RpcFailure, also for another block than asked for.
 */
export function expectBlock(outcome: RpcOutcome, number: number, endpoint: Endpoint): RpcBlock | undefined {
  if (!outcome.ok) {
    if (isUnknownBlock(outcome.failure)) return undefined
    throw outcome.failure
  }
  const block = decodeBlock(outcome.result, endpoint.alias)
  if (block === undefined || block.number === number) return block
  throw new RpcFailure('body', `${endpoint.alias}: answered block ${block.number} instead of ${number}`)
}

/** Reads the newest block, and remembers it as the endpoint's head. @throws RpcFailure */
export async function readHead(endpoint: Endpoint, signal: AbortSignal): Promise<RpcBlock> {
  const [outcome] = await endpoint.callAll([blockCall('latest')], signal)
  return expectHead(outcome!, endpoint)
}

/** Decodes the answer to `blockCall('latest')`, and remembers it as the endpoint's head. @throws RpcFailure */
export function expectHead(outcome: RpcOutcome, endpoint: Endpoint): RpcBlock {
  if (!outcome.ok) throw outcome.failure
  const head = decodeBlock(outcome.result, endpoint.alias)
  // Not `behind`, which hardly counts against an endpoint: one without any head is of no use.
  if (head === undefined) throw new RpcFailure('body', `${endpoint.alias}: no latest block`)
  endpoint.head = head
  return head
}

/**
 * Reads blocks by number, without repeats. @returns them in any order.
 * @throws RpcFailure; `behind` when one of them stays unknown.
 */
export async function readBlocks(
  numbers: readonly number[],
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<RpcBlock[]> {
  const blocks: RpcBlock[] = []
  let wanted = numbers
  for (let tries = 0; wanted.length > 0; ) {
    if (tries === NULL_TRIES) throw behind(endpoint, wanted[0]!)
    const outcomes = await endpoint.callAll(wanted.map(blockCall), signal)
    const unknown: number[] = []
    outcomes.forEach((outcome, index) => {
      if (!outcome.ok) throw outcome.failure
      const block = decodeBlock(outcome.result, endpoint.alias)
      if (block === undefined) unknown.push(wanted[index]!)
      else if (block.number === wanted[index]) blocks.push(block)
      else
        throw new RpcFailure(
          'body',
          `${endpoint.alias}: answered block ${block.number} instead of ${wanted[index]}`,
        )
    })
    // Of single calls to two nodes in turn, one of which lags, each round finds half of what is left.
    tries = unknown.length < wanted.length ? 0 : tries + 1
    wanted = unknown
  }
  return blocks
}

export function behind(endpoint: Endpoint, block: number): RpcFailure {
  return new RpcFailure('behind', `${endpoint.alias}: does not know block ${block} yet`)
}
