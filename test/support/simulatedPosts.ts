import type { HttpAnswer, HttpPost } from '../../src/chain/rpc/httpPost.js'
import type { FakeEndpoint } from './fakeEndpoint.js'
import type { VirtualClock } from './virtualClock.js'

/**
 * Replaces HTTP: posts go to fake endpoints in memory, so that a run has no sockets and always the same order.
 * Time does not pass while an answer is on its way. A post to an endpoint that never answers fails after a virtual
 * minute.
 */
export class SimulatedPosts {
  /** Posts so far. */
  requests = 0
  /** Called before each post is answered. */
  onRequest: () => void = () => {}
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
  readonly open = ({ url }: { readonly url: string }): HttpPost => {
    const endpoint = this.#endpoints.get(url)
    if (!endpoint) throw new Error(`nothing is served at ${url}`)
    return (body, signal) => this.#post(endpoint, body, signal)
  }

  async #post(endpoint: FakeEndpoint, body: string, signal: AbortSignal): Promise<HttpAnswer> {
    this.requests++
    this.#inFlight++
    try {
      this.onRequest()
      signal.throwIfAborted()
      const answer = await endpoint.answer(body)
      if (answer === 'close') throw closed()
      if (answer === 'silent') return await this.#silence(signal)
      const { status, headers } = answer
      return { status, statusText: '', headers, body: Buffer.from(answer.body) }
    } finally {
      this.#inFlight--
    }
  }

  async #silence(signal: AbortSignal): Promise<never> {
    this.#inFlight--
    try {
      await this.#clock.sleep(60_000, signal)
    } finally {
      this.#inFlight++
    }
    throw closed()
  }
}

function closed(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}
