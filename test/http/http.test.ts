import assert from 'node:assert/strict'
import test from 'node:test'
import { compileSchema } from '../../src/api/parse/parseQuery.js'
import { probeRoutes, routes } from '../../src/api/routes.js'
import { faultCounts } from '../support/fakeQueryFaults.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, checkedBody, fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { bothWorlds } from './eachTransport.js'

const QUERIES: { readonly [K in keyof typeof routes]: string } = {
  getBridges: 'network_id=1&page_size=3',
  getClaims: 'network_id=1&page_size=3',
  getClaimProof: 'network_id=1&deposit_count=7&leaf_index=1',
  getL1InfoTreeIndex: 'network_id=1&deposit_count=7',
  getInjectedL1InfoLeaf: 'network_id=1&leaf_index=0',
  getTokenMappings: '',
  getClaimTransaction: 'network_id=1&deposit_count=7',
  getBridgeStatus: 'network_id=1&deposit_count=7',
  getSearch: 'q=1:7',
}
const DATA_TARGETS = Object.entries(QUERIES).map(
  ([operation, query]) => `${routes[operation as keyof typeof routes].path}?${query}`,
)
const PROBE_PATHS = Object.values(probeRoutes).flatMap(({ paths }) => paths)
const ALL_TARGETS = [...DATA_TARGETS, ...PROBE_PATHS, '/openapi.json', '/docs']

