import { setTimeout as delay } from 'node:timers/promises'
import type { StatusBoardHandle } from '../board/statusBoard.js'
import { createVersionReader } from '../board/version.js'
import type { Config, RateLimitConfig } from '../config/config.types.js'
import type { HealthSource } from '../health/healthSource.types.js'
import type { QueryPool } from '../pool/queryPool.js'
import { failure } from '../query/answers.js'
import type { NetworksRecord } from '../query/healthRecords.js'
import { startPulse } from '../telemetry/clocks.js'
import type { HttpMetrics } from '../telemetry/frontCounts.js'
import { type Logger, requestLinesReader } from '../telemetry/logger.js'
import { openFiles } from '../telemetry/openFiles.js'
import { createQueryParsers } from './answerQuery.js'
import { AnswerCache, type CacheStats } from './cache.js'
import { type DialectName, dialectPorts, speakDialects } from './dialectTargets.js'
import { staticDocuments } from './docsPage.js'
import { EventsAnswerer } from './events/answerEvents.js'
import { EventHub } from './events/eventHub.js'
import { createPositionReader } from './events/feedPositions.js'
import { explorerPage } from './explorerPage.js'
import { createGetHandler, createRequestHandler, type RequestHandlerOptions } from './handleRequest.js'
import { Connections } from './limits/connections.js'
import { AddressRanges } from './limits/ipAddress.js'
import { RateGate } from './limits/rateGate.js'
import { TrustedProxies } from './limits/trustedProxies.js'
import { ReadyHeads } from './readyHeads.js'
import { RequestLog } from './requestLog.js'
import { Sequences } from './sequences.js'
import { createTargets } from './targets.js'
import { createExchangeContext, type ExchangeContext } from './wire/exchange.js'
import { corsHeaders, VARY_LINE } from './wire/headers.js'
import type { OpenPort, RequestHandler, Transport } from './wire/wire.js'

export interface HttpServerOptions {
  readonly config: Config
  readonly pool: Pick<QueryPool, 'submit'>
  readonly status: StatusBoardHandle
  readonly health: HealthSource
  readonly networks: NetworksRecord
  readonly logger: Logger
  readonly metrics: HttpMetrics
  readonly transport: Transport
  /** Threads of this process that serve the same port; default 1. */
  readonly cells?: number
  /** Descriptors of the process before any of its ports had connections; default: those that are open now. */
  readonly otherFiles?: number | undefined
  /** Default `Math.random`; tests pass a known sequence. */
  readonly random?: () => number
}

export interface HttpServer {
  readonly port: number
  /** Ports on which one dialect is answered alone. */
  readonly dialectPorts: ReadonlyMap<DialectName, number>
  /** `pending`: requests without an answer yet. `sending`: answers that are not out yet, as they are long or clients are slow. */
  stats(): {
    readonly pending: number
    readonly sending: number
    readonly connections: number
    readonly cache: CacheStats
  }
  /**
   * Goes on answering for `delayMs`, so that balancers notice that readiness fails. Then closes each connection with its next
   * answer, and closes the server when no request comes any more. A second call returns the first one's promise.
   */
  drain(delayMs: number): Promise<void>
  /** Closes the port and every connection at once. */
  cut(): void
  /** From now on these limits are in force; buckets are full. */
  setRateLimit(rateLimit: RateLimitConfig): void
}

/** Time between two looks for late requests, while there are any: one is answered 504 at most this long after its deadline. */
const SWEEP_MS = 100

/** An answer that a client has not taken whole after this long is cut off. Clients that take nothing for 10 s are cut off by the transport. */
const MAX_SENDING_MS = 60_000

/** A server that closes waits until no request has come for this long. */
const QUIET_MS = 300

