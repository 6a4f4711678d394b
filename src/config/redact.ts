import type { Config } from './config.types.js'

const HIDDEN = '[redacted]'

/** The configuration without its secrets. Only this form may be logged or printed. */
export function redacted(config: Config): Config {
  return {
    ...config,
    networks: config.networks.map((network) => ({
      ...network,
      rpc: network.rpc.map((endpoint) => ({
        ...endpoint,
        url: HIDDEN,
        ...(endpoint.wsUrl === undefined ? {} : { wsUrl: HIDDEN }),
        ...(endpoint.proxy === undefined ? {} : { proxy: HIDDEN }),
        ...(endpoint.wsProxy === undefined ? {} : { wsProxy: HIDDEN }),
      })),
    })),
  }
}
