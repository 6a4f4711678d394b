import { once } from 'node:events'
import { createCommandLog } from '../../../../src/cluster/commandLog.js'
import { openHeadWriter, watchHeads } from '../../../../src/cluster/headBoard.js'
import { LEASE_TIMING, takeLease } from '../../../../src/cluster/lease.js'
import { openNatsServers } from '../../../../src/cluster/nats/natsServers.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { systemClock } from '../../../../src/telemetry/clocks.js'
import { BEGINNING, messagesOf, noteOf } from '../../../support/clusterContract.js'
import { createKeepingLogger } from '../../../support/keepingLogger.js'
import { MAX_LOG_BYTES } from '../natsProcesses.js'

/**
 * Uses everything there is, tells its parent, and closes when it is told to. It must then end by itself: nothing calls `process.exit`.
 * Arguments: addresses of the servers.
 */
const NETWORK = asNetworkId(1)
const stop = new AbortController()
const { signal } = stop
const servers = openNatsServers(
  {
    servers: process.argv.slice(2),
    name: 'closing',
    prefix: 'test',
    replicas: 3,
    maxLogBytes: MAX_LOG_BYTES,
  },
  systemClock,
  createKeepingLogger().logger,
)
const log = createCommandLog(await servers.openLogStream(NETWORK, signal), systemClock)
const leases = await servers.openKeyBoard('leases', signal)
const heads = await servers.openKeyBoard('heads', signal)
const lease = await takeLease(leases, String(NETWORK), 'closing', LEASE_TIMING, systemClock, signal)
openHeadWriter(heads, NETWORK, lease.term, systemClock, lease.ended).show(noteOf(1))
const first = await log.append(messagesOf('a', ['1']), BEGINNING, signal)
const reading = (async () => {
  for await (const { id } of log.read(BEGINNING, signal)) if (id === 'a.0') process.send?.('working')
})()
const watching = (async () => {
  for await (const { networkId } of watchHeads(heads, systemClock, signal)) if (networkId !== NETWORK) break
})()
if (first.type !== 'appended') throw new Error(first.type)
await once(process, 'message')
const appending = log.append(messagesOf('b', ['1']), first.last, signal)
await lease.release()
stop.abort()
await servers.close()
await Promise.all([reading, watching, appending])
process.disconnect?.()
