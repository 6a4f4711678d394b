import type { Config } from '../../src/config/config.types.js'
import { type CompiledMerkle, createHasher } from '../../src/merkle/wasm.js'
import type { IndexedBlock } from '../../src/protocol/chainEvent.js'
import { openShardWriter } from '../../src/shard/writer.js'
import { prepareStores } from '../../src/store/openStores.js'
import { createStatusBoard, type StatusBoardHandle } from '../../src/telemetry/statusBoard.js'
import { cpuMs } from '../micro/race.js'
import { BLOCK_DEPOSITS, SERVED, Traffic } from './traffic.js'

/** A window of backfill. */
const DEPOSITS_PER_BATCH = 5_000

/** Who else wants to know what is stored. */
export interface Listener {
  add(networkId: number, blocks: readonly IndexedBlock[]): void
}

export interface BuiltStores {
  readonly traffic: Traffic
  readonly status: StatusBoardHandle
  /** Deposits of network 0 through its writer, per second: CPU time, and wall time with its commits. */
  readonly depositsPerCpuSecond: number
  readonly depositsPerSecond: number
  readonly claims: number
  claimsOn(networkId: number): number
  close(): Promise<void>
}

/**
 * Fills the stores of a configuration with `bridges` deposits of network 0 and their claims, through the writers that the
 * service uses: rows, lists, trees and roots are checked as they are on real chains.
 */
export function buildStores(
  config: Config,
  compiled: CompiledMerkle,
  bridges: number,
  listener: Listener,
): BuiltStores {
  const status = createStatusBoard([...SERVED])
  const guard = prepareStores(config)
  const writers = new Map(
    SERVED.map((networkId) => [
      networkId as number,
      openShardWriter({ config, networkId, compiled, status }),
    ]),
  )
  const traffic = new Traffic(createHasher(compiled), bridges)
  const waiting = new Map<number, IndexedBlock[]>(SERVED.map((id) => [id as number, []]))
  let cpu = 0
  let wall = 0
  const apply = (networkId: number): void => {
    const blocks = waiting.get(networkId)!.splice(0)
    const head = blocks.at(-1)?.header
    if (head === undefined) return
    listener.add(networkId, blocks)
    const cpuBefore = cpuMs()
    const wallBefore = performance.now()
    writers.get(networkId)!.applyBlocks({
      fromBlock: blocks[0]!.header.number,
      head,
      blocks,
      finalizedBlock: head.number,
      undoFloor: head.number,
    })
    if (networkId !== 0) return
    cpu += cpuMs() - cpuBefore
    wall += performance.now() - wallBefore
  }
  for (let steps = 1; !traffic.isDone; steps++) {
    for (const [networkId, block] of traffic.next().blocks) waiting.get(networkId)!.push(block)
    if (steps % (DEPOSITS_PER_BATCH / BLOCK_DEPOSITS) === 0) for (const networkId of SERVED) apply(networkId)
  }
  for (const networkId of SERVED) apply(networkId)
  const claimCounts = new Map<number, number>(
    SERVED.map((networkId) => [networkId, writers.get(networkId)!.counts().claims]),
  )
  return {
    traffic,
    status,
    depositsPerCpuSecond: (1000 * bridges) / cpu,
    depositsPerSecond: (1000 * bridges) / wall,
    claims: [...claimCounts.values()].reduce((sum, count) => sum + count, 0),
    claimsOn: (networkId) => claimCounts.get(networkId)!,
    async close() {
      for (const writer of writers.values()) await writer.close()
      await guard.close()
    },
  }
}
