import { createStatusBoard, type StatusRow, statusRow } from '../../src/board/statusBoard.js'
import { type IndexerHandle, startIndexer } from '../../src/indexer/thread/indexer.js'
import { prepareStores } from '../../src/store/openStores.js'
import { compileMerkleModule } from '../../src/wasm/wasmModule.js'
import { benchConfig } from './benchConfig.js'
import { type BackfillCounts, type BenchNetwork, BLOCKS_LEFT_OUT, type ContenderTask } from './contenders.js'

/** How often a network's progress is checked. */
const LOOK_MS = 20

/**
 * Runs the indexer threads as the service does, until the history is stored, and every sender if the task asks for it.
 * @param entry file of other threads, namely those that decode with viem.
 */
export async function ourThreads(task: ContenderTask, entry?: URL): Promise<BackfillCounts> {
  const config = benchConfig(task)
  const status = createStatusBoard(config.networks.map(({ networkId }) => networkId))
  const compiled = compileMerkleModule()
  const guard = prepareStores(config)
  const counts = { deposits: 0, claims: 0 }
  await Promise.all(
    task.networks.map(async (network) => {
      const row = statusRow(status, network.networkId)
      const { networkId } = network
      const failure = { message: '' }
      const indexer = startIndexer({
        ...{ config, networkId, compiled, status },
        ...(entry === undefined ? {} : { entry }),
        onMessage: (message) => {
          if (message.type === 'halted' || message.type === 'died') failure.message = message.message
        },
      })
      await stored(network, row, indexer, failure, task.withSenders)
      counts.deposits += row.get('depositCount')
      counts.claims += row.get('claimCount')
      await indexer.stop()
    }),
  )
  await guard.close()
  return counts
}

async function stored(
  network: BenchNetwork,
  row: StatusRow,
  indexer: IndexerHandle,
  failure: { readonly message: string },
  withSenders: boolean,
): Promise<void> {
  const isOpen = () =>
    (row.get('syncedBlock') ?? 0) < network.lastBlock - BLOCKS_LEFT_OUT ||
    (withSenders && row.get('unresolvedSenders') > 0)
  while (isOpen()) {
    if (failure.message !== '') {
      await indexer.stop()
      throw new Error(`network ${network.networkId}: ${failure.message}`)
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
