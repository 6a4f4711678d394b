import type { NetworkConfig } from '../../config/config.types.js'
import { systemClock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { Endpoint } from '../endpoints/endpoint.js'

/** An endpoint as `bds doctor` asks it: alone, so that no failure makes it rest. @param position its place in the configuration. */
export function openEndpoint(network: NetworkConfig, position: number, logger: Logger): Endpoint {
  return new Endpoint({
    config: network.rpc[position]!,
    timeoutMs: network.rpcTimeoutMs,
    maxBodyBytes: network.rpcMaxResponseBytes,
    logRange: network.logRange,
    clock: systemClock,
    logger,
    isAlone: true,
  })
}
