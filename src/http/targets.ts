import { operationIds, probeRoutes, routes, socketRoutes, streamRoutes } from '../api/routes.js'
import type { VersionNow } from '../board/version.js'
import type { HealthSource } from '../health/healthSource.types.js'
import { failure } from '../query/answers.js'
import type { NetworksRecord } from '../query/healthRecords.js'
import type { OperationId } from '../query/queries.js'
import type { SpokenEndpoint } from './answerQuery.js'
import type { StaticDocument } from './documents.js'
import { NO_STORE } from './wire/cacheControl.js'
import type { Exchange, Outgoing } from './wire/exchange.js'
import { type HeaderList, headerLines, JSON_LINES } from './wire/headers.js'

/** What a path leads to: a query for the pool, or an answer that the front gives by itself. */
export type Target = (
  | { readonly type: 'query'; readonly route: OperationId }
  | { readonly type: 'stream'; readonly route: keyof typeof streamRoutes }
  | { readonly type: 'socket'; readonly route: keyof typeof socketRoutes }
  | {
      readonly type: 'spoken'
      readonly route: string
      readonly operation: OperationId
      readonly endpoint: SpokenEndpoint
      /** A parameter that stands in the path. */
      readonly given?: string
    }
  | { readonly type: 'probe'; readonly route: string; respond(exchange: Exchange, rawQuery?: string): void }
  | { readonly type: 'document'; readonly route: string; readonly answers: StaticDocument['answers'] }
) & {
  /** Of a dialect: how it says no. */
  readonly spellRefusal?: Exchange['spellRefusal']
}

/**
 * Every path that is served, with and without a trailing slash.
 * @param readVersion what `createVersionReader` returns.
 * @param networks the answer of `/bridge/v1/networks`.
 */
export function createTargets(
  health: HealthSource,
  documents: readonly StaticDocument[],
  readVersion: () => VersionNow,
  networks: NetworksRecord,
): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>()
  const add = (path: string, target: Target): void => {
    targets.set(path, target)
    if (!path.endsWith('/')) targets.set(`${path}/`, target)
  }
  for (const operation of operationIds) add(routes[operation].path, { type: 'query', route: operation })
  add(streamRoutes.getEvents.path, { type: 'stream', route: 'getEvents' })
  add(socketRoutes.getEventSocket.path, { type: 'socket', route: 'getEventSocket' })
  const servedNetworks = jsonAnswer(200, networks)
  const probes: { readonly [Id in keyof typeof probeRoutes]: (exchange: Exchange) => void } = {
    getHealth: onceATurn(readVersion, () => {
      const { httpStatus, record } = health.health()
      return jsonAnswer(httpStatus, record)
    }),
    getSyncStatus: onceATurn(readVersion, () => jsonAnswer(200, health.syncStatus())),
    getNetworks: (exchange) => exchange.send(servedNetworks),
    getLiveness: (exchange) => exchange.send(jsonAnswer(200, { status: 'alive' })),
    getReadiness: (exchange) => sendReadiness(exchange, health),
  }
  for (const [route, respond] of Object.entries(probes)) {
    const { paths } = probeRoutes[route as keyof typeof probeRoutes]
    for (const path of paths) add(path, { type: 'probe', route, respond })
  }
  for (const document of documents) add(document.path, documentTarget(document))
  return targets
}

export function documentTarget({ route, answers }: StaticDocument): Target {
  return { type: 'document', route, answers }
}

/**
 * Makes an answer once for all who ask in one turn of the event loop: it takes some 25 µs and more with each network, and a client may send
 * thousands of requests at once. A commit or a halt makes it anew, so that nobody sees less than what another answer has shown.
 */
function onceATurn(readVersion: () => VersionNow, make: () => Outgoing): (exchange: Exchange) => void {
  let kept: Outgoing | undefined
  let version: VersionNow | undefined
  const forget = (): void => {
    kept = undefined
  }
  return (exchange) => {
    const now = readVersion()
    if (kept === undefined || now !== version || now.isChanging) {
      if (kept === undefined) setImmediate(forget)
      kept = make()
      version = now
    }
    exchange.send(kept)
  }
}

function sendReadiness(exchange: Exchange, health: HealthSource): void {
  const { ready, reason, lagBlocks } = health.readiness()
  const headers: HeaderList = [['X-Data-Lag-Blocks', String(lagBlocks)]]
  if (ready) exchange.send(jsonAnswer(200, { status: 'ready' }, headers))
  else exchange.refuse(failure('SERVICE_UNAVAILABLE', `not ready: ${reason}`), headers)
}

function jsonAnswer(status: number, value: object, headers: HeaderList = []): Outgoing {
  return {
    status,
    body: JSON.stringify(value),
    cacheControl: NO_STORE,
    lines: headerLines(headers),
    bodyLines: JSON_LINES,
    etag: '',
  }
}
