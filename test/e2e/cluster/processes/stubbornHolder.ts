import { createCommandLog } from '../../../../src/cluster/commandLog.js'
import { LEASE_TIMING, takeLease } from '../../../../src/cluster/lease.js'
import { openNatsServers } from '../../../../src/cluster/nats/natsServers.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { systemClock } from '../../../../src/telemetry/clocks.js'
import { BEGINNING, messagesOf } from '../../../support/clusterContract.js'
import { createKeepingLogger } from '../../../support/keepingLogger.js'
import { MAX_LOG_BYTES } from '../natsProcesses.js'

/**
 * Takes the lease of network 1 and appends until something else than `appended` comes back, whatever has become of the lease. Tells its
 * parent of each command. Exit code 7: it was fenced. Arguments: addresses of the servers.
 */
const NETWORK = asNetworkId(1)
const signal = AbortSignal.timeout(120_000)
const servers = openNatsServers(
  {
    servers: process.argv.slice(2),
    name: 'stubborn',
    prefix: 'test',
    replicas: 3,
    maxLogBytes: MAX_LOG_BYTES,
  },
  systemClock,
  createKeepingLogger().logger,
)
const log = createCommandLog(await servers.openLogStream(NETWORK, signal), systemClock)
const board = await servers.openKeyBoard('leases', signal)
await takeLease(board, String(NETWORK), 'stubborn', LEASE_TIMING, systemClock, signal)
let last = BEGINNING
for (let command = 0; ; command++) {
  const outcome = await log.append(messagesOf(`stubborn-${command}`, ['x']), last, signal)
  if (outcome.type !== 'appended') {
    await servers.close()
    process.disconnect?.()
    process.exitCode = outcome.type === 'fenced' ? 7 : 8
    break
  }
  last = outcome.last
  process.send?.('appended')
}
