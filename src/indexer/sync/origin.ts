import type { ChainClient } from '../../chain/chainClient.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'

/**
 * Checks that this is the chain that the shard was made from. A test chain that was started anew has the same id and the same
 * contracts, but its blocks must not be mixed with the stored ones.
 * @param origin the shard's first block; undefined when it is not stored.
 * @throws FatalError `wrong_chain` when two reads, from two endpoints if possible, show another block.
 */
async function assertOrigin(
  client: Pick<ChainClient, 'getHeader' | 'distrust'>,
  origin: BlockHeader | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (origin === undefined) return
  const findOther = async (): Promise<BlockHeader | undefined> => {
    const known = await client.getHeader(origin.number, signal)
    return known === undefined || equalBytes(known.hash, origin.hash) ? undefined : known
  }
  if ((await findOther()) === undefined) return
  client.distrust()
  const other = await findOther()
  if (other === undefined) return
  throw new FatalError(
    `block ${origin.number} is ${encodeHex(other.hash)}, but this store was made from a chain where it is ${encodeHex(origin.hash)}: another chain of the same id, or one that was started anew. \`bds reindex\` reads it from the beginning`,
    { reason: 'wrong_chain' },
  )
}

/**
 * Checks that chain and contracts are those of the configuration, and that the store was made from this chain.
 * @throws FatalError when they are not, or when no endpoint can answer; RetryableError.
 */
export async function assertIdentity(
  client: Pick<ChainClient, 'verifyIdentity' | 'getHeader' | 'distrust'>,
  writer: Pick<ShardWriter, 'checkpoint' | 'origin'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.verifyIdentity(signal)
  } catch (error) {
    // The contracts were checked when the store was made: it may go on while no endpoint answers contract calls.
    const isUnanswered = error instanceof FatalError && error.reason === 'state_unavailable'
    if (!isUnanswered || writer.checkpoint() === undefined) throw error
  }
  await assertOrigin(client, writer.origin(), signal)
}
