import { createStatusBoard } from '../../../src/board/statusBoard.js'
import type { Config } from '../../../src/config/config.types.js'
import type { HealthSource } from '../../../src/health/healthSource.types.js'
import { createQueryParsers } from '../../../src/http/answerQuery.js'
import { AnswerCache } from '../../../src/http/cache.js'
import { speakDialects } from '../../../src/http/dialectTargets.js'
import { staticDocuments } from '../../../src/http/docsPage.js'
import { EventsAnswerer } from '../../../src/http/events/answerEvents.js'
import type { EventHub } from '../../../src/http/events/eventHub.js'
import { explorerPage } from '../../../src/http/explorerPage.js'
import { createRequestHandler } from '../../../src/http/handleRequest.js'
import type { RateGate } from '../../../src/http/limits/rateGate.js'
import { TrustedProxies } from '../../../src/http/limits/trustedProxies.js'
import { ReadyHeads } from '../../../src/http/readyHeads.js'
import type { RequestLog } from '../../../src/http/requestLog.js'
import { Sequences } from '../../../src/http/sequences.js'
import { createTargets } from '../../../src/http/targets.js'
import { ArrivalList } from '../../../src/http/wire/arrivalList.js'
import type { Exchange } from '../../../src/http/wire/exchange.js'
import { corsHeaders } from '../../../src/http/wire/headers.js'
import { LongBodies } from '../../../src/http/wire/longBody.js'
import { SlowAnswers } from '../../../src/http/wire/slowAnswers.js'
import { Turn } from '../../../src/http/wire/turn.js'
import type { Wire, WireRequest } from '../../../src/http/wire/wire.js'
import { QueryWriter } from '../../../src/pool/queryCodec.js'
import type { PoolRequest } from '../../../src/pool/requestLanes.js'
import type { HttpMetrics } from '../../../src/telemetry/frontCounts.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import { NO_NETWORKS } from '../../support/sampleRecords.js'

const nothing = (): undefined => undefined
/** Below them the front speaks its dialects. */
export const BASE_PATHS = { aggkit: '/aggkit', hub: '/hub', proof: '/proof', zkevm: '/zkevm' } as const

const NO_LINES = { isOn: () => false, isOfEach: () => false, clientOf: () => '', write: nothing }
/** `http.max_url_bytes` of a service that sets nothing. */
export const MAX_URL = 2_048

/** Of the pool's answers. */
export const TAG = 't'.repeat(27)

export type Header = readonly [name: string, value: string]

/** Sends a request to the front. */
export type AskFront = (method: string, path: string, query: string, headers: readonly Header[]) => void

export interface FrontAloneOptions {
  /** Default: no answer is kept. */
  readonly cacheBytes?: number
  /** Default: nobody is limited. */
  readonly gate?: RateGate
  /** Of one of a cluster. */
  readonly proxies?: TrustedProxies
  /** Default: no request has a line. */
  readonly requestLog?: Pick<RequestLog, 'isOn' | 'isOfEach' | 'clientOf' | 'write'>
}

