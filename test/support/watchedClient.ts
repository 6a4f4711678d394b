import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChainClient } from '../../src/chain/chainClient.types.js'
import type { NetworkConfig } from '../../src/config/config.types.js'
import type { FakeBlock, FakeNetwork } from './fakeChain.js'
import type { FakeEndpoint } from './fakeEndpoint.js'
import { openSimulated } from './simulatedPosts.js'
import { VirtualClock } from './virtualClock.js'

/** A call of the client, before its answer: the numbers in it, or how many things it asks for. */
export interface ClientCall {
  readonly method: keyof ChainClient
  readonly from: number
  readonly to: number
}

/**
 * The real chain client over one endpoint in memory. Tests may choose what each of its calls sees, and replace its methods: for
 * what no endpoint does wrong by itself.
 */
export interface WatchedClient extends ChainClient {
  readonly settings: NetworkConfig
  readonly endpoint: FakeEndpoint
  readonly calls: ClientCall[]
  callCount(method: keyof ChainClient): number
  /** May throw, wait or change the world. */
  before: (call: ClientCall) => void | Promise<void>
  /** The blocks that a call sees, with all requests that it makes. */
  view: (call: ClientCall) => readonly FakeBlock[]
  /**
   * From now on ranges lack the logs of the chosen blocks, as from a provider with holes, and no bloom shows them. Every other
   * answer is complete.
   */
  hideLogs(isHole: (block: FakeBlock, call: ClientCall) => boolean): void
  /** From now on no node finds the chosen transactions when it is asked for their senders. */
  hideTransactions(isHidden: (hash: string) => boolean): void
}

/** Methods that ask the chain. The others tell the client something, or say what it knows. */
const ASKS = /^(get|fetch|find|resolve|verify|check)/

export function createWatchedClient(
  network: FakeNetwork,
  clock: VirtualClock = new VirtualClock(),
  config: Partial<NetworkConfig> = {},
): WatchedClient {
  const { client, settings, endpoints } = openSimulated(network, clock, { config })
  const [endpoint] = endpoints
  const seen = new AsyncLocalStorage<readonly FakeBlock[]>()
  endpoint!.fail({ type: 'branch', blocks: () => seen.getStore() ?? network.blocks })
  const viewBy = (asking: keyof ChainClient, change: (block: FakeBlock, call: ClientCall) => FakeBlock) => {
    watched.view = (call) =>
      call.method === asking ? network.blocks.map((block) => change(block, call)) : network.blocks
  }
  const watched: WatchedClient = {
    ...client,
    settings,
    endpoint: endpoint!,
    calls: [],
    callCount: (method) => watched.calls.filter((call) => call.method === method).length,
    before: () => {},
    view: () => network.blocks,
    hideLogs(isHole) {
      endpoint!.fail({ type: 'zeroBloom' })
      viewBy('fetchRange', (block, call) => (isHole(block, call) ? { ...block, logs: [] } : block))
    },
    hideTransactions(isHidden) {
      viewBy('resolveSenders', ({ transactions, ...block }) => ({
        ...block,
        transactions: transactions.filter(({ hash }) => !isHidden(hash)),
      }))
    },
  }
  for (const [name, method] of Object.entries(client).filter(([name]) => ASKS.test(name))) {
    const ask = async (...args: readonly unknown[]): Promise<unknown> => {
      const [from = 0, to = from] = args.flatMap((arg) =>
        Array.isArray(arg) ? [arg.length] : typeof arg === 'number' ? [arg] : [],
      )
      const call = { method: name as keyof ChainClient, from, to }
      watched.calls.push(call)
      await watched.before(call)
      return seen.run(watched.view(call), () => (method as (...args: readonly unknown[]) => unknown)(...args))
    }
    Object.assign(watched, { [name]: ask })
  }
  return watched
}
