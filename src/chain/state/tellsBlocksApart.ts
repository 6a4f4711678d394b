import { encodeHex } from '../../protocol/hex.js'
import type { StateCheck } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { readHead } from '../endpoints/readBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcOutcome } from '../rpc/rpcTransport.js'
import { contractAnswer, contractCall, type StateBlock } from './contractCall.js'
import { rootGetters } from './contractReads.js'

/** A hash that no block has. */
export const NO_BLOCK_HASH = `0x${'ee'.repeat(32)}`

/** An answer; `null` when the contract does not answer, undefined when the endpoint refuses. */
type RootAnswer = string | null | undefined

/**
 * Does the endpoint answer with the state of the block that it is asked for? Some gateways take any block and answer with the
 * newest state. There are three checks; each is made only where the one before decides nothing:
 *
 * 1. If the exit root is known to have changed since an older block, the roots at the two blocks must differ.
 * 2. The block is asked for by its hash, and by a hash that no block has (EIP-1898): the second must be refused.
 * 3. The block is the endpoint's newest: then there is no other state that it could have answered with.
 * @returns undefined when no check decides. @throws RpcFailure when the endpoint does not answer.
 */
export async function tellsBlocksApart(
  bridge: string,
  { block, before, isChanged }: StateCheck,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const ask = (blocks: readonly StateBlock[]) => askRoots(bridge, blocks, endpoint, signal)
  if (before !== undefined) {
    const [now, then] = await ask([block.number, before])
    // A bridge without a root proves nothing about the endpoint.
    if (typeof now === 'string' && then !== undefined) {
      if (now !== then) return true
      if (isChanged) return false
    }
  }
  const [byHash, byNoHash] = await ask([{ blockHash: encodeHex(block.hash) }, { blockHash: NO_BLOCK_HASH }])
  if (typeof byNoHash === 'string') return false
  if (typeof byHash === 'string') return true
  return (await readHead(endpoint, signal)).hash === encodeHex(block.hash) ? true : undefined
}

/** The bridge's exit root at each block, by the getter that it has at the first one. In one batch, which one node answers. */
async function askRoots(
  bridge: string,
  blocks: readonly StateBlock[],
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<RootAnswer[]> {
  let answers: RootAnswer[] = []
  for (const getter of rootGetters) {
    const outcomes = await endpoint.callAll(
      blocks.map((at) => contractCall(bridge, getter, at)),
      signal,
    )
    answers = outcomes.map(answerOf)
    if (answers[0] !== null) break
  }
  return answers
}

function answerOf(outcome: RpcOutcome): RootAnswer {
  try {
    return contractAnswer(outcome) ?? null
  } catch (error) {
    if (error instanceof RpcFailure) return undefined
    throw error
  }
}
