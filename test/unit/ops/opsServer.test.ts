import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { HealthAnswer, HealthSource, Readiness } from '../../../src/health/healthSource.types.js'
import { type OpsServer, startOpsServer } from '../../../src/ops/opsServer.js'

const METRICS = [
  '# HELP bds_total_total Things in total',
  '# TYPE bds_total_total counter',
  'bds_total_total{a="b"} 1',
  '',
  '# TYPE bds_up gauge',
  'bds_up 1',
  '',
].join('\n')
const RECORD = { status: 'healthy', version: '1.0.0' } as HealthAnswer['record']

async function start(t: TestContext, readiness: Readiness, httpStatus: 200 | 503 = 200): Promise<OpsServer> {
  const health: HealthSource = {
    health: () => ({ httpStatus, record: RECORD }),
    syncStatus: () => assert.fail('not asked for here'),
    readiness: () => readiness,
  }
  const metrics = async () => METRICS
  const server = await startOpsServer({ host: '127.0.0.1', port: 0, health, metrics })
  t.after(() => server.close())
  return server
}

/** Sends text and reads until the server closes. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (data) => {
      received += data.toString()
    })
    socket.on('end', () => resolve(received))
    socket.on('error', reject)
  })
}

test('metrics, probes and health answer GET, whatever the query string', async (t) => {
  const { port } = await start(t, { ready: true, lagBlocks: 3 })
  const cases: [path: string, type: string, body: string][] = [
    ['/metrics', 'text/plain; version=0.0.4; charset=utf-8', METRICS],
    ['/livez', 'application/json; charset=utf-8', '{"status":"alive"}'],
    ['/readyz?x=%zz', 'application/json; charset=utf-8', '{"status":"ready"}'],
    ['/?network_id=abc', 'application/json; charset=utf-8', JSON.stringify(RECORD)],
  ]
  for (const [path, type, body] of cases) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    assert.deepEqual(
      [response.status, response.headers.get('content-type'), await response.text()],
      [200, type, body],
    )
    assert.equal(response.headers.get('cache-control'), 'no-store', path)
  }
})

test('metrics are told as OpenMetrics to a client that accepts it, and as text to any other', async (t) => {
  const { port } = await start(t, { ready: true, lagBlocks: 0 })
  const ask = async (accept: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept } })
    return { type: response.headers.get('content-type'), text: await response.text() }
  }
  // What Prometheus 2.42 sends.
  const open = await ask(
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  )
  assert.equal(open.type, 'application/openmetrics-text; version=1.0.0; charset=utf-8')
  assert.deepEqual(open.text.split('\n'), [
    '# HELP bds_total Things in total',
    '# TYPE bds_total counter',
    'bds_total_total{a="b"} 1',
    '# TYPE bds_up gauge',
    'bds_up 1',
    '# EOF',
    '',
  ])
  for (const accept of ['*/*', 'text/plain', 'application/openmetrics-text;q=0, text/plain']) {
    const plain = await ask(accept)
    assert.deepEqual(plain, { type: 'text/plain; version=0.0.4; charset=utf-8', text: METRICS }, accept)
  }
})

test('an instance that is not ready answers readyz with 503 and the reason, and livez with 200', async (t) => {
  const { port } = await start(t, { ready: false, reason: 'syncing', lagBlocks: 70 }, 503)
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
  assert.equal(ready.status, 503)
  assert.equal(ready.headers.get('x-data-lag-blocks'), '70')
  assert.deepEqual(await ready.json(), {
    error: { code: 'SERVICE_UNAVAILABLE', message: 'not ready: syncing' },
  })
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 503)
  assert.equal((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200)
})

test('HEAD has the headers of GET and no body, OPTIONS is a 204, other methods are a 405, other paths a 404', async (t) => {
  const { port } = await start(t, { ready: true, lagBlocks: 0 })
  const ask = (method: string, path: string) => fetch(`http://127.0.0.1:${port}${path}`, { method })
  for (const path of ['/', '/metrics', '/livez', '/readyz']) {
    const head = await ask('HEAD', path)
    const get = await ask('GET', path)
    assert.equal(head.status, 200, path)
    assert.equal(await head.text(), '', path)
    assert.equal(Number(head.headers.get('content-length')), Buffer.byteLength(await get.text()), path)
    const options = await ask('OPTIONS', path)
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'], path)
    const post = await ask('POST', path)
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'], path)
    assert.equal(((await post.json()) as { error: { code: string } }).error.code, 'METHOD_NOT_ALLOWED')
  }
  const unknown = await ask('GET', '/metricsx')
  assert.deepEqual(
    [unknown.status, await unknown.json()],
    [404, { error: { code: 'NOT_FOUND', message: 'unknown route' } }],
  )
})

test('a probe in HTTP/1.0 without a Host header is answered', async (t) => {
  const { port } = await start(t, { ready: true, lagBlocks: 0 })
  const answer = await exchange(port, 'GET /readyz HTTP/1.0\r\n\r\n')
  assert.match(answer, /^HTTP\/1\.\d 200 /)
  assert.match(answer, /\{"status":"ready"\}$/)
  assert.match(await exchange(port, 'OPTIONS / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.\d 204 /)
})

test('a request that announces a body gets a 400 and the connection ends, without an answer to the bytes after it', async (t) => {
  const { port } = await start(t, { ready: true, lagBlocks: 0 })
  const behind = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const length = `Content-Length: ${behind.length}`
  const unsure = [
    length,
    'Content-Length: 5',
    'Content-Length: 999999',
    `Content-Length: 0\r\n${length}`,
    'Content-Length: 0\r\nContent-Length: 0',
    'Content-Length:',
    `Content-Length:\r\n${length}`,
    'Content-Length: 00',
    'Content-Length: +0',
    `Content-Length: 0, ${behind.length}`,
    `Content-Length : ${behind.length}`,
    'Transfer-Encoding:',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding:\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: identity',
    `Transfer-Encoding: chunked\r\n${length}`,
    `X-A: b\r\n ${length}`,
    `X-A: a\n${length}`,
    `: x\r\n${length}`,
  ]
  for (const path of ['/readyz', '/metrics', '/nowhere'])
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST'])
      for (const headers of unsure) {
        const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`
        const answers = await exchange(port, head + behind)
        const statuses = [...answers.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => status)
        assert.deepEqual([statuses, /alive/.test(answers)], [['400'], false], `${method} ${path} ${headers}`)
        assert.match(answers, /^connection: close\r$/im)
      }
  const harmless = `GET /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`
  const last = behind.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
  assert.match(await exchange(port, harmless + last), /200 OK.*"ready".*200 OK.*"alive"/s)
})

test('OPTIONS on the probes has the status of GET, because HAProxy checks with it', async (t) => {
  const { port } = await start(t, { ready: false, reason: 'draining', lagBlocks: 0 }, 503)
  assert.match(await exchange(port, 'OPTIONS / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.\d 503 /)
  assert.match(await exchange(port, 'OPTIONS /readyz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.\d 503 /)
  assert.match(await exchange(port, 'OPTIONS /livez HTTP/1.0\r\n\r\n'), /^HTTP\/1\.\d 204 /)
})

test('a port that is in use is refused, never shared', async (t) => {
  const { port } = await start(t, { ready: true, lagBlocks: 0 })
  const health = {} as HealthSource
  const metrics = async () => ''
  await assert.rejects(startOpsServer({ host: '127.0.0.1', port, health, metrics }), {
    name: 'OperatorError',
    message: `can't listen on 127.0.0.1:${port}: the port is taken by another process`,
  })
})
