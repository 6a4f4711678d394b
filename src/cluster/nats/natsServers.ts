import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import type { ClusterServers, ServerAccess } from '../clusterServers.js'
import { Patience } from '../patience.js'
import { openNatsKeyBoard } from './natsKeyBoard.js'
import { NatsLink } from './natsLink.js'
import { type LogSettings, openNatsLogStream } from './natsLogStream.js'
import { openNatsObjectStore } from './natsObjectStore.js'

export interface NatsSettings extends LogSettings {
  /** `host:port` of each server. */
  readonly servers: readonly string[]
  /** Of this instance, for the servers' lists of connections. */
  readonly name: string
  readonly access?: ServerAccess
}

/**
 * Logs and boards on NATS JetStream, over one connection. Asks no server yet.
 * @throws OperatorError if a server is not given as `host:port`.
 */
export function openNatsServers(settings: NatsSettings, clock: Clock, logger: Logger): ClusterServers {
  const { servers, name, prefix, replicas, access } = settings
  const link = new NatsLink(servers, name, clock, logger, access)
  const opened = async <T>(signal: AbortSignal, open: () => Promise<T>): Promise<T> => {
    const patience = new Patience(clock, signal)
    for (;;) {
      const result = await patience.tryOnce(open)
      if (result !== undefined) return result
    }
  }
  return {
    openLogStream: (networkId, signal) =>
      opened(signal, () => openNatsLogStream(link, networkId, settings, signal)),
    openKeyBoard: (board, signal) =>
      opened(signal, () => openNatsKeyBoard(link, `${prefix}-${board}`, replicas, signal)),
    openObjectStore: (signal) =>
      opened(signal, () => openNatsObjectStore(link, `${prefix}-snapshots`, replicas, signal)),
    close: () => link.close(),
  }
}
