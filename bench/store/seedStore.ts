import type { Config } from '../../src/config/config.types.js'
import type { CompiledMerkle } from '../../src/merkle/wasm.js'
import type { IndexedBlock } from '../../src/protocol/chainEvent.js'
import { openShardWriter } from '../../src/shard/writer.js'
import { prepareStores } from '../../src/store/openStores.js'
import { createStatusBoard } from '../../src/telemetry/statusBoard.js'
import { BLOCK_DEPOSITS, SeededChains } from './seededChains.js'

const BLOCKS_PER_BATCH = 20

/**
 * Fills the stores of networks 0 and 1 of a configuration with `bridges` deposits, half on each (rounded up to whole
 * blocks), through the writers that the service uses: every root is checked as it is on real chains.
 * @returns deposits per network.
 */
export async function seedStore(config: Config, compiled: CompiledMerkle, bridges: number): Promise<number> {
  const status = createStatusBoard([0, 1])
  const guard = prepareStores(config)
  const writers = [0, 1].map((networkId) => openShardWriter({ config, networkId, compiled, status }))
  const rounds = Math.ceil(bridges / 2 / BLOCK_DEPOSITS)
  const chains = new SeededChains(compiled)
  const waiting: [IndexedBlock[], IndexedBlock[]] = [[], []]
  for (let round = 1; round <= rounds; round++) {
    const { layer1, layer2 } = chains.next()
    waiting[0].push(layer1)
    waiting[1].push(layer2)
    if (round % BLOCKS_PER_BATCH > 0 && round < rounds) continue
    for (const networkId of [0, 1] as const) {
      const blocks = waiting[networkId].splice(0)
      const { header } = blocks.at(-1)!
      writers[networkId]!.applyBlocks({
        fromBlock: blocks[0]!.header.number,
        head: header,
        blocks,
        finalizedBlock: header.number,
        undoFloor: header.number,
      })
    }
  }
  for (const writer of writers) await writer.close()
  await guard.close()
  return rounds * BLOCK_DEPOSITS
}
