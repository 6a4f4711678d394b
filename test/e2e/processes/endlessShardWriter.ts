import { RandomChain } from '../../support/randomChain.js'
import { batchOf, openTestShard } from '../../support/testShard.js'

/**
 * Writes the chain of a seed into a shard, from its checkpoint on, block by block with occasional reorgs, until it
 * is killed.
 */
const [, , folder, seed, blocks] = process.argv
const chain = new RandomChain(Number(seed))
for (let count = 0; count < Number(blocks); count++) chain.grow(6)
const { writer } = openTestShard(folder!, 1)
const step = (): void => {
  const done = writer.checkpoint()?.number ?? 0
  const next = chain.blocks[done]
  if (next === undefined) writer.revertTo(chain.blocks[3]!.header.number)
  else writer.applyBlocks(batchOf([next]))
  process.send!(writer.checkpoint()!.number, undefined, {}, step)
}
step()
