import type { FakeWorld } from './fakeChain.js'

/**
 * Configuration file of the service for a fake world.
 * @param urls endpoints per network id. @param head lines before the first table, e.g. `data_dir = "…"`.
 */
export function tomlFor(
  world: FakeWorld,
  urls: ReadonlyMap<number, readonly string[]>,
  head: readonly string[],
  perNetwork: readonly string[] = [],
): string {
  const networks = [...urls].map(([networkId, endpoints]) => {
    const { chainId, contracts } = world.network(networkId)
    return [
      '[[networks]]',
      `network_id = ${networkId}`,
      `chain_id = ${chainId}`,
      `rpc = [${endpoints.map((url) => `"${url}"`).join(', ')}]`,
      `bridge = "${contracts.bridge}"`,
      `global_exit_root_manager = "${contracts.globalExitRootManager}"`,
      ...(networkId === 0 ? [`rollup_manager = "${contracts.rollupManager}"`] : []),
      'start_block = 0',
      'finality = "latest"',
      ...perNetwork,
    ]
  })
  return [head, ...networks].map((lines) => lines.join('\n')).join('\n\n')
}
