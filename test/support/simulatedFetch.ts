import type { FakeEndpoint } from './fakeEndpoint.js'
import type { VirtualClock } from './virtualClock.js'

/**
 * Stands in for `fetch`: requests go to fake endpoints in memory, so that a run has no sockets and no order of its own.
 * Time stands still while an answer is on its way; an endpoint that never answers fails after a virtual minute.
 */
export class SimulatedFetch {
  /** HTTP requests so far. */
  requests = 0
  /** Called before each request is answered. */
  onRequest: () => void = () => {}
  readonly #endpoints = new Map<string, FakeEndpoint>()
  readonly #clock: VirtualClock
  readonly #real = globalThis.fetch
  #inFlight = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
    clock.busy = () => this.#inFlight > 0
    globalThis.fetch = (input, init) => this.#fetch(String(input), init)
  }

  /** @returns the URL under which the endpoint answers. */
  serve(endpoint: FakeEndpoint): string {
    const url = `http://endpoint-${this.#endpoints.size}.simulation/`
    this.#endpoints.set(url, endpoint)
    return url
  }

  /** Puts the real `fetch` back. */
  restore(): void {
    globalThis.fetch = this.#real
  }

  async #fetch(url: string, init: RequestInit | undefined): Promise<Response> {
    const endpoint = this.#endpoints.get(url)
    if (!endpoint) throw new Error(`nothing is served at ${url}`)
    this.requests++
    this.#inFlight++
    try {
      this.onRequest()
      init?.signal?.throwIfAborted()
      const answer = await endpoint.answer(String(init?.body))
      if (answer === 'close') throw new TypeError('fetch failed')
      if (answer === 'silent') return await this.#silence(init?.signal ?? undefined)
      return new Response(answer.body, { status: answer.status, headers: answer.headers })
    } finally {
      this.#inFlight--
    }
  }

  async #silence(signal: AbortSignal | undefined): Promise<never> {
    this.#inFlight--
    try {
      await this.#clock.sleep(60_000, signal ?? new AbortController().signal)
    } finally {
      this.#inFlight++
    }
    throw new TypeError('fetch failed')
  }
}
