import type { ChainClient } from '../../src/chain/chainClient.types.js'
import { createChainClient } from '../../src/chain/client/chainClient.js'
import type { NetworkConfig, RpcEndpointConfig } from '../../src/config/config.types.js'
import type { LogScanner } from '../../src/events/packedLogs.js'
import type { FakeNetwork } from './fakeChain.js'
import { FakeClock } from './fakeClock.js'
import type { FakeEndpoint } from './fakeEndpoint.js'
import { serveFakeNetwork } from './fakeRpcServer.js'
import { createKeepingLogger, type KeptLine } from './keepingLogger.js'

/** A chain client with endpoints of its own and a clock that jumps over every wait. */
export interface OpenChain {
  readonly client: ChainClient
  readonly endpoints: readonly FakeEndpoint[]
  readonly clock: FakeClock
  readonly lines: readonly KeptLine[]
  close(): Promise<void>
}

export async function openChain(
  network: FakeNetwork,
  options: {
    readonly endpoints?: number
    readonly config?: Partial<NetworkConfig>
    /** Weights and roles, endpoint by endpoint. */
    readonly rpc?: readonly Partial<RpcEndpointConfig>[]
    readonly scanner?: LogScanner
  } = {},
): Promise<OpenChain> {
  const count = options.endpoints ?? 1
  const servers = await Promise.all(Array.from({ length: count }, () => serveFakeNetwork(network)))
  const clock = new FakeClock()
  const { logger, lines } = createKeepingLogger()
  const plain = network.config(
    servers.map(({ url }) => url),
    options.config,
  )
  const config = { ...plain, rpc: plain.rpc.map((each, i) => ({ ...each, ...options.rpc?.[i] })) }
  const client = createChainClient({
    ...{ network: config, logger, clock },
    ...(options.scanner === undefined ? {} : { scanner: options.scanner }),
  })
  return {
    client,
    endpoints: servers.map(({ endpoint }) => endpoint),
    clock,
    lines,
    async close() {
      client.close()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}
