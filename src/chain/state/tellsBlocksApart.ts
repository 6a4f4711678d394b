import { encodeHex } from '../../protocol/hex.js'
import type { StateWitness } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { readHead } from '../endpoints/readBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcOutcome } from '../rpc/rpcTransport.js'
import { contractAnswer, contractCall, type StateBlock } from './contractCall.js'
import { rootGetters } from './contractReads.js'

/** No block has it. */
export const NO_BLOCK_HASH = `0x${'ee'.repeat(32)}`

/** An answer, `null` for the contract's own no, undefined where the endpoint would not say. */
type Told = string | null | undefined

/**
 * Does the endpoint tell the state of the block that it is asked for? Some gateways take any block and tell the newest state.
 *
 * Where the exit root is known to have changed below the block, the two roots must differ. Where that state is no longer
 * kept, the block is asked for by its hash, and by one that no block has (EIP-1898). Where hashes are not taken, the answer
 * counts if the block is the endpoint's newest: then there is no other state that it might have told.
 * @returns undefined when none of that shows it. @throws RpcFailure when the endpoint does not answer.
 */
export async function tellsBlocksApart(
  bridge: string,
  { block, before, isChanged }: StateWitness,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const ask = (blocks: readonly StateBlock[]) => askRoots(bridge, blocks, endpoint, signal)
  if (before !== undefined) {
    const [now, then] = await ask([block.number, before])
    // A bridge that tells no root at all says nothing of the endpoint.
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

/** The bridge's exit root at each block, by the getter that it has at the first one. One batch: one backend answers it. */
async function askRoots(
  bridge: string,
  blocks: readonly StateBlock[],
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Told[]> {
  let told: Told[] = []
  for (const getter of rootGetters) {
    const outcomes = await endpoint.callAll(
      blocks.map((at) => contractCall(bridge, getter, at)),
      signal,
    )
    told = outcomes.map(toldBy)
    if (told[0] !== null) break
  }
  return told
}

function toldBy(outcome: RpcOutcome): Told {
  try {
    return contractAnswer(outcome) ?? null
  } catch (error) {
    if (error instanceof RpcFailure) return undefined
    throw error
  }
}
