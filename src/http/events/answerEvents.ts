import { createQueryParser, type QueryParser } from '../../api/parse/parseQuery.js'
import { streamRoutes } from '../../api/routes.js'
import type { Config } from '../../config/config.types.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import { type Answer, type Failure, failure, success } from '../../query/answers.js'
import type { EventsQuery } from '../../query/feed/eventsQuery.js'
import { networkNotServed } from '../../query/refusals.js'
import type { HttpMetrics } from '../../telemetry/frontCounts.js'
import { clientName } from '../limits/client.js'
import type { TrustedProxies } from '../limits/trustedProxies.js'
import { NO_STORE } from '../wire/cacheControl.js'
import type { Exchange, Outgoing } from '../wire/exchange.js'
import { HANDSHAKE_HEADERS, handshakeFault, isOwnOrigin } from '../wire/handshake.js'
import { headerLines } from '../wire/headers.js'
import type { AcceptSocket, SocketListener, WireRequest } from '../wire/wire.js'
import { type EventChannel, SocketChannel, streamChannel } from './eventChannels.js'
import { EventFilter } from './eventFilter.js'
import type { EventHub } from './eventHub.js'
import { EventStream } from './eventStream.js'
import { type FeedPositions, parsePositions } from './feedPositions.js'

export interface EventsAnswererOptions {
  readonly config: Pick<Config, 'feed' | 'http' | 'networks'>
  readonly proxies: Pick<TrustedProxies, 'clientOf'>
  readonly hub: EventHub
  readonly metrics: HttpMetrics
  readonly random: () => number
}

const STREAM_LINES = headerLines([
  ['Content-Type', 'text/event-stream'],
  // Proxies such as nginx hold an answer back until it ends, unless they are told not to.
  ['X-Accel-Buffering', 'no'],
])

const HEAD: Outgoing = {
  ...{ status: 200, body: '', cacheControl: NO_STORE, lines: '', bodyLines: STREAM_LINES, etag: '' },
}

interface ConnectionHandlers {
  /** The client has taken all that it was sent. */
  onDrained(): void
  /** The connection has ended. */
  onGone(): void
}

/** What a request asks for, and where it begins. */
interface Asked {
  readonly filter: EventFilter
  readonly positions: FeedPositions
}

const NO_POSITIONS: FeedPositions = new Map()
const RETRY_SEC = 5
/** Time that a client waits when its connection breaks. */
const BROKEN_RETRY_MS = 2_000

/** Answers requests for events, each with a connection that the hub fills. */
export class EventsAnswerer {
  readonly #options: EventsAnswererOptions
  readonly #served: readonly NetworkId[]
  readonly #parse: QueryParser<EventsQuery>
  readonly #byClient = new Map<string, number>()

  constructor(options: EventsAnswererOptions) {
    const { networks } = options.config
    this.#options = options
    this.#served = networks.map(({ networkId }) => asNetworkId(networkId))
    this.#parse = createQueryParser(streamRoutes.getEvents, new Set(this.#served))
  }

