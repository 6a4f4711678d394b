import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, fetchRaw } from '../support/rawHttp.js'
import { bothTransports } from './eachTransport.js'

const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count=1'
const PAGE = '/bridge/v1/bridges?network_id=1&page_size=1'
/** Costs what a page costs, and no cache keeps the answer, so that it tells the bucket. */
const REFUSED_PAGE = '/bridge/v1/bridges?network_id=1&page_size=0'

type Limits = NonNullable<Parameters<typeof startHttpWorld>[4]>

for (const transport of bothTransports()) {
  /** At most one token per minute comes back, so tokens that a test spends stay spent. */
  async function serve(context: TestContext, limits: Limits = {}) {
    const world = await startHttpWorld(context, {}, undefined, transport, {
      tokensPerSec: 1 / 60,
      burst: 10,
      keyTokensPerSec: 1 / 60,
      keyBurst: 20,
      ...limits,
    })
    const get = (target: string, headers: readonly string[] = []) =>
      fetchRaw(world.port, 'GET', target, headers)
    return { ...world, get }
  }

  test(`${transport.name}: without a rate limit no answer has a rate-limit header`, async (context) => {
    const { port } = await startHttpWorld(context, {}, undefined, transport)
    const { headers } = await fetchRaw(port, 'GET', INDEX)
    assert.deepEqual([headers.has('ratelimit'), headers.has('ratelimit-policy')], [false, false])
  })

  test(`${transport.name}: each answer reports the remaining budget, a page costs more than an index, and an empty bucket gives a 429`, async (context) => {
    const { get, limited } = await serve(context)
    const standings: (string | undefined)[] = []
    for (const target of [INDEX, PAGE, INDEX, INDEX]) {
      const { status, headers } = await get(target)
      assert.equal(status, 200)
      const policy = target === PAGE ? undefined : '"address";q=10;w=600'
      assert.equal(headers.get('ratelimit-policy'), policy)
      standings.push(headers.get('ratelimit'))
    }
    // The page is for shared caches, which would tell every client of this one's bucket.
    assert.deepEqual(standings, [
      '"address";r=9;t=60',
      undefined,
      '"address";r=3;t=420',
      '"address";r=2;t=480',
    ])
    const refused = await get(PAGE)
    assertRefusal(
      refused,
      429,
      'RATE_LIMIT_EXCEEDED',
      'too many requests: this one takes 5 tokens, 2 are left',
    )
    assert.equal(refused.headers.get('retry-after'), '180')
    assert.equal(refused.headers.get('cache-control'), 'no-store')
    assert.equal(refused.headers.get('ratelimit'), '"address";r=2;t=480')
    assert.deepEqual(limited, ['getBridges'])
    // A request that still fits the bucket is served.
    assert.equal((await get(INDEX)).status, 200)
  })

  test(`${transport.name}: probes cost no budget and are never refused`, async (context) => {
    const { get, port } = await serve(context)
    while ((await get(INDEX)).status === 200);
    for (const path of ['/', '/bridge/v1', '/bridge/v1/sync-status', '/livez', '/readyz']) {
      const { status, headers } = await get(path)
      assert.deepEqual([status, headers.has('ratelimit')], [200, false], path)
    }
    assert.equal((await fetchRaw(port, 'OPTIONS', PAGE)).status, 204)
  })

  test(`${transport.name}: a valid API key gets the higher tier with a bucket of its own, an unknown key counts as no key`, async (context) => {
    const hash = (key: string): string => createHash('sha256').update(key).digest('hex')
    const { get } = await serve(context, { apiKeys: [hash('open sesame'), hash('other')] })
    const standing = async (...headers: string[]) =>
      (await get(REFUSED_PAGE, headers)).headers.get('ratelimit')
    assert.equal(await standing('X-API-Key: open sesame'), '"key";r=15;t=300')
    assert.equal(await standing('X-API-Key: other'), '"key";r=15;t=300')
    assert.equal(await standing('Authorization: Bearer other'), '"key";r=10;t=600')
    assert.equal(await standing('X-API-Key: wrong'), '"address";r=5;t=300')
    assert.equal(await standing(), '"address";r=0;t=600')
  })

  test(`${transport.name}: X-Forwarded-For counts only from a trusted proxy, and only the entry that the proxy added`, async (context) => {
    const standing = (world: Awaited<ReturnType<typeof serve>>, ...headers: string[]) =>
      world.get(REFUSED_PAGE, headers).then((response) => response.headers.get('ratelimit'))
    const direct = await serve(context)
    assert.equal(await standing(direct, 'X-Forwarded-For: 203.0.113.1'), '"address";r=5;t=300')
    assert.equal(await standing(direct, 'X-Forwarded-For: 203.0.113.2'), '"address";r=0;t=600')
    const proxied = await serve(context, { trustedProxies: ['127.0.0.0/8'] })
    assert.equal(await standing(proxied, 'X-Forwarded-For: 203.0.113.1'), '"address";r=5;t=300')
    assert.equal(await standing(proxied, 'X-Forwarded-For: 203.0.113.2'), '"address";r=5;t=300')
    // HAProxy adds a header line of its own after the one that the client made up.
    const forged = ['X-Forwarded-For: 8.8.8.8', 'X-Forwarded-For: 203.0.113.1'] as const
    assert.equal(await standing(proxied, ...forged), '"address";r=0;t=600')
  })

  test(`${transport.name}: clients on the allow-list are never rate limited`, async (context) => {
    const { get } = await serve(context, { allow: ['127.0.0.1'] })
    for (let request = 0; request < 5; request++) {
      const { status, headers } = await get(PAGE)
      assert.deepEqual([status, headers.has('ratelimit')], [200, false])
    }
  })
}
