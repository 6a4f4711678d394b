import { type ChainClientOptions, createChainClient } from '../../src/chain/client/chainClient.js'
import {
  type HttpAnswer,
  type HttpPost,
  type HttpPostOptions,
  HttpTimeout,
} from '../../src/chain/rpc/httpPost.js'
import type { NetworkConfig, RpcEndpointConfig } from '../../src/config/config.types.js'
import type { FakeNetwork } from './fakeChain.js'
import { FakeEndpoint } from './fakeEndpoint.js'
import { createKeepingLogger } from './keepingLogger.js'
import type { VirtualClock } from './virtualClock.js'

interface SimulatedOptions extends Pick<ChainClientOptions, 'scanner'> {
  readonly endpoints?: number
  readonly config?: Partial<NetworkConfig>
  /** Roles and limits, endpoint by endpoint. */
  readonly rpc?: readonly Partial<RpcEndpointConfig>[]
}

/** The real chain client of a network, over endpoints in memory and in virtual time. */
export function openSimulated(
  network: FakeNetwork,
  clock: VirtualClock,
  { endpoints: count = 1, config, rpc, ...options }: SimulatedOptions = {},
) {
  const posts = new SimulatedPosts(clock)
  const endpoints = Array.from({ length: count }, () => new FakeEndpoint(network))
  const plain = network.config(
    endpoints.map((endpoint) => posts.serve(endpoint)),
    config,
  )
  const settings = { ...plain, rpc: plain.rpc.map((each, i) => ({ ...each, ...rpc?.[i] })) }
  const { logger, lines } = createKeepingLogger()
  const client = createChainClient({ network: settings, logger, clock, openPost: posts.open, ...options })
  return { client, settings, endpoints, posts, lines }
}

/**
 * Replaces HTTP: posts go to fake endpoints in memory, so that a run has no sockets and always the same order.
 * Time does not pass while an answer is on its way. A post to an endpoint that never answers fails after
 * its time-out, in virtual time.
 */
export class SimulatedPosts {
  /** Posts so far. */
  requests = 0
  /** Called before each post is answered. */
  onRequest: () => void = () => {}
  /** Time until an answer with a status of 5xx. */
  errorMs = 0
  readonly #endpoints = new Map<string, FakeEndpoint>()
  readonly #clock: VirtualClock
  #inFlight = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
    clock.busy = () => this.#inFlight > 0
  }

  /** @returns the URL under which the endpoint answers. */
  serve(endpoint: FakeEndpoint): string {
    const url = `http://endpoint-${this.#endpoints.size}.simulation/`
    this.#endpoints.set(url, endpoint)
    return url
  }

  /** The post function for the chain client. */
  readonly open = ({ url, timeoutMs }: Pick<HttpPostOptions, 'url' | 'timeoutMs'>): HttpPost => {
    const endpoint = this.#endpoints.get(url)
    if (!endpoint) throw new Error(`nothing is served at ${url}`)
    return (body, signal) => this.#post(endpoint, body, timeoutMs, signal)
  }

  async #post(
    endpoint: FakeEndpoint,
    body: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    this.requests++
    this.onRequest()
    signal.throwIfAborted()
    this.#inFlight++
    const answer = await endpoint.answer(body).finally(() => this.#inFlight--)
    if (answer === 'silent') {
      await this.#clock.sleep(timeoutMs, signal)
      throw new HttpTimeout()
    }
    if (typeof answer === 'string') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    const { status, headers } = answer
    if (status >= 500 && this.errorMs > 0) await this.#clock.sleep(this.errorMs, signal)
    return { status, statusText: '', headers, body: Buffer.from(answer.body) }
  }
}
