import { hideAddress, showName } from '../telemetry/secrets.js'
import type { Config } from './config.types.js'

/** From now on this thread shows no path, query, user or password of any address in the configuration, proxies included. */
export function hideAddresses({ networks }: Pick<Config, 'networks'>): void {
  for (const { rpc } of networks) for (const { alias } of rpc) showName(alias)
  for (const { rpc } of networks)
    for (const { url, wsUrl, proxy, wsProxy } of rpc)
      for (const address of [url, wsUrl, proxy, wsProxy]) if (address !== undefined) hideAddress(address)
}
