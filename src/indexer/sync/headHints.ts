import { openHeadSocket } from '../../chain/rpc/headSocket.js'
import type { RpcEndpointConfig } from '../../config/config.types.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { Backoff } from '../backoff.js'

/** However many heads are told, the next look at the chain is not sooner. */
const SHORTEST_WAIT_MS = 100
const RECONNECT = { baseMs: 1_000, capMs: 60_000 }

export interface HeadHintsOptions {
  /** Those with a `wsUrl` are listened to. */
  readonly endpoints: readonly RpcEndpointConfig[]
  readonly timeoutMs: number
  readonly clock: Clock
  readonly logger: Logger
  /** What listens; another one in tests. */
  readonly open?: typeof openHeadSocket
}

interface Source {
  readonly alias: string
  readonly url: string
  readonly proxy: string | undefined
  readonly backoff: Backoff
}

/**
 * New heads that nodes tell over WebSocket: each may end a wait between two looks at the chain, and does nothing else.
 * Nothing told here is believed; where it lags, lies or is silent the looks come at their poll intervals as ever.
 */
export class HeadHints {
  readonly #options: HeadHintsOptions
  readonly #closing = new AbortController()
  readonly #sockets = new Map<string, () => void>()
  /** Told since a wait was last cut short. */
  #told: string | undefined
  #wake: (() => void) | undefined

  constructor(options: HeadHintsOptions) {
    this.#options = options
    for (const { alias, wsUrl, wsProxy } of options.endpoints)
      if (wsUrl !== undefined)
        this.#listen({ alias, url: wsUrl, proxy: wsProxy, backoff: new Backoff(options.clock, RECONNECT) })
  }

  /** True when a head was told that is not `seen`, and no wait was cut short for it. */
  hasNews(seen: Hash | undefined): boolean {
    return this.#told !== undefined && (seen === undefined || this.#told !== encodeHex(seen))
  }

  /**
   * Rests for `ms`, or until a head other than `seen` is told. Each told head ends one wait: a node whose answers lag
   * behind its hints is not asked in a circle.
   * @throws the signal's reason.
   */
  async rest(ms: number, seen: Hash | undefined, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    await clock.sleep(Math.min(ms, SHORTEST_WAIT_MS), signal)
    if (ms > SHORTEST_WAIT_MS && !this.hasNews(seen))
      await this.#restUntilTold(ms - SHORTEST_WAIT_MS, seen, signal)
    this.#told = undefined
  }

  close(): void {
    this.#closing.abort()
    for (const close of this.#sockets.values()) close()
  }

  async #restUntilTold(ms: number, seen: Hash | undefined, signal: AbortSignal): Promise<void> {
    const told = new AbortController()
    const stop = (): void => told.abort()
    signal.addEventListener('abort', stop)
    this.#wake = () => {
      if (this.hasNews(seen)) told.abort()
    }
    try {
      await this.#options.clock.sleep(ms, told.signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!told.signal.aborted) throw error
    } finally {
      this.#wake = undefined
      signal.removeEventListener('abort', stop)
    }
  }

  #listen(source: Source, isRenewed = false): void {
    const { open = openHeadSocket, timeoutMs, clock, logger } = this.#options
    const { alias, url, proxy, backoff } = source
    const openedAtMs = clock.now()
    const close = open({
      url,
      proxy,
      timeoutMs,
      onSubscribed: () => {
        if (!isRenewed) logger.info('new heads are told over WebSocket', { endpoint: alias })
      },
      onHead: (blockHash) => {
        // Not by the first one: a gateway may end each connection behind it.
        if (clock.now() - openedAtMs >= RECONNECT.capMs) backoff.reset()
        this.#told = blockHash
        this.#wake?.()
      },
      onEnd: (reason) => {
        // Once for each outage: what the service does without is no news every minute.
        if (backoff.failures === 0)
          logger.warn('no new heads over WebSocket, polling goes on', { endpoint: alias, reason })
        this.#reconnect(source)
      },
      onAged: () => {
        if (!this.#closing.signal.aborted) this.#listen(source, true)
      },
    })
    this.#sockets.set(alias, close)
  }

  #reconnect(source: Source): void {
    const { signal } = this.#closing
    this.#options.clock.sleep(source.backoff.nextMs(), signal).then(
      () => this.#listen(source),
      () => undefined,
    )
  }
}
