import type { ChainClient } from '../../chain/chainClient.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import { equalHashes } from '../localChain.js'

/**
 * Is this still the chain that the shard was made from? A test chain that was started anew has the same id and the same
 * contracts, and its blocks must not mix into ours.
 * @param origin the shard's first block; undefined where nothing is stored, or not this.
 * @throws FatalError `wrong_chain`, when two looks, by two endpoints where there are two, show another block.
 */
async function assertOrigin(
  client: Pick<ChainClient, 'getHeader' | 'distrust'>,
  origin: BlockHeader | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (origin === undefined) return
  const findOther = async (): Promise<BlockHeader | undefined> => {
    const known = await client.getHeader(origin.number, signal)
    return known === undefined || equalHashes(known.hash, origin.hash) ? undefined : known
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
 * Are chain and contracts those of the configuration, and is the chain the one that the store was made from?
 * @throws FatalError when they are not, or nobody can tell; RetryableError.
 */
export async function assertIdentity(
  client: Pick<ChainClient, 'verifyIdentity' | 'getHeader' | 'distrust'>,
  writer: Pick<ShardWriter, 'checkpoint' | 'origin'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.verifyIdentity(signal)
  } catch (error) {
    // The contracts that a store was made from were asked for their names then: it goes on while nobody answers for them.
    const isUntold = error instanceof FatalError && error.reason === 'state_unavailable'
    if (!isUntold || writer.checkpoint() === undefined) throw error
  }
  await assertOrigin(client, writer.origin(), signal)
}
