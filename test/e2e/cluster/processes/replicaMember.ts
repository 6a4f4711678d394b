import { randomBytes } from 'node:crypto'
import { createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import { createChainClient } from '../../../../src/chain/client/chainClient.js'
import { createCommandLog } from '../../../../src/cluster/commandLog.js'
import { openNatsServers } from '../../../../src/cluster/nats/natsServers.js'
import type { NetworkConfig } from '../../../../src/config/config.types.js'
import { runSyncLoop } from '../../../../src/indexer/sync/syncLoop.js'
import { logSettingsOf } from '../../../../src/replica/logSettings.js'
import { runReplica } from '../../../../src/replica/runReplica.js'
import { systemClock } from '../../../../src/telemetry/clocks.js'
import { compileMerkleModule, createLogScanner } from '../../../../src/wasm/wasmModule.js'
import { noCommits } from '../../../support/commitWatches.js'
import { createKeepingLogger, quietReport } from '../../../support/keepingLogger.js'
import { openTestShard } from '../../../support/testShard.js'
import { MAX_LOG_BYTES } from '../natsProcesses.js'

/** What an instance tells its parent. */
export type ToldByMember =
  | { readonly type: 'leads' }
  /** Unix milliseconds, with fractions. */
  | { readonly type: 'stands'; readonly block: number; readonly atMs: number }

/**
 * One instance of a cluster: a network's shard of its own, which follows the log, and the real sync loop whenever it holds the lease. Ends
 * in order when its parent leaves. Arguments: folder, name, the network's configuration as JSON, addresses of the servers.
 */
const [, , folder, name, network, ...addresses] = process.argv
const settings = JSON.parse(network!) as NetworkConfig
const { networkId } = settings
const stop = new AbortController()
process.once('disconnect', () => stop.abort())
const tell = (told: ToldByMember): void => {
  if (process.connected) process.send!(told)
}

const { logger } = createKeepingLogger()
const servers = openNatsServers(
  { servers: addresses, name: name!, prefix: 'test', replicas: 3, maxLogBytes: MAX_LOG_BYTES },
  systemClock,
  logger,
)
const board = createStatusBoard([networkId])
const row = statusRow(board, networkId)
const { writer, close } = openTestShard(folder!, networkId, board)
const client = createChainClient({
  network: settings,
  logger,
  scanner: createLogScanner(compileMerkleModule()),
})
let stood: number | undefined
const apply: typeof writer.apply = (command, place) => {
  const outcome = writer.apply(command, place)
  const block = row.get('syncedBlock')
  const atMs = performance.timeOrigin + performance.now()
  if (block !== undefined && block !== stood) tell({ type: 'stands', block, atMs })
  stood = block
  return outcome
}
const own = logSettingsOf(settings, { keepEvents: 1_000_000 }, randomBytes(16))
try {
  await runReplica(
    {
      log: createCommandLog(await servers.openLogStream(own.networkId, stop.signal), systemClock),
      leases: await servers.openKeyBoard('leases', stop.signal),
      ...{
        writer: { ...writer, apply },
        row,
        settings: own,
        clock: systemClock,
        holder: `${name} ${process.pid}`,
      },
      newId: () => randomBytes(16),
      mayLead: true,
      lead: (term) => {
        tell({ type: 'leads' })
        const report = quietReport(networkId, term.row, systemClock, [])
        const indexedDeposits = () => new Map()
        const { proposer, signal } = term
        const common = {
          network: settings,
          client,
          writer,
          clock: systemClock,
          report,
          indexedDeposits,
          commits: noCommits,
        }
        return runSyncLoop({ ...common, proposer }, signal)
      },
    },
    stop.signal,
  )
} catch (error) {
  if (!stop.signal.aborted) throw error
} finally {
  client.close()
  await servers.close()
  await close()
}
