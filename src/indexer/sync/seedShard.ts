import type { ChainClient } from '../../chain/chainClient.types.js'
import type { NetworkConfig } from '../../config/config.types.js'
import { RetryableError } from '../../errors/chainErrors.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber } from '../../protocol/units.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import { makeBatch } from './batches.js'

export interface SeedOptions {
  readonly network: Pick<NetworkConfig, 'startBlock' | 'rollbackBlocks'>
  readonly client: Pick<ChainClient, 'getHeader' | 'fetchRange'>
  readonly proposer: Proposer
}

/**
 * Stores two headers below the first block in a new shard, so that a reorg of the first block has an ancestor: the header just below
 * it, and one as far down as reorgs are followed.
 * @throws RetryableError while the chain has not reached these blocks; what the client throws.
 */
export async function seedShard(
  { network, client, proposer }: SeedOptions,
  head: BlockHeader,
  signal: AbortSignal,
): Promise<void> {
  await proposeOrThrow(proposer, { type: 'noteCatchingUp', isCatchingUp: true })
  const last = Math.max(0, network.startBlock - 1)
  if (head.number < last) throw new RetryableError(`the head ${head.number} is below start_block ${last + 1}`)
  const first = Math.max(0, last - network.rollbackBlocks)
  let from = first
  for (const number of first === last ? [last] : [first, last]) {
    const header = await client.getHeader(asBlockNumber(number), signal)
    if (header === undefined) throw new RetryableError(`block ${number} is not known yet`)
    // Block 0 may have events of the chain's genesis; other blocks below start_block have none of ours.
    const range =
      network.startBlock === 0
        ? await client.fetchRange(asBlockNumber(0), asBlockNumber(0), signal)
        : { fromBlock: asBlockNumber(from), head: header, blocks: [] }
    const position = { head, finalizedBlock: asBlockNumber(0) }
    const batch = makeBatch(range, range.blocks, position, network.rollbackBlocks)
    await proposeOrThrow(proposer, { type: 'applyBlocks', batch })
    from = number + 1
  }
}