/** The front without a transport: answers go nowhere, and the pool answers in the next turn. */
export function frontAlone(options: FrontAloneOptions = {}): AskFront {
  const { cacheBytes = 0, gate, proxies, requestLog = NO_LINES } = options
  const writer = new QueryWriter()
  const version = { commits: 1, epoch: 0, halted: 0, isChanging: false }
  const body = Buffer.alloc(500, 'x')
  const tag = Buffer.from(TAG)
  const metrics = {
    ...{ requestFinished: nothing, requestAborted: nothing, rateLimited: nothing },
    ...{ cacheHit: nothing, connectionCut: nothing, connectionRefused: nothing, slowReaderCut: nothing },
  }
  const sequencesOf = (proxies: TrustedProxies) =>
    new Sequences(createStatusBoard([0, 1]), () => version, 1_000, proxies)
  const health = {
    health: () => ({ httpStatus: 200, record: { status: 'healthy' } }),
    syncStatus: () => ({ networks: [] }),
    readiness: () => ({ ready: true, reason: '', lagBlocks: 0 }),
  } as unknown as HealthSource
  const networks = [0, 1].map((networkId) => ({ networkId }))
  const dialects = speakDialects(
    {
      dialects: {
        aggkit: { basePath: BASE_PATHS.aggkit, release: 'latest' },
        hub: { basePath: BASE_PATHS.hub },
        proof: { basePath: BASE_PATHS.proof },
        zkevm: { basePath: BASE_PATHS.zkevm },
      },
      networks,
      primaryNetwork: 1,
    } as unknown as Config,
    health,
  )
  const explorer = explorerPage(
    {
      explorer: { enabled: true, title: 'Bridges' },
      http: { compress: true },
      networks,
    } as unknown as Config,
    { warn: nothing },
  )
  const events = new EventsAnswerer({
    config: { feed: { maxReaders: 1, maxReadersPerClient: 1 }, networks } as unknown as Config,
    proxies: proxies ?? new TrustedProxies([]),
    // All that a reader may ask for is read and looked up; then there are too many readers.
    hub: { begin: () => new Map(), isClosed: false, size: 1 } as unknown as EventHub,
    metrics: metrics as unknown as HttpMetrics,
    random: () => 0.5,
  })
  const handler = createRequestHandler({
    context: {
      ...{
        cors: corsHeaders('*'),
        logger: createLogger({ level: 'error', format: 'json' }, {}, nothing),
        metrics,
      },
      logRequest: requestLog.write,
      random: () => 0.5,
      traits: { closesBodiless: true, noticesBodiless: true, keepsUnsent: true, endAndClose: nothing },
      ...{
        turn: new Turn(nothing),
        pending: new ArrivalList<Exchange>(),
        sending: new SlowAnswers<Exchange>(nothing),
      },
      ...{ isClosing: false, lastRequestAtMs: 0, answers: 0, longBodies: new LongBodies(() => 0) },
    },
    findPage: (path) => explorer.find(path) ?? dialects.findWithValue(path),
    findSpelling: dialects.findSpelling,
    targets: new Map([
      ...createTargets(health, [...staticDocuments(true), ...explorer.files], () => version, NO_NETWORKS),
      ...dialects.targets,
    ]),
    queryContext: {
      parsers: createQueryParsers(new Set([0, 1])),
      cache: new AnswerCache(cacheBytes),
      heads: new ReadyHeads('', ''),
      pool: {
        submit(request: PoolRequest) {
          writer.append(request)
          writer.take()
          setImmediate(() =>
            request.deliver({
              ...{ status: 200, body, coding: 'identity', tag, retryAfterSec: 0 },
              ...{ life: 'commit', version, fault: undefined },
            }),
          )
          return true
        },
      },
      networks: 2,
      mayCompress: true,
      readVersion: () => version,
      readPosition: () => '',
      metrics,
      ...(proxies === undefined ? {} : { sequences: sequencesOf(proxies) }),
    },
    events,
    maxUrlBytes: MAX_URL,
    gate,
    connections: { endsWithAnswer: () => false },
    requestLog,
  })
  const wire: Wire = {
    ...{ writeStatus: nothing, writeHeader: nothing, end: nothing, endWithoutBody: nothing },
    ...{ onWritable: nothing, onAborted: nothing, close: nothing, getRemoteAddress: () => '127.0.0.1' },
    tryEnd: () => [true, true],
    write: () => true,
    cork: (write) => write(),
  }
  return (method, path, query, headers) => {
    const request: WireRequest = {
      getMethod: () => method,
      getUrl: () => path,
      getQuery: () => query,
      getHeader: (wanted) => headers.find(([name]) => name === wanted)?.[1] ?? '',
      forEach: (visit) => {
        for (const [name, value] of headers) visit(name, value)
      },
    }
    handler(wire, request)
  }
}
