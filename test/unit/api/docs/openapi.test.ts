import assert from 'node:assert/strict'
import test from 'node:test'
import type { TSchema } from '@sinclair/typebox'
import { openApiDocument } from '../../../../src/api/docs/openapi.js'
import { errorTable } from '../../../../src/api/errorTable.js'
import { compileSchema } from '../../../../src/api/parse/parseQuery.js'
import { probeRoutes, routes, socketRoutes, streamRoutes } from '../../../../src/api/routes.js'

interface Document {
  openapi: string
  info: { version: string }
  paths: Record<
    string,
    {
      get: {
        operationId: string
        parameters?: Parameter[]
        responses: Record<string, object>
        'x-rate-limit-cost'?: number
      }
    }
  >
  components: { schemas: Record<string, { properties: Record<string, unknown> }> }
}
interface Parameter {
  name: string
  required: boolean
  schema: Record<string, unknown>
}

const document = openApiDocument('1.0.0') as unknown as Document

test('the OpenAPI document has exactly the paths of the routes, each without a slash at its end', () => {
  const expected = [
    ...Object.values({ ...routes, ...streamRoutes, ...socketRoutes }).map(({ path }) => path as string),
    ...Object.values(probeRoutes).flatMap(({ paths }) => paths as readonly string[]),
  ].filter((path) => path === '/' || !path.endsWith('/'))
  assert.deepEqual(Object.keys(document.paths).sort(), expected.sort())
  assert.deepEqual([document.openapi, document.info.version], ['3.1.0', '1.0.0'])
})

test('operation ids are unique, and those of data routes are the keys of the routes', () => {
  const ids = Object.values(document.paths).map(({ get }) => get.operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const [operation, { path }] of Object.entries(routes))
    assert.equal(document.paths[path]!.get.operationId, operation)
})

test("parameters of /bridges are those of the interface, then the service's own, with their defaults and limits", () => {
  const { parameters } = document.paths['/bridge/v1/bridges']!.get
  assert.deepEqual(
    parameters!.map(({ name, required, schema }) => [name, required, schema.default, schema.maximum]),
    [
      ['network_id', true, undefined, 4294967295],
      ['page_number', false, 1, 4294967295],
      ['page_size', false, 100, 1000],
      ['deposit_count', false, undefined, undefined],
      ['from_address', false, undefined, undefined],
      ['to_address', false, undefined, undefined],
      ['tx_hash', false, undefined, undefined],
      ['bridge_hash', false, undefined, undefined],
      ['network_ids', false, undefined, undefined],
      ['leaf_type', false, undefined, 1],
      ['claimed', false, undefined, undefined],
      ['ready_for_claim', false, undefined, undefined],
      ['from_block', false, undefined, 281474976710655],
      ['to_block', false, undefined, 281474976710655],
      ['from_timestamp', false, undefined, 281474976710655],
      ['to_timestamp', false, undefined, 281474976710655],
      ['order', false, undefined, undefined],
      ['cursor', false, undefined, undefined],
      ['min_sequence', false, undefined, undefined],
    ],
  )
})

test('every reference in the OpenAPI document leads to a component, and every component is referred to', () => {
  const text = JSON.stringify(document)
  const named = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
  assert.deepEqual([...new Set(named)].sort(), Object.keys(document.components.schemas).sort())
  assert.equal(text.includes('TypeBox'), false)
})

test('a data route lists its own errors and the common ones, by HTTP status', () => {
  const { responses } = document.paths['/bridge/v1/claim-proof']!.get
  assert.deepEqual(Object.keys(responses), ['200', '304', '400', '404', '414', '429', '500', '503', '504'])
})

test('the document speaks of keys only where the operator has given some out, and no operation needs one', () => {
  const text = JSON.stringify(document)
  assert.doesNotMatch(text, /securitySchemes|"security"|X-API-Key/)
  const { security, components } = openApiDocument('1.0.0', true) as {
    security?: object[]
    components?: { securitySchemes?: object }
  }
  assert.deepEqual(Object.keys(components?.securitySchemes ?? {}), ['apiKey', 'bearer'])
  assert.deepEqual(security, [{}, { apiKey: [] }, { bearer: [] }])
})

test('the WebSocket of events is a GET that becomes one, or is refused as one that does not ask for it, with the parameters of the events', () => {
  const { parameters, responses } = document.paths['/bridge/v1/events/ws']!.get
  assert.deepEqual(Object.keys(responses), ['101', '400', '410', '414', '426', '429', '503'])
  const ofStream = document.paths['/bridge/v1/events']!.get.parameters!
  assert.deepEqual(
    parameters,
    // A handshake of a browser can't have a header of a page's own.
    ofStream.filter(({ name }) => name !== 'Last-Event-ID'),
  )
  assert.ok(parameters!.some(({ name }) => name === 'after'))
})

test("a data route states what it costs of a client's rate limit", () => {
  const costs = ['/bridge/v1/l1-info-tree-index', '/bridge/v1/bridges', '/bridge/v1/claim-proof'].map(
    (path) => document.paths[path]!.get['x-rate-limit-cost'],
  )
  assert.deepEqual(costs, [1, 1, 2])
})

test('every error code is once in the table with an error status', () => {
  const codes = Object.entries(errorTable)
  assert.equal(codes.length, 13)
  for (const [code, { status }] of codes) assert.ok(status >= 400 && status < 600, code)
})

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly required: boolean
    readonly example?: unknown
  }[]
  readonly responses: Readonly<
    Record<
      string,
      { readonly headers?: object; readonly content?: Record<string, { readonly example?: unknown }> }
    >
  >
}

test('every operation has an example from the devnet that fits its schema, and values of all parameters that it needs', () => {
  const answersOf = { ...routes, ...probeRoutes } as Readonly<Record<string, { readonly response: TSchema }>>
  const schemas: Readonly<Record<string, TSchema>> = {
    ...Object.fromEntries(Object.entries(answersOf).map(([id, { response }]) => [id, response])),
    getEvents: streamRoutes.getEvents.data,
  }
  const operations = Object.values(document.paths)
    .map(({ get }) => get as unknown as Operation)
    // A WebSocket has no answer.
    .filter(({ operationId }) => !(operationId in socketRoutes))
  assert.ok(operations.length >= 11)
  for (const { operationId, parameters = [], responses: answers } of operations) {
    const [content] = Object.values(answers['200']?.content ?? {})
    const example = content?.example
    const validate = compileSchema(schemas[operationId.replace(/\d+$/, '')]!)
    assert.ok(validate(example), `${operationId}: ${JSON.stringify(validate.errors)}`)
    for (const { name, required, example: value } of parameters)
      assert.ok(!required || value !== undefined, `${operationId}: ${name}`)
  }
})

test('every operation may be limited, and tells by which headers', () => {
  for (const { get } of Object.values(document.paths)) {
    const { operationId, responses } = get as unknown as Operation
    for (const status of [...('200' in responses ? ['200'] : []), '429'])
      assert.deepEqual(
        Object.keys(responses[status]?.headers ?? {}).filter((name) => name.startsWith('RateLimit')),
        ['RateLimit', 'RateLimit-Policy'],
        `${operationId} ${status}`,
      )
    assert.ok('Retry-After' in (responses['429']?.headers ?? {}), operationId)
  }
})
