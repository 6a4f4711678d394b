import type { TObject, TSchema } from '@sinclair/typebox'
import type { AnswerCode } from '../../query/answers.js'
import { errorTable } from '../errorTable.js'
import { type ProbeRoute, probeRoutes, type Route, routes } from '../routes.js'
import { ErrorResponse } from '../schemas.js'

/** Part of an OpenAPI document: plain JSON. */
type Json = { readonly [key: string]: unknown }

/** Every data route may also answer with these. */
const COMMON_ERRORS: readonly AnswerCode[] = [
  'URI_TOO_LONG',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
  'DEADLINE_EXCEEDED',
]

/**
 * The OpenAPI 3.1 document, made from the routes and their schemas: nothing in it is written twice.
 * @param version of the API.
 */
export function openApiDocument(version: string): Json {
  const components = new Map<string, Json>()
  const paths: Record<string, Json> = {}
  for (const [operation, route] of Object.entries<RouteFacts>(routes))
    paths[route.path] = { get: dataOperation(operation, route, components) }
  for (const [operation, route] of Object.entries<ProbeRoute>(probeRoutes))
    for (const [position, path] of route.paths.entries())
      paths[path] = {
        get: probeOperation(position === 0 ? operation : `${operation}${position + 1}`, route, components),
      }
  reference(ErrorResponse, components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bridge Data Service',
      version,
      description:
        'Read-only access to indexed bridge transactions, claims, claim proofs, sync status and token mappings.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1))),
    },
  }
}

const ETAG: Json = {
  description: 'Strong entity tag: a digest of the JSON, other for each coding.',
  schema: { type: 'string' },
}

type RouteFacts = Pick<Route<never>, 'path' | 'summary' | 'parameters' | 'response' | 'errors' | 'cost'>

function dataOperation(operationId: string, route: RouteFacts, components: Map<string, Json>): Json {
  return {
    operationId,
    summary: route.summary,
    parameters: parametersOf(route.parameters),
    'x-rate-limit-cost': route.cost,
    responses: {
      200: { ...success(route.response, components), headers: { ETag: ETAG } },
      304: {
        description: 'The answer is still one that the request header `If-None-Match` names.',
        headers: { ETag: ETAG },
      },
      ...errorResponses([...route.errors, ...COMMON_ERRORS], components),
    },
  }
}

function probeOperation(operationId: string, route: ProbeRoute, components: Map<string, Json>): Json {
  const others = route.otherStatuses.map((status) => [
    status,
    success(route.otherResponse ?? route.response, components),
  ])
  return {
    operationId,
    summary: route.summary,
    responses: { 200: success(route.response, components), ...Object.fromEntries(others) },
  }
}

function parametersOf({ properties, required = [] }: TObject): Json[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = plain(schema)
    return {
      name,
      in: 'query',
      required: required.includes(name) && schema.default === undefined,
      description,
      schema: rest,
      // Comma-separated; the repeated form is taken as well.
      ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
    }
  })
}

function success(schema: TSchema, components: Map<string, Json>): Json {
  return { description: String(schema.description), content: jsonContent(reference(schema, components)) }
}

function errorResponses(codes: readonly AnswerCode[], components: Map<string, Json>): Json {
  const meanings = new Map<number, string[]>()
  for (const code of codes) {
    const { status, meaning } = errorTable[code]
    meanings.set(status, [...(meanings.get(status) ?? []), `${code}: ${meaning}`])
  }
  const content = jsonContent(reference(ErrorResponse, components))
  return Object.fromEntries(
    [...meanings].map(([status, lines]) => [status, { description: lines.join(' '), content }]),
  )
}

function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } }
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
