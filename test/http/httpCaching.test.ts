import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { statusRow } from '../../src/board/statusBoard.js'
import { faultCounts } from '../support/fakeQueryFaults.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { bothWorlds } from './eachTransport.js'

const PAGE = '/bridge/v1/bridges?network_id=1&page_size=20'
const FINAL_PROOF = '/bridge/v1/claim-proof?network_id=1&deposit_count=7&leaf_index=0'
const OPEN_PROOF = '/bridge/v1/claim-proof?network_id=1&deposit_count=7&leaf_index=1'
const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count='
const TAGGED = [PAGE, FINAL_PROOF, OPEN_PROOF, `${INDEX}7`, '/openapi.json', '/docs']

const decoders = {
  identity: (body: Buffer) => body,
  gzip: (body: Buffer) => gunzipSync(body),
  br: (body: Buffer) => brotliDecompressSync(body),
}

for (const { transport, world } of await bothWorlds()) {
  const { port } = world
  const get = (target: string, headers: readonly string[] = [], method = 'GET') =>
    fetchRaw(port, method, target, headers)

  test(`${transport.name}: the ETag is a digest of the JSON, and differs between content codings`, async () => {
    for (const target of TAGGED) {
      const plain = await get(target)
      const digest = createHash('sha256').update(plain.body).digest('base64url').slice(0, 22)
      assert.equal(plain.headers.get('etag'), `"${digest}"`, target)
      if (plain.body.length < 1_024) continue
      for (const coding of ['gzip', 'br'])
        assert.equal(
          (await get(target, [`Accept-Encoding: ${coding}`])).headers.get('etag'),
          `"${digest}-${coding}"`,
        )
    }
  })

  test(`${transport.name}: a client that already has the answer gets a 304 without a body, with the headers that a cache needs`, async () => {
    for (const target of TAGGED)
      for (const accept of ['identity', 'gzip', 'br'])
        for (const method of ['GET', 'HEAD']) {
          const headers = [`Accept-Encoding: ${accept}`]
          const full = await get(target, headers)
          const etag = full.headers.get('etag')!
          const connection = new RawConnection(port)
          connection.send(requestText(method, target, [...headers, `If-None-Match: "other", ${etag}`]))
          const response = await connection.response(false)
          assert.equal(response.status, 304, target)
          for (const name of ['etag', 'cache-control', 'vary', 'access-control-allow-origin'])
            assert.equal(response.headers.get(name), full.headers.get(name), name)
          for (const name of ['content-type', 'content-length', 'content-encoding'])
            assert.equal(response.headers.has(name), false, name)
          // No byte followed the head: the next answer starts where it should.
          assert.equal((await connection.send(requestText('GET', '/livez')).response()).status, 200)
          connection.destroy()
        }
  })

  test(`${transport.name}: a tag of another coding or of another answer gets a 200 with the whole answer`, async () => {
    const tag = (await get(PAGE)).headers.get('etag')!
    assert.equal((await get(PAGE, [`If-None-Match: ${tag}`, 'Accept-Encoding: gzip'])).status, 200)
    assert.equal((await get(OPEN_PROOF, [`If-None-Match: ${tag}`])).status, 200)
  })

  test(`${transport.name}: a 304 for a cached answer does not use the pool, and after a commit the next request does`, async () => {
    const { batchSizes, status } = world
    const target = `${INDEX}4242`
    const etag = (await get(target)).headers.get('etag')!
    const batches = batchSizes.length
    const again = () => get(target, [`If-None-Match: ${etag}`])
    assert.deepEqual([(await again()).status, batchSizes.length - batches], [304, 0])
    statusRow(status, 0).add('commits', 1)
    // The same JSON from a newer state is still the same answer.
    assert.deepEqual([(await again()).status, batchSizes.length - batches], [304, 1])
  })

  test(`${transport.name}: an answer above 1 KB has the content coding that the client prefers, from the pool and from the cache`, async (context) => {
    const fresh = await startHttpWorld(context, {}, undefined, transport)
    for (const target of [PAGE, FINAL_PROOF, '/openapi.json', '/docs'])
      for (const coding of ['gzip', 'br'] as const)
        for (const _ of ['pool', 'cache']) {
          const connection = new RawConnection(fresh.port)
          connection.send(requestText('GET', target, [`Accept-Encoding: ${coding}, deflate`]))
          const { headers, bytes } = await connection.response()
          assert.deepEqual(
            [headers.get('content-encoding'), headers.get('vary')],
            [coding, 'Accept-Encoding'],
          )
          const plain = await fetchRaw(fresh.port, 'GET', target)
          assert.equal(decoders[coding](bytes).toString(), plain.body, target)
          assert.deepEqual(
            [plain.headers.has('content-encoding'), plain.headers.get('vary')],
            [false, 'Accept-Encoding'],
          )
          assert.ok(bytes.length < plain.bytes.length)
          connection.destroy()
        }
    const { hits } = fresh.server.stats().cache
    assert.equal(hits, 2 * 2 + 2 * 3, 'each coding is kept beside the others')
  })

  test(`${transport.name}: a small answer is not compressed`, async () => {
    const { headers, body } = await get(`${INDEX}7`, ['Accept-Encoding: gzip'])
    assert.deepEqual([headers.has('content-encoding'), JSON.parse(body).timestamp], [false, 7])
    assert.equal(headers.get('vary'), 'Accept-Encoding')
  })

  test(`${transport.name}: HEAD reports the length of the compressed body and sends no body`, async () => {
    const connection = new RawConnection(port)
    for (const method of ['HEAD', 'GET'])
      connection.send(requestText(method, '/openapi.json', ['Accept-Encoding: br']))
    const head = await connection.response(false)
    const whole = await connection.response()
    assert.equal(Number(head.headers.get('content-length')), whole.bytes.length)
    assert.equal(head.headers.get('content-encoding'), 'br')
    connection.destroy()
  })

  test(`${transport.name}: HEAD and If-None-Match: * get the head of the whole answer without its body, but of a list nothing that depends on the body, and GET gets it after them`, async (context) => {
    const fresh = await startHttpWorld(context, {}, undefined, transport)
    for (const accept of ['identity', 'gzip', 'br'])
      for (const target of [PAGE, OPEN_PROOF]) {
        const headers = [`Accept-Encoding: ${accept}`]
        const connection = new RawConnection(fresh.port)
        const known = await connection
          .send(requestText('GET', target, [...headers, 'If-None-Match: *']))
          .response(false)
        const head = await connection.send(requestText('HEAD', target, headers)).response(false)
        const whole = await connection.send(requestText('GET', target, headers)).response()
        assert.deepEqual([known.status, head.status, whole.status], [304, 200, 200])
        const isList = target === PAGE
        for (const { headers: told } of [known, head])
          assert.equal(told.get('etag'), isList ? undefined : whole.headers.get('etag'))
        for (const name of ['cache-control', 'vary', 'access-control-allow-origin'])
          for (const { headers: told } of [known, head])
            assert.equal(told.get(name), whole.headers.get(name), name)
        assert.equal(head.headers.get('content-type'), whole.headers.get('content-type'))
        const coded = isList ? undefined : whole.headers.get('content-encoding')
        assert.equal(head.headers.get('content-encoding'), coded)
        // The length of a compressed body is known only to who compresses it.
        const length = accept === 'identity' && !isList ? String(whole.bytes.length) : undefined
        assert.equal(head.headers.get('content-length'), length)
        assert.equal(known.headers.has('content-length'), false)
        assert.ok(whole.bytes.length > 100)
        // What is kept has all headers.
        const kept = await connection.send(requestText('HEAD', target, headers)).response(false)
        assert.equal(kept.headers.get('etag'), whole.headers.get('etag'))
        assert.equal(kept.headers.get('content-length'), String(whole.bytes.length))
        connection.destroy()
      }
    // Who names tags is told whether the list has changed.
    const tag = (await fetchRaw(fresh.port, 'GET', PAGE)).headers.get('etag')
    const uncached = await startHttpWorld(context, { cacheBytes: 0 }, undefined, transport)
    for (const method of ['GET', 'HEAD']) {
      const connection = new RawConnection(uncached.port)
      connection.send(requestText(method, PAGE, [`If-None-Match: ${tag}`]))
      assert.equal((await connection.response(false)).status, 304)
      connection.destroy()
    }
    // A refusal has its body and its status, also for who has any answer.
    const refused = await fetchRaw(fresh.port, 'GET', `${PAGE}&page_size=1001`, ['If-None-Match: *'])
    assert.equal(refused.status, 400)
  })

  test(`${transport.name}: with compress = off no answer is compressed and no answer has Vary`, async (context) => {
    const off = await startHttpWorld(context, { compress: false }, undefined, transport)
    for (const target of [PAGE, '/docs']) {
      const { headers } = await fetchRaw(off.port, 'GET', target, ['Accept-Encoding: gzip, br'])
      assert.deepEqual([headers.has('content-encoding'), headers.has('vary')], [false, false])
    }
  })

  for (const [what, target, cacheControl] of [
    ['a final proof for good', FINAL_PROOF, 'public, max-age=31536000, immutable'],
    ['a proof that is not final, if they revalidate it each time', OPEN_PROOF, 'no-cache'],
    ['an index, if they revalidate it each time', `${INDEX}7`, 'no-cache'],
    [
      'a list for two seconds, and ten more while they revalidate it',
      PAGE,
      'public, max-age=2, stale-while-revalidate=10',
    ],
    [
      'a refusal of what is not there yet for one second',
      `${INDEX}${faultCounts.notYet}`,
      'public, max-age=1',
    ],
    ['no answer of a halted network', `${INDEX}${faultCounts.unavailable}`, 'no-store'],
    ['no internal error', `${INDEX}${faultCounts.throw}`, 'no-store'],
    ['no refusal of a malformed query', `${INDEX}x`, 'no-store'],
    ['no health record', '/bridge/v1', 'no-store'],
    ['no sync status', '/bridge/v1/sync-status', 'no-store'],
    ['the OpenAPI document for an hour', '/openapi.json', 'public, max-age=3600'],
  ] as const)
    test(`${transport.name}: caches may keep ${what}`, async () => {
      const { status, headers } = await get(target)
      assert.equal(headers.get('cache-control'), cacheControl)
      assert.equal(headers.has('etag'), status === 200 && cacheControl !== 'no-store')
    })

  test(`${transport.name}: no cache that serves many may keep an answer that tells of the client that asked`, async () => {
    const known = 'If-None-Match: *'
    for (const target of [OPEN_PROOF, `${INDEX}7`])
      for (const method of ['GET', 'HEAD']) {
        const cachingOf = async (...headers: string[]) => {
          const connection = new RawConnection(port)
          connection.send(requestText(method, target, headers))
          const { status, headers: told } = await connection.response(
            method === 'GET' && !headers.includes(known),
          )
          connection.destroy()
          return [status, told.get('cache-control'), told.get('x-request-id')]
        }
        assert.deepEqual(await cachingOf('X-Request-Id: a'), [200, 'private, no-cache', 'a'])
        assert.deepEqual(await cachingOf('X-Request-Id: a', known), [304, 'private, no-cache', 'a'])
        assert.deepEqual(await cachingOf(), [200, 'no-cache', undefined], 'asked by another client')
        assert.deepEqual(await cachingOf(known), [304, 'no-cache', undefined])
      }
  })

  test(`${transport.name}: an answer has the same head when it is not cached, when it was just cached, and when it comes from the cache`, async (context) => {
    const uncached = await startHttpWorld(context, { cacheBytes: 0 }, undefined, transport)
    const open = await startHttpWorld(
      context,
      { cacheBytes: 0, compress: false, cors: 'off' },
      undefined,
      transport,
    )
    let compared = 0
    for (const target of [PAGE, FINAL_PROOF, OPEN_PROOF, `${INDEX}7`])
      for (const accept of ['identity', 'gzip', 'br']) {
        const headers = [`Accept-Encoding: ${accept}`]
        const headOf = async (from: number, more: readonly string[] = []) =>
          [...(await fetchRaw(from, 'GET', target, [...headers, ...more])).headers]
            .filter(([name]) => name !== 'x-request-id' && name !== 'date')
            // With an id it is of one client.
            .map(([name, value]) => [name, name === 'cache-control' ? value.replace('private, ', '') : value])
        const expected = await headOf(port)
        for (let time = 2; time <= 4; time++)
          assert.deepEqual(await headOf(port), expected, `${target} again`)
        assert.deepEqual(await headOf(uncached.port), expected, target)
        assert.deepEqual(await headOf(uncached.port, ['X-Request-Id: a']), expected, `${target} with an id`)
        assert.deepEqual(await headOf(open.port), await headOf(open.port, ['X-Request-Id: a']), 'fewer lines')
        compared++
      }
    assert.equal(compared, 12)
  })

  test(`${transport.name}: an answer above the size limit is a 400 that says so, and other requests of its batch are answered`, async (context) => {
    const small = await startHttpWorld(context, { maxResponseBytes: 65_536 }, undefined, transport)
    const page = (rows: number) =>
      fetchRaw(small.port, 'GET', `/bridge/v1/bridges?network_id=1&page_size=${rows}`)
    const [fits, large, other] = await Promise.all([page(50), page(1_000), page(51)])
    assert.deepEqual([fits.status, large.status, other.status], [200, 400, 200])
    assert.deepEqual(JSON.parse(large.body), {
      error: {
        code: 'INVALID_PARAMETER',
        message: 'the answer has more than 65536 bytes: ask for fewer rows with page_size',
      },
    })
  })
}
