import type { ChainClient } from '../chain/chainClient.types.js'
import { FatalError } from '../errors/chainErrors.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import { assertOrigin } from './origin.js'

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