/**
 * Starts the API's server on this thread.
 * @throws OperatorError when the port can't be had.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { config, transport, cells = 1, pool, status, health, logger, metrics } = options
  const { otherFiles = openFiles() } = options
  const proxies = new TrustedProxies(config.rateLimit.trustedProxies)
  const requestLog = new RequestLog(requestLinesReader(config.log), proxies, logger)
  const context = createExchangeContext({
    cors: corsHeaders(config.http.cors),
    logger,
    metrics,
    logRequest: requestLog.write,
    random: options.random ?? Math.random,
    traits: transport,
  })
  let unlimited = new AddressRanges(config.rateLimit.allow)
  // Proxies, too: they have all of their clients' connections.
  const isExempt: AddressRanges['has'] = (address) => proxies.has(address) || unlimited.has(address)
  const connections = createConnections(config.http, cells, metrics, isExempt)
  const cache = new AnswerCache(config.http.cacheBytes)
  const readVersion = createVersionReader(status)
  const explorer = explorerPage(config, logger)
  const hasKeys = config.rateLimit.apiKeys.length > 0
  const documents = [...staticDocuments(config.http.compress, hasKeys), ...explorer.files]
  const spoken = speakDialects(config, health)
  const targets = new Map([
    ...createTargets(health, documents, readVersion, options.networks),
    ...spoken.targets,
  ])
  const hub = new EventHub({ status, pool, logger, countAnswers: () => context.answers })
  const handling: RequestHandlerOptions & { gate: RateGate | undefined } = {
    context,
    targets,
    findPage: (path) => explorer.find(path) ?? spoken.findWithValue(path),
    findSpelling: spoken.findSpelling,
    queryContext: {
      parsers: createQueryParsers(new Set(config.networks.map(({ networkId }) => networkId))),
      cache,
      heads: new ReadyHeads(config.http.compress ? VARY_LINE : '', context.cors.always),
      pool,
      networks: config.networks.length,
      mayCompress: config.http.compress,
      readVersion,
      readPosition: createPositionReader(status),
      metrics,
      ...(config.cluster === undefined
        ? {}
        : { sequences: new Sequences(status, readVersion, config.http.deadlineMs, proxies) }),
    },
    events: new EventsAnswerer({ config, proxies, hub, metrics, random: context.random }),
    maxUrlBytes: config.http.maxUrlBytes,
    gate: createGate(config.rateLimit, proxies, logger),
    connections,
    requestLog,
  }
  const open = (port: number, answering: RequestHandlerOptions): Promise<OpenPort> => {
    const onGet = new Map<string, RequestHandler>()
    for (const [path, { type }] of answering.targets)
      if (type === 'query' || type === 'spoken') onGet.set(path, createGetHandler(answering, path))
    return transport.open({
      host: config.http.host,
      port,
      cells,
      onRequest: createRequestHandler(answering),
      onGet,
      socketPaths: [...answering.targets].flatMap(([path, { type }]) => (type === 'socket' ? [path] : [])),
      turn: context.turn,
      connections,
      otherFiles,
    })
  }
  const opened = await open(config.http.port, handling)
  const ports: OpenPort[] = [opened]
  const ownPorts = new Map<DialectName, number>()
  for (const [name, port] of dialectPorts(config.dialects)) {
    const { targets, findWithValue, findSpelling } = speakDialects(config, health, name)
    const own: RequestHandlerOptions = {
      ...handling,
      targets,
      findPage: findWithValue,
      findSpelling,
      get gate() {
        return handling.gate
      },
    }
    try {
      const one = await open(port, own)
      ports.push(one)
      ownPorts.set(name, one.port)
    } catch (error) {
      for (const each of ports) each.close()
      throw error
    }
  }
  const stopSweep = startPulse(SWEEP_MS, () => {
    sweepLate(context, config.http.deadlineMs)
    cache.expire()
    // Each must look.
    const isFilling = ports.filter((each) => each.look()).length > 0
    const areShort = connections.watch(...ports.map(({ port }) => port))
    return isFilling || areShort || context.pending.size > 0 || context.sending.size > 0
  })
  let isCut = false
  // Once only: closing an app of uWebSockets.js twice is a use after free.
  const cut = (): void => {
    if (isCut) return
    isCut = true
    hub.close()
    stopSweep()
    for (const each of ports) each.close()
  }
  const drain = async (delayMs: number): Promise<void> => {
    await delay(delayMs)
    if (isCut) return
    hub.close()
    await waitForLast(ports, context, config.http.deadlineMs)
    cut()
  }
  let drained: Promise<void> | undefined
  return {
    port: opened.port,
    dialectPorts: ownPorts,
    stats: () => ({
      pending: context.pending.size,
      sending: context.sending.size,
      connections: connections.open,
      cache: cache.stats(),
    }),
    // Once only: closing a listen socket of uWebSockets.js twice is a use after free.
    drain: (delayMs) => {
      drained ??= drain(delayMs)
      return drained
    },
    cut,
    setRateLimit: (rateLimit) => {
      proxies.replace(rateLimit.trustedProxies)
      unlimited = new AddressRanges(rateLimit.allow)
      handling.gate = createGate(rateLimit, proxies, logger)
    },
  }
}

/** @returns undefined for no limit. */
function createGate(
  rateLimit: RateLimitConfig,
  proxies: TrustedProxies,
  logger: Logger,
): RateGate | undefined {
  if (rateLimit.tokensPerSec === 0) return undefined
  return new RateGate(rateLimit, proxies, () =>
    logger.warn(
      'a request with X-Forwarded-For is refused for its rate limit: if it came through a proxy of yours, all clients of it share one bucket; name it in rate_limit.trusted_proxies',
    ),
  )
}

