import { openHeadSocket } from '../../chain/rpc/headSocket.js'
import type { RpcEndpointConfig } from '../../config/config.types.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { Backoff } from '../backoff.js'

/** However many heads are announced, the next look at the chain is not sooner than after this time. */
const SHORTEST_WAIT_MS = 100
const RECONNECT = { baseMs: 1_000, capMs: 60_000 }

export interface HeadHintsOptions {
  /** Those with a `wsUrl` are subscribed to. */
  readonly endpoints: readonly RpcEndpointConfig[]
  readonly timeoutMs: number
  readonly clock: Clock
  readonly logger: Logger
  /** Opens a subscription; tests pass another one. */
  readonly open?: typeof openHeadSocket
}

interface Source {
  readonly alias: string
  readonly url: string
  readonly proxy: string | undefined
  readonly backoff: Backoff
}

/**
 * Subscribes to new heads over WebSocket. A head that is announced may end the wait until the next look at the chain, and does
 * nothing else: it is not trusted. If announcements lag, lie or stop, the looks come at their poll intervals as ever.
 */
export class HeadHints {
  readonly #options: HeadHintsOptions
  readonly #closing = new AbortController()
  readonly #sockets = new Map<string, () => void>()
  /** Hash of the last head that was announced since the last wait ended. */
  #announced: string | undefined
  #wake: (() => void) | undefined

  constructor(options: HeadHintsOptions) {
    this.#options = options
    for (const { alias, wsUrl, wsProxy } of options.endpoints)
      if (wsUrl !== undefined)
        this.#listen({ alias, url: wsUrl, proxy: wsProxy, backoff: new Backoff(options.clock, RECONNECT) })
  }

  /** True when a head other than `seen` was announced, and no wait has ended for it. */
  hasNews(seen: Hash | undefined): boolean {
    return this.#announced !== undefined && (seen === undefined || this.#announced !== encodeHex(seen))
  }

  /**
   * Rests for `ms`, or until a head other than `seen` is announced. Each announcement ends one wait only: so a node whose answers
   * lag behind its announcements is not asked again and again.
   * @returns whether one was announced.
   * @throws the signal's reason.
   */
  async rest(ms: number, seen: Hash | undefined, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options
    const hasSockets = this.#sockets.size > 0
    // Where nothing can be announced, one sleep will do: each end of one wakes the thread.
    await clock.sleep(hasSockets ? Math.min(ms, SHORTEST_WAIT_MS) : ms, signal)
    if (hasSockets && ms > SHORTEST_WAIT_MS && !this.hasNews(seen))
      await this.#restUntilAnnounced(ms - SHORTEST_WAIT_MS, seen, signal)
    const isAnnounced = this.hasNews(seen)
    this.#announced = undefined
    return isAnnounced
  }

  close(): void {
    this.#closing.abort()
    for (const close of this.#sockets.values()) close()
  }

  async #restUntilAnnounced(ms: number, seen: Hash | undefined, signal: AbortSignal): Promise<void> {
    // It may have been aborted as the first pause ended: no event tells that any more.
    signal.throwIfAborted()
    const waking = new AbortController()
    const stop = (): void => waking.abort()
    signal.addEventListener('abort', stop)
    this.#wake = () => {
      if (this.hasNews(seen)) waking.abort()
    }
    try {
      await this.#options.clock.sleep(ms, waking.signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!waking.signal.aborted) throw error
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
        if (!isRenewed) logger.info('subscribed to new heads over WebSocket', { endpoint: alias })
      },
      onHead: (blockHash) => {
        // Not at once: a gateway may end each connection after its first head.
        if (clock.now() - openedAtMs >= RECONNECT.capMs) backoff.reset()
        this.#announced = blockHash
        this.#wake?.()
      },
      onEnd: (reason) => {
        // Logged once for each outage: the service can do without.
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
