import { createStatusBoard, type StatusBoardHandle } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import type { IndexedBlock } from '../../src/protocol/chainEvent.js'
import { applyOrThrow } from '../../src/shard/applyOrThrow.js'
import { openShardWriter } from '../../src/shard/write/writer.js'
import { prepareStores } from '../../src/store/openStores.js'
import type { CompiledMerkle } from '../../src/wasm/wasmModule.js'
import type { Listener } from '../query/buildStores.js'
import { BLOCK_DEPOSITS, SERVED, type Traffic } from '../query/traffic.js'

const DEPOSITS_PER_BATCH = 2_000

/** The writers of all networks, fed by the traffic. */
export class TrafficWriter {
  private readonly writers
  private readonly traffic: Traffic
  private readonly listener: Listener | undefined

  constructor(
    config: Config,
    compiled: CompiledMerkle,
    status: StatusBoardHandle,
    traffic: Traffic,
    listener?: Listener,
  ) {
    this.traffic = traffic
    this.listener = listener
    this.writers = new Map(
      SERVED.map((networkId) => [
        networkId as number,
        openShardWriter({ config, networkId, compiled, status }),
      ]),
    )
  }

  /** Takes the first `deposits` deposits from the traffic without writing them: the stores have them already. */
  skipTo(deposits: number): void {
    while (this.traffic.depositCount < deposits) this.traffic.next()
  }

  /** One window of backfill on every network. */
  writeBatch(): void {
    const waiting = new Map<number, IndexedBlock[]>(SERVED.map((id) => [id as number, []]))
    for (let step = 0; step < DEPOSITS_PER_BATCH / BLOCK_DEPOSITS; step++)
      for (const [networkId, block] of this.traffic.next().blocks) waiting.get(networkId)!.push(block)
    for (const [networkId, blocks] of waiting) {
      const head = blocks.at(-1)?.header
      if (head === undefined) continue
      this.listener?.add(networkId, blocks)
      const batch = {
        fromBlock: blocks[0]!.header.number,
        head,
        blocks,
        finalizedBlock: head.number,
        undoFloor: head.number,
      }
      applyOrThrow(this.writers.get(networkId)!, { type: 'applyBlocks', batch })
    }
  }

  async close(): Promise<void> {
    for (const writer of this.writers.values()) await writer.close()
  }
}

/** The next number of deposits, from `bridges` up, that fills whole batches. */
export function wholeBatches(bridges: number): number {
  return Math.ceil(bridges / DEPOSITS_PER_BATCH) * DEPOSITS_PER_BATCH
}

/**
 * Fills the stores of a configuration with the first deposits of the traffic, and their claims, through the writers that the
 * service uses: every root is checked as it is on real chains.
 * @param deposits of whole batches.
 */
export async function seedStores(
  config: Config,
  compiled: CompiledMerkle,
  traffic: Traffic,
  deposits: number,
  listener: Listener | undefined,
): Promise<void> {
  const guard = prepareStores(config)
  const writer = new TrafficWriter(config, compiled, createStatusBoard([...SERVED]), traffic, listener)
  while (traffic.depositCount < deposits) writer.writeBatch()
  await writer.close()
  await guard.close()
}