/** An IPv6 site may have this part of all connections: the other half is for everyone else. */
const SITE_SHARE = 2

/** Limits that the configuration leaves to the process are none here: main has replaced them. */
function createConnections(
  http: Config['http'],
  cells: number,
  metrics: HttpMetrics,
  isExempt: AddressRanges['has'],
): Connections {
  const max = http.maxConnections === 'auto' ? Number.POSITIVE_INFINITY : http.maxConnections
  const maxPerAddress = http.maxConnectionsPerAddress === 'auto' ? 0 : http.maxConnectionsPerAddress
  return new Connections(
    { max, maxPerAddress, maxPerSite: Math.max(maxPerAddress, Math.floor((cells * max) / SITE_SHARE)) },
    isExempt,
    (reason) => metrics.connectionRefused(reason),
  )
}

/**
 * Cuts off answers that clients are too slow to take, and refuses requests past their deadline. Each collection is in order of
 * time and has one limit for all members, so the walk ends at the first member within that limit.
 */
function sweepLate(context: ExchangeContext, deadlineMs: number): void {
  const now = performance.now()
  context.sending.cutBefore(now - MAX_SENDING_MS)
  for (let exchange = context.pending.first; exchange !== undefined; exchange = context.pending.first) {
    if (exchange.startedAtMs > now - deadlineMs) return
    // This removes it from `pending`.
    exchange.refuse(failure('DEADLINE_EXCEEDED', `no answer within ${deadlineMs} ms`, 1))
  }
}

/** Closes the ports, and waits until no answer is due on their connections: none ends in the middle of an answer. */
async function waitForLast(
  ports: readonly OpenPort[],
  context: ExchangeContext,
  deadlineMs: number,
): Promise<void> {
  context.isClosing = true
  for (const each of ports) each.stopListening()
  const startedAtMs = performance.now()
  const lastActionMs = (): number => Math.max(startedAtMs, context.lastRequestAtMs)
  while (
    performance.now() - startedAtMs < deadlineMs &&
    (context.pending.size > 0 || context.sending.size > 0 || performance.now() - lastActionMs() < QUIET_MS)
  )
    await delay(SWEEP_MS / 4)
}