for (const { transport, world } of await bothWorlds()) {
  const { port } = world

  test(`${transport.name}: every data endpoint answers according to its schema, with and without a trailing slash`, async () => {
    for (const target of DATA_TARGETS)
      for (const spelling of [target, target.replace('?', '/?')]) {
        const response = await fetchRaw(port, 'GET', spelling)
        assert.equal(response.status, 200, spelling)
        checkedBody(spelling, response)
        assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
        assert.equal(response.headers.get('access-control-allow-origin'), '*')
      }
  })

  test(`${transport.name}: every probe answers according to its schema, whatever the query string, and with Cache-Control: no-store`, async () => {
    for (const { paths, response: schema } of Object.values(probeRoutes))
      for (const path of paths)
        for (const target of [path, `${path}?network_id=x&%zz`]) {
          const response = await fetchRaw(port, 'GET', target)
          assert.equal(response.status, 200, target)
          const validate = compileSchema(schema)
          assert.ok(validate(JSON.parse(response.body)), `${target}: ${JSON.stringify(validate.errors)}`)
          assert.equal(response.headers.get('cache-control'), 'no-store')
        }
  })

  test(`${transport.name}: the server serves the OpenAPI document and the documentation page`, async () => {
    const contract = await fetchRaw(port, 'GET', '/openapi.json')
    assert.deepEqual([contract.status, JSON.parse(contract.body).openapi], [200, '3.1.0'])
    const page = await fetchRaw(port, 'GET', '/docs')
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8'])
  })

  test(`${transport.name}: the documentation page has nothing inline and loads only its own files, with and without a slash at its end`, async () => {
    for (const path of ['/docs', '/docs/']) {
      const page = await fetchRaw(port, 'GET', path)
      const policy = page.headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
      assert.match(policy, /; frame-ancestors 'none'$/)
      assert.doesNotMatch(page.body, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/)
      const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)
      assert.equal(links.length, 2)
      for (const link of links) {
        const { pathname } = new URL(link, `http://host${path}`)
        const { status, headers } = await fetchRaw(port, 'GET', pathname)
        assert.deepEqual([status, headers.get('x-content-type-options')], [200, 'nosniff'], pathname)
      }
    }
    for (const target of ['/docs', '/openapi.json'])
      assert.equal((await fetchRaw(port, 'GET', target)).headers.get('x-content-type-options'), 'nosniff')
  })

  test(`${transport.name}: an unhealthy service answers 503 with its health record, an unready service 503 with an error`, async (context) => {
    const { health } = world
    context.after(() => health.setPhase('running'))
    health.setPhase('draining')
    const record = await fetchRaw(port, 'GET', '/bridge/v1')
    assert.deepEqual([record.status, JSON.parse(record.body).status], [503, 'draining'])
    assertRefusal(await fetchRaw(port, 'GET', '/readyz'), 503, 'SERVICE_UNAVAILABLE', 'not ready: draining')
    assert.equal((await fetchRaw(port, 'GET', '/livez')).status, 200)
  })

  test(`${transport.name}: HEAD answers with the headers of GET, the same Content-Length, and no body`, async () => {
    for (const target of [...ALL_TARGETS, '/nowhere', '/bridge/v1/bridges?network_id=x']) {
      const connection = new RawConnection(port)
      const get = await connection.send(requestText('GET', target)).response()
      const head = await connection.send(requestText('HEAD', target)).response(false)
      // If the answer had a body, the next response would not start where it should.
      const again = await connection.send(requestText('GET', target)).response()
      connection.destroy()
      const comparable = (headers: ReadonlyMap<string, string>) =>
        [...headers].filter(([name]) => name !== 'date').sort()
      assert.deepEqual([head.status, comparable(head.headers)], [get.status, comparable(get.headers)], target)
      assert.equal(Number(head.headers.get('content-length')), Buffer.byteLength(get.body), target)
      assert.equal(again.body, get.body, target)
    }
  })

  test(`${transport.name}: OPTIONS answers 204 with Allow and the CORS headers on every route`, async () => {
    for (const target of ALL_TARGETS) {
      const { status, headers, body } = await fetchRaw(port, 'OPTIONS', target)
      assert.deepEqual([status, body, headers.get('allow')], [204, '', 'GET, HEAD, OPTIONS'], target)
      assert.equal(headers.get('access-control-allow-methods'), 'GET, HEAD, OPTIONS')
      assert.equal(headers.get('access-control-max-age'), '86400')
      assert.equal(headers.has('content-length'), false)
    }
  })

  test(`${transport.name}: a method other than GET, HEAD and OPTIONS gets a 405 with Allow, and the connection stays open`, async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const connection = new RawConnection(port)
      const refused = await connection
        .send(requestText(method, '/bridge/v1/bridges?network_id=1', ['Content-Length: 0']))
        .response()
      assertRefusal(refused, 405, 'METHOD_NOT_ALLOWED', `${method} is not one of GET, HEAD, OPTIONS`)
      assert.equal(refused.headers.get('allow'), 'GET, HEAD, OPTIONS')
      assert.equal((await connection.send(requestText('GET', '/livez')).response()).status, 200)
      connection.destroy()
    }
  })

  test(`${transport.name}: an unknown path is a 404 in JSON`, async () => {
    for (const path of [
      '/nowhere',
      '/bridge/v1/no-such-route',
      '//',
      '/BRIDGE/v1/bridges',
      '/bridge/v1//bridges',
      '/%zz',
    ])
      assertRefusal(await fetchRaw(port, 'GET', path), 404, 'NOT_FOUND', `no route ${JSON.stringify(path)}`)
  })

  test(`${transport.name}: a URL longer than the limit is a 414, a URL of exactly the limit is not`, async (context) => {
    const { port: capped } = await startHttpWorld(context, { maxUrlBytes: 500 }, undefined, transport)
    const target = (bytes: number): string => '/bridge/v1/bridges?network_id=1&_='.padEnd(bytes, 'x')
    assert.equal((await fetchRaw(capped, 'GET', target(500))).status, 200)
    assertRefusal(
      await fetchRaw(capped, 'GET', target(501)),
      414,
      'URI_TOO_LONG',
      'the URL has 501 bytes, at most 500 are allowed',
    )
  })

  test(`${transport.name}: a malformed query is a 400 that says what is wrong`, async () => {
    const cases: [query: string, code: string, message: string][] = [
      ['', 'INVALID_PARAMETER', 'network_id is required'],
      [
        '?network_id=%zz',
        'INVALID_PARAMETER',
        '"network_id=%zz" is not percent-encoded UTF-8 in the query string',
      ],
      [
        '?network_id=0&network_id=1',
        'INVALID_PARAMETER',
        'network_id is given more than once, at most one is allowed',
      ],
      ['?network_id=999', 'INVALID_NETWORK_ID', 'Network ID 999 is not supported'],
    ]
    for (const [query, code, message] of cases)
      assertRefusal(await fetchRaw(port, 'GET', `/bridge/v1/bridges${query}`), 400, code, message)
  })

  test(`${transport.name}: a failed query keeps the HTTP status of its error, with Retry-After where waiting helps`, async () => {
    const askFor = (count: number) =>
      fetchRaw(port, 'GET', `/bridge/v1/l1-info-tree-index?network_id=1&deposit_count=${count}`)
    const missing = await askFor(faultCounts.notFound)
    assertRefusal(missing, 404, 'BRIDGE_NOT_FOUND', 'deposit 5 of network 1 is not indexed')
    assert.equal(missing.headers.has('retry-after'), false)
    const early = await askFor(faultCounts.notYet)
    assertRefusal(early, 404, 'PROOF_NOT_AVAILABLE', 'not final yet')
    assert.equal(early.headers.get('retry-after'), '12')
    const halted = await askFor(faultCounts.unavailable)
    assertRefusal(halted, 503, 'SERVICE_UNAVAILABLE', 'network 1 is halted')
    assert.equal(halted.headers.get('retry-after'), '5')
  })

  test(`${transport.name}: CORS can be limited to one origin or switched off`, async (context) => {
    const one = await startHttpWorld(context, { cors: 'https://example.org' }, undefined, transport)
    const off = await startHttpWorld(context, { cors: 'off' }, undefined, transport)
    const header = async (where: number, method: string) =>
      (await fetchRaw(where, method, '/livez')).headers.get('access-control-allow-origin')
    assert.deepEqual(
      [await header(one.port, 'GET'), await header(one.port, 'OPTIONS')],
      ['https://example.org', 'https://example.org'],
    )
    assert.deepEqual(
      [await header(off.port, 'GET'), await header(off.port, 'OPTIONS')],
      [undefined, undefined],
    )
  })

  test(`${transport.name}: a request id of allowed characters and length is echoed but on answers for shared caches, any other is not`, async () => {
    const ask = async (target: string, id: string) =>
      (await fetchRaw(port, 'GET', target, [`X-Request-Id: ${id}`])).headers
    const echo = async (target: string, id: string) => (await ask(target, id)).get('x-request-id')
    let shared = 0
    for (const target of ALL_TARGETS) {
      const headers = await ask(target, 'abc-123_4.5')
      const isShared = headers.get('cache-control')!.includes('public')
      if (isShared) shared++
      assert.equal(headers.get('x-request-id'), isShared ? undefined : 'abc-123_4.5', target)
    }
    assert.ok(shared > 0 && shared < ALL_TARGETS.length)
    assert.equal(await echo('/livez', 'two words'), undefined)
    assert.equal(await echo('/livez', 'x'.repeat(129)), undefined)
  })

  test(`${transport.name}: an exception in a query is a 500 that names the request id under which the exception is logged`, async () => {
    const { logLines } = world
    const target = `/bridge/v1/l1-info-tree-index?network_id=1&deposit_count=${faultCounts.throw}`
    const response = await fetchRaw(port, 'GET', target)
    const id = response.headers.get('x-request-id')!
    assertRefusal(response, 500, 'INTERNAL_ERROR', `internal error, request id ${id}`)
    const line = logLines.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === id)
    assert.deepEqual(
      [line.level, line.msg, line.route, line.error.message],
      ['error', 'request failed', 'getL1InfoTreeIndex', 'thrown on purpose'],
    )
    const named = await fetchRaw(port, 'GET', target, ['X-Request-Id: mine'])
    assertRefusal(named, 500, 'INTERNAL_ERROR', 'internal error, request id mine')
  })

  test(`${transport.name}: an exception on the front thread is a 500, and the server continues`, async (context) => {
    context.mock.method(world.health, 'syncStatus', () => {
      throw new Error('the front itself is broken')
    })
    const response = await fetchRaw(port, 'GET', '/bridge/v1/sync-status')
    assertRefusal(response, 500, 'INTERNAL_ERROR', /^internal error, request id /)
    assert.equal((await fetchRaw(port, 'GET', '/livez')).status, 200)
  })

  for (const [name, fault] of [
    ['exits', faultCounts.exit],
    ['meets a wasm trap', faultCounts.trap],
    ['runs out of memory', faultCounts.outOfMemory],
  ] as const)
    test(`${transport.name}: a worker that ${name} gives its own query a 500, every other query its answer, and the next request is served`, async (context) => {
      // Filling a heap takes time, and happens twice: the query is retried alone.
      const { port } = await startHttpWorld(context, { deadlineMs: 120_000 }, undefined, transport)
      const target = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count='
      const counts = [1, 2, fault, 3]
      const responses = await Promise.all(counts.map((count) => fetchRaw(port, 'GET', target + count)))
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 200, 500, 200],
      )
      assert.equal((await fetchRaw(port, 'GET', `${target}4`)).status, 200)
    })
}