  /** @param lastEventId the request's `Last-Event-ID`, '' for none. */
  answer(
    exchange: Exchange,
    request: WireRequest,
    rawQuery: string,
    lastEventId: string,
    isHead: boolean,
  ): void {
    const asked = this.#read(rawQuery, lastEventId)
    if (!asked.ok) exchange.refuse(asked)
    else if (isHead) exchange.send(HEAD)
    else {
      const client = clientName(this.#options.proxies.clientOf(exchange.peerAddress(), request))
      const refusal = this.#limitReached(client, exchange)
      if (refusal === undefined)
        this.#begin(client, asked.value, ({ onDrained, onGone }) => {
          const wire = exchange.stream(STREAM_LINES, `retry: ${BROKEN_RETRY_MS}\n\n`, onGone)
          wire.onWritable(() => {
            onDrained()
            return true
          })
          return streamChannel(wire)
        })
      else exchange.refuse(refusal)
    }
  }

  /** @param accept undefined for a request that can't become a WebSocket. */
  upgrade(
    exchange: Exchange,
    request: WireRequest,
    rawQuery: string,
    accept: AcceptSocket | undefined,
  ): void {
    const fault = handshakeFault(request)
    if (fault !== undefined || accept === undefined) {
      exchange.refuse(
        failure('UPGRADE_REQUIRED', fault ?? 'only WebSockets are served here'),
        HANDSHAKE_HEADERS,
      )
      return
    }
    const asked = this.#read(rawQuery, '')
    if (!asked.ok) {
      exchange.refuse(asked)
      return
    }
    const client = clientName(this.#options.proxies.clientOf(exchange.peerAddress(), request))
    const refusal = this.#foreign(request) ?? this.#limitReached(client, exchange)
    if (refusal !== undefined) {
      exchange.refuse(refusal)
      return
    }
    exchange.upgrade(() =>
      this.#begin(client, asked.value, ({ onDrained, onGone }) => {
        const onReceived: SocketListener['onReceived'] = (kind) => channel.received(kind)
        const channel = new SocketChannel(accept({ onDrained, onReceived, onGone }))
        return channel
      }),
    )
  }

  /** A WebSocket is open to the scripts of every page, unlike other answers: no browser asks who may read it. */
  #foreign(request: WireRequest): Failure | undefined {
    const { cors } = this.#options.config.http
    const origin = request.getHeader('origin')
    if (cors === '*' || origin === '') return undefined
    if (cors === 'off' ? isOwnOrigin(origin, request.getHeader('host')) : origin === cors) return undefined
    const allowed = cors === 'off' ? 'this address' : cors
    return failure('INVALID_PARAMETER', `pages of ${allowed} alone may get events (http.cors)`)
  }

  #read(rawQuery: string, lastEventId: string): Answer<Asked> {
    const parsed = this.#parse(rawQuery)
    if (!parsed.ok) return parsed
    const { query } = parsed.value
    const unknown = query.networkIds?.find((networkId) => !this.#served.includes(networkId))
    if (unknown !== undefined) return networkNotServed(unknown)
    const place = lastEventId === '' ? query.after : lastEventId
    const after = place === undefined ? NO_POSITIONS : parsePositions(place)
    if (after === undefined)
      return failure(
        'INVALID_PARAMETER',
        `${lastEventId === '' ? 'after' : 'Last-Event-ID'} is not a position that this service gave`,
      )
    const filter = new EventFilter(query, this.#served)
    const positions = this.#options.hub.begin(filter, after)
    return 'ok' in positions ? positions : success({ filter, positions })
  }

  #limitReached(client: string, { isEnding }: Exchange): Failure | undefined {
    const { hub, config } = this.#options
    const { maxReaders, maxReadersPerClient } = config.feed
    // A connection of an address that has more than its share is to end with its answer, which a stream's never would.
    if (isEnding || hub.isClosed || hub.size >= maxReaders)
      return failure('SERVICE_UNAVAILABLE', 'too many connections get events', RETRY_SEC)
    const count = this.#byClient.get(client) ?? 0
    if (count < maxReadersPerClient) return undefined
    const message = `${count} connections of this client get events, at most ${maxReadersPerClient} may`
    return failure('RATE_LIMIT_EXCEEDED', message, RETRY_SEC)
  }

  /** @param open makes the connection one that gets events, and has the handlers called. */
  #begin(
    client: string,
    { filter, positions }: Asked,
    open: (handlers: ConnectionHandlers) => EventChannel,
  ): void {
    const { hub, metrics, random, config } = this.#options
    const { maxBufferBytes } = config.feed
    this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + 1)
    let stream: EventStream | undefined
    let hasLeft = false
    const leave = (): void => {
      if (!hasLeft) this.#left(client)
      hasLeft = true
    }
    const onGone = (): void => {
      leave()
      if (stream === undefined) return
      stream.gone()
      hub.remove(stream)
    }
    let channel: EventChannel
    try {
      channel = open({ onDrained: () => stream?.flush(), onGone })
    } catch (error) {
      leave()
      throw error
    }
    if (hasLeft) return
    stream = new EventStream({
      ...{ filter, channel, maxBufferBytes, random },
      onDrained: () => hub.drained(stream!),
      onCut: () => metrics.slowReaderCut('buffer'),
      onEnd: leave,
    })
    stream.ping(hub.add(stream, positions))
  }

  #left(client: string): void {
    const count = this.#byClient.get(client)! - 1
    if (count > 0) this.#byClient.set(client, count)
    else this.#byClient.delete(client)
  }
}
