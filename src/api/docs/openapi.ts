import type { TObject, TSchema } from '@sinclair/typebox'
import type { AnswerCode } from '../../query/answers.js'
import { errorTable } from '../errorTable.js'
import {
  type ProbeRoute,
  probeRoutes,
  type Route,
  routes,
  type SocketRoute,
  type StreamRoute,
  socketRoutes,
  streamRoutes,
} from '../routes.js'
import { ErrorResponse } from '../schemas.js'
import { type Example, examples } from './examples.js'

/** Part of an OpenAPI document: plain JSON. */
type Json = { readonly [key: string]: unknown }

/** What the front may refuse any request with. */
const FRONT_ERRORS: readonly AnswerCode[] = ['URI_TOO_LONG', 'RATE_LIMIT_EXCEEDED']

/** Every data route may also answer with these. */
const COMMON_ERRORS: readonly AnswerCode[] = [
  ...FRONT_ERRORS,
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
  'DEADLINE_EXCEEDED',
]

/**
 * The OpenAPI 3.1 document, made from the routes and their schemas: nothing in it is written twice.
 * @param version of the API.
 * @param hasKeys whether the operator has given out keys. Without one the document speaks of none: readers take a security scheme for a lock.
 */
export function openApiDocument(version: string, hasKeys = false): Json {
  const components = new Map<string, Json>()
  const paths: Record<string, Json> = {}
  for (const [operation, route] of Object.entries<RouteFacts>(routes))
    paths[route.path] = { get: dataOperation(operation, route, components) }
  for (const [operation, route] of Object.entries<StreamRoute>(streamRoutes))
    paths[route.path] = { get: streamOperation(operation, route, components) }
  for (const [operation, route] of Object.entries<SocketRoute>(socketRoutes))
    paths[route.path] = { get: socketOperation(operation, route, components) }
  for (const [operation, route] of Object.entries<ProbeRoute>(probeRoutes))
    for (const [position, path] of withoutSlashTwins(route.paths).entries())
      paths[path] = {
        get: probeOperation(position === 0 ? operation : `${operation}${position + 1}`, route, components),
      }
  reference(ErrorResponse, components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bridge Data Service',
      version,
      description: `Read-only access to indexed bridge transactions, claims, claim proofs, sync status and token mappings. Every path may end with a slash, and is also answered to HEAD and OPTIONS. No operation needs a key${hasKeys ? ': one that the operator has given out selects a higher rate limit.' : '.'}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that this document came from.' }],
    ...(hasKeys ? { security: [{}, { apiKey: [] }, { bearer: [] }] } : {}),
    tags: TAGS,
    paths,
    components: {
      ...(hasKeys ? { securitySchemes: SECURITY_SCHEMES } : {}),
      headers: HEADERS,
      schemas: Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1))),
    },
  }
}

const TAGS = [
  { name: 'data', description: 'Bridges, claims, proofs and token mappings.' },
  { name: 'service', description: 'What is served here, how far it is, and whether it is well.' },
] as const

const SECURITY_SCHEMES: Json = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A key of the operator, for a higher rate limit.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a bearer token.' },
}

const header = (type: 'string' | 'integer', description: string, example: string | number): Json => ({
  description,
  schema: { type },
  example,
})

const HEADERS = {
  ETag: header(
    'string',
    'Strong entity tag: a digest of the JSON, other for each coding.',
    '"5f2a6d0c1b9e4a77"',
  ),
  RateLimit: header(
    'string',
    "Whole tokens left in the client's bucket, and seconds until it is full. Only under a rate limit, and not on answers for shared caches.",
    '"address";r=199;t=1',
  ),
  'RateLimit-Policy': header(
    'string',
    'Tokens that the bucket holds, and seconds in which it fills. Only beside `RateLimit`.',
    '"address";q=200;w=4',
  ),
  'Retry-After': header('integer', 'Seconds after which the same request may succeed.', 1),
  'X-Data-Block': header(
    'string',
    'Newest stored block of each network: the answer is of these blocks or newer. Only in a cluster.',
    '0=19000123, 1=45',
  ),
  'X-Feed-Position': header(
    'string',
    'Where the feeds of all networks were before a list was read: `after` of /bridge/v1/events. Only on lists.',
    '0.3f0a91c2d4e5:1204,1.77b1c0ffee12:88',
  ),
  'X-Request-Id': header(
    'string',
    "The request's own id if it had one, else a new one; it is in our log.",
    'b7c1d2e3',
  ),
} as const satisfies Json

type HeaderName = keyof typeof HEADERS

function headersOf(...names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const LIMITED: readonly HeaderName[] = ['RateLimit', 'RateLimit-Policy', 'X-Request-Id']

/** Every path is served with and without a slash at its end, and described without. */
function withoutSlashTwins(paths: readonly string[]): string[] {
  return paths.filter((path) => !(path.length > 1 && path.endsWith('/') && paths.includes(path.slice(0, -1))))
}

type RouteFacts = Pick<
  Route<never>,
  'path' | 'summary' | 'parameters' | 'response' | 'rows' | 'errors' | 'cost'
>

/** Taken by the front, before a query is parsed: `src/http/sequences.ts`. */
const MIN_SEQUENCE: Json = {
  name: 'min_sequence',
  in: 'query',
  required: false,
  description:
    'Only in a cluster, 400 elsewhere: `network:sequence`, comma-separated or repeated. The answer waits until this instance has stored the log of each network up to there, as far as `log_sequence` of `/sync-status` on another one has shown it; shortly before the deadline it is a 503.',
  schema: {
    type: 'array',
    items: { type: 'string', pattern: '^(0|[1-9]\\d{0,9}):(0|[1-9]\\d{0,14})$' },
    minItems: 1,
    maxItems: 53,
  },
  style: 'form',
  explode: false,
}

function dataOperation(operationId: string, route: RouteFacts, components: Map<string, Json>): Json {
  const ofList = route.rows === undefined ? [] : (['X-Feed-Position'] as const)
  return {
    operationId,
    tags: ['data'],
    summary: route.summary,
    parameters: [...parametersOf(route.parameters, exampleOf(operationId).query), MIN_SEQUENCE],
    'x-rate-limit-cost': route.cost,
    responses: {
      200: {
        ...success(route.response, components, exampleOf(operationId).answer),
        headers: headersOf('ETag', 'X-Data-Block', ...ofList, ...LIMITED),
      },
      304: {
        description: 'The answer is still one that the request header `If-None-Match` names.',
        headers: headersOf('ETag', 'X-Data-Block', ...ofList, ...LIMITED),
      },
      ...errorResponses([...route.errors, ...COMMON_ERRORS], components),
    },
  }
}

function streamOperation(operationId: string, route: StreamRoute, components: Map<string, Json>): Json {
  const { query, answer } = exampleOf(operationId)
  return {
    operationId,
    tags: ['data'],
    summary: route.summary,
    parameters: [
      ...parametersOf(route.parameters, query),
      {
        name: 'Last-Event-ID',
        in: 'header',
        required: false,
        description: 'The id of the last event that was read, as browsers send it: only events behind it.',
        schema: { type: 'string' },
      },
    ],
    'x-rate-limit-cost': route.cost,
    responses: {
      200: {
        description:
          'A stream without an end. The `id` of an event is where its reader is behind it: one position for each network that is asked for. The schema is that of its `data`.',
        headers: headersOf(...LIMITED),
        content: {
          'text/event-stream': {
            schema: replaceTitled(plain(route.data), components),
            ...(answer === undefined ? {} : { example: answer }),
          },
        },
      },
      ...errorResponses([...route.errors, ...FRONT_ERRORS, 'SERVICE_UNAVAILABLE'], components),
    },
  }
}

/** OpenAPI describes the handshake; what follows it is told in words. */
function socketOperation(operationId: string, route: SocketRoute, components: Map<string, Json>): Json {
  return {
    operationId,
    tags: ['data'],
    summary: route.summary,
    parameters: parametersOf(route.parameters, exampleOf('getEvents').query),
    'x-rate-limit-cost': route.cost,
    responses: {
      101: {
        description:
          'The connection is a WebSocket from here on, without subprotocol and compression. Each message of the service is a text, a JSON object: `position` is where its reader is, to be sent as `after` when it comes again. `event` is the data of an event of `/bridge/v1/events`; a message without it shows that the connection lives. A client sends no messages.',
      },
      ...errorResponses([...route.errors, ...FRONT_ERRORS, 'SERVICE_UNAVAILABLE'], components),
    },
  }
}

function probeOperation(operationId: string, route: ProbeRoute, components: Map<string, Json>): Json {
  const others = route.otherStatuses.map((status) => [
    status,
    success(route.otherResponse ?? route.response, components),
  ])
  const { answer } = exampleOf(operationId.replace(/\d+$/, ''))
  return {
    operationId,
    tags: ['service'],
    summary: route.summary,
    responses: {
      200: { ...success(route.response, components, answer), headers: headersOf(...LIMITED) },
      ...Object.fromEntries(others),
      ...errorResponses(FRONT_ERRORS, components),
    },
  }
}

/** A new operation has none until `npm run generate:examples`, which needs a service that answers it. */
function exampleOf(operationId: string): Partial<Example> {
  return examples[operationId] ?? {}
}

function parametersOf({ properties, required = [] }: TObject, example: Example['query'] = {}): Json[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = plain(schema)
    return {
      name,
      in: 'query',
      required: required.includes(name) && schema.default === undefined,
      description,
      schema: rest,
      ...(name in example ? { example: example[name] } : {}),
      // Comma-separated; the repeated form is taken as well.
      ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
    }
  })
}

function success(schema: TSchema, components: Map<string, Json>, example?: unknown): Json {
  const content = jsonContent(reference(schema, components), example)
  return { description: String(schema.description), content }
}

function errorResponses(codes: readonly AnswerCode[], components: Map<string, Json>): Json {
  const meanings = new Map<number, string[]>()
  const waiting = new Set(
    codes.filter((code) => errorTable[code].waitingHelps).map((code) => errorTable[code].status),
  )
  for (const code of codes) {
    const { status, meaning } = errorTable[code]
    meanings.set(status, [...(meanings.get(status) ?? []), `${code}: ${meaning}`])
  }
  const content = jsonContent(reference(ErrorResponse, components))
  return Object.fromEntries(
    [...meanings].map(([status, lines]) => {
      const headers = headersOf(...(waiting.has(status) ? (['Retry-After'] as const) : []), ...LIMITED)
      return [status, { description: lines.join(' '), headers, content }]
    }),
  )
}

function jsonContent(schema: Json, example?: unknown): Json {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }
}

/** Puts a titled schema among the components, its titled parts too. @returns a reference to it. */
function reference(schema: TSchema, components: Map<string, Json>): Json {
  const name = String(schema.title)
  if (!components.has(name)) {
    components.set(name, {})
    components.set(name, replaceTitled(plain(schema), components, true) as Json)
  }
  return { $ref: `#/components/schemas/${name}` }
}

function replaceTitled(value: unknown, components: Map<string, Json>, isRoot = false): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceTitled(item, components))
  if (typeof value !== 'object' || value === null) return value
  const record = value as TSchema
  if (!isRoot && typeof record.title === 'string' && record.type === 'object')
    return reference(record, components)
  return Object.fromEntries(
    Object.entries(record)
      .filter(([key]) => key !== 'title')
      .map(([key, item]) => [key, replaceTitled(item, components)]),
  )
}

/** The JSON of a schema, without the symbols that TypeBox adds. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json
}
