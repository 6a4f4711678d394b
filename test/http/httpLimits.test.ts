import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, fetchRaw } from '../support/rawHttp.js'
import { bothTransports } from './eachTransport.js'

const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count=1'
const PAGE = '/bridge/v1/bridges?network_id=1&page_size=100'
/** Takes one token, and no cache keeps the answer, so that it tells the bucket. */
const REFUSED_PAGE = '/bridge/v1/bridges?network_id=1&page_size=0'

const PAGE_OF_600 = PAGE.replace('=100', '=600')
const PROOF = '/bridge/v1/claim-proof?network_id=1&deposit_count=1&leaf_index=1'

type Limits = NonNullable<Parameters<typeof startHttpWorld>[4]>

/** Time passes between the requests, on a busy machine seconds, but never as much as a token takes. @param fullSec time until all tokens are back. */
function assertStanding(
  told: string | null | undefined,
  bucket: string,
  left: number,
  fullSec: number,
): void {
  const [, name, tokens, seconds] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(told ?? '') ?? []
  assert.deepEqual([name, Number(tokens)], [bucket, left], String(told))
  assert.ok(Number(seconds) <= fullSec && Number(seconds) > fullSec - 60, String(told))
}

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
      assert.equal(headers.get('cache-control')!.startsWith('private, '), target !== PAGE)
      assert.equal(headers.get('ratelimit-policy'), policy)
      standings.push(headers.get('ratelimit'))
    }
    // The page is for shared caches, which would tell every client of this one's bucket.
    const [first, ofPage, third, last] = standings
    assertStanding(first, 'address', 9, 60)
    assert.equal(ofPage, undefined)
    assertStanding(third, 'address', 6, 240)
    assertStanding(last, 'address', 5, 300)
    const refused = await get(PAGE_OF_600)
    assertRefusal(
      refused,
      429,
      'RATE_LIMIT_EXCEEDED',
      /^too many requests: this one takes 7 tokens, 4\.9\d? are left$/,
    )
    assert.match(refused.headers.get('retry-after')!, /^1[12]\d$/)
    assert.equal(refused.headers.get('cache-control'), 'no-store')
    assertStanding(refused.headers.get('ratelimit'), 'address', 4, 306)
    assert.deepEqual(limited, ['getBridges'])
    // A request that still fits the bucket is served.
    assert.equal((await get(INDEX)).status, 200)
  })

  test(`${transport.name}: a request takes what its answer costs: a proof two points, a page one for a hundred rows more, a compressed answer three times that`, async (context) => {
    const { get } = await serve(context, { burst: 100_000 })
    let before = 100_000
    const spent = async (target: string, ...headers: string[]): Promise<number> => {
      await get(target, headers)
      // Answers that caches share tell of no bucket, so an index asks for it, which takes one more.
      const { headers: told } = await get(INDEX)
      const left = Number(/r=(\d+)/.exec(told.get('ratelimit')!)![1])
      const taken = before - left - 1
      before = left
      return taken
    }
    const coded = 'Accept-Encoding: br'
    assert.equal(await spent(INDEX), 1)
    assert.equal(await spent(INDEX, coded), 1, 'too short to be compressed')
    assert.equal(await spent(PROOF), 2)
    assert.equal(await spent(PROOF, coded), 6)
    assert.equal(await spent(PAGE), 2)
    assert.equal(await spent(PAGE, coded), 6)
    assert.equal(await spent(PAGE, coded), 6, 'from the cache')
    assert.equal(await spent(PAGE.replace('=100', '=1000')), 11)
    assert.equal(await spent(PAGE.replace('=100', '=1000'), coded), 33)
    assert.equal(await spent('/bridge/v1/claims?network_id=1&page_size=500'), 6)
    assert.equal(await spent(PAGE.replace('=100', '=500&claimed=true')), 11, 'rows that lie anywhere')
    const transaction = `/bridge/v1/bridge-status?tx_hash=0x${'ab'.repeat(32)}`
    assert.equal(await spent(transaction), 2, 'of 51, since it holds one bridge')
    assert.equal(await spent(transaction), 2, 'from the cache')
    assert.equal(await spent('/docs'), 1)
    assert.equal(await spent('/bridge/v1/bridges?network_id=x'), 1)
    const known = [coded, 'If-None-Match: *'] as const
    assert.equal(
      await spent(transaction.replace('ab', 'cd'), ...known),
      153,
      'nobody knows what it would hold',
    )
  })

  test(`${transport.name}: what the front answers by itself takes a tenth of a token, and an empty bucket refuses it, too`, async (context) => {
    const { get, port, limited } = await serve(context)
    const small = ['/', '/bridge/v1/sync-status', '/livez', '/readyz', '/nowhere', `/${'x'.repeat(2_100)}`]
    const standings: string[] = []
    const keep = ({ headers }: { headers: ReadonlyMap<string, string> }) =>
      standings.push(headers.get('ratelimit')!)
    for (const path of small) keep(await get(path))
    keep(await fetchRaw(port, 'OPTIONS', PAGE))
    keep(await fetchRaw(port, 'POST', PAGE))
    // 9.9, 9.8 and so on to 9.2.
    assert.deepEqual(
      standings.map((line) => line.split(';')[1]),
      Array(8).fill('r=9'),
    )
    assert.match(standings.at(-1)!, /t=[34]\d$/)
    while ((await get(INDEX)).status === 200);
    while ((await get('/livez')).status === 200);
    for (const path of small) assert.equal((await get(path)).status, 429, path)
    assert.equal((await fetchRaw(port, 'OPTIONS', PAGE)).status, 429)
    assert.ok(limited.includes('getLiveness') && limited.includes('unknown'))
  })

  test(`${transport.name}: probes of a trusted proxy are free, those that it passes on are not`, async (context) => {
    const { get } = await serve(context, { trustedProxies: ['127.0.0.1'] })
    for (const path of ['/', '/bridge/v1', '/bridge/v1/sync-status', '/livez', '/readyz']) {
      const { status, headers } = await get(path)
      assert.deepEqual([status, headers.has('ratelimit')], [200, false], path)
    }
    const { headers } = await get('/livez', ['X-Forwarded-For: 203.0.113.1'])
    assertStanding(headers.get('ratelimit'), 'address', 9, 6)
  })

  test(`${transport.name}: a valid API key gets the higher tier with a bucket of its own, an unknown key counts as no key`, async (context) => {
    const hash = (key: string): string => createHash('sha256').update(key).digest('hex')
    const { get } = await serve(context, { apiKeys: [hash('open sesame'), hash('other')] })
    const standing = async (...headers: string[]) =>
      (await get(REFUSED_PAGE, headers)).headers.get('ratelimit')
    assertStanding(await standing('X-API-Key: open sesame'), 'key', 19, 60)
    assertStanding(await standing('X-API-Key: other'), 'key', 19, 60)
    assertStanding(await standing('Authorization: Bearer other'), 'key', 18, 120)
    assertStanding(await standing('X-API-Key: wrong'), 'address', 9, 60)
    assertStanding(await standing(), 'address', 8, 120)
  })

  test(`${transport.name}: the contract speaks of API keys where the operator has given some out`, async (context) => {
    const { get } = await serve(context, { apiKeys: ['ab'.repeat(32)] })
    assert.match((await get('/openapi.json')).body, /"securitySchemes":\{"apiKey"/)
    const { get: getWithoutKeys } = await serve(context)
    assert.doesNotMatch((await getWithoutKeys('/openapi.json')).body, /securitySchemes|"security"/)
  })

  test(`${transport.name}: X-Forwarded-For counts only from a trusted proxy, and only the entry that the proxy added`, async (context) => {
    const standing = (world: Awaited<ReturnType<typeof serve>>, ...headers: string[]) =>
      world.get(REFUSED_PAGE, headers).then((response) => response.headers.get('ratelimit'))
    const direct = await serve(context)
    assertStanding(await standing(direct, 'X-Forwarded-For: 203.0.113.1'), 'address', 9, 60)
    assertStanding(await standing(direct, 'X-Forwarded-For: 203.0.113.2'), 'address', 8, 120)
    const proxied = await serve(context, { trustedProxies: ['127.0.0.0/8'] })
    assertStanding(await standing(proxied, 'X-Forwarded-For: 203.0.113.1'), 'address', 9, 60)
    assertStanding(await standing(proxied, 'X-Forwarded-For: 203.0.113.2'), 'address', 9, 60)
    // HAProxy adds a header line of its own after the one that the client made up.
    const forged = ['X-Forwarded-For: 8.8.8.8', 'X-Forwarded-For: 203.0.113.1'] as const
    assertStanding(await standing(proxied, ...forged), 'address', 8, 120)
  })

  test(`${transport.name}: a proxy that was not named is told in one warning once its clients' requests are refused`, async (context) => {
    const { get, logLines } = await serve(context, { burst: 2 })
    const statuses: number[] = []
    for (let client = 1; client <= 4; client++)
      statuses.push((await get(INDEX, [`X-Forwarded-For: 203.0.113.${client}`])).status)
    assert.deepEqual(statuses, [200, 200, 429, 429])
    const told = logLines.filter((line) => line.includes('rate_limit.trusted_proxies'))
    assert.deepEqual([told.length, told[0]?.includes('"level":"warn"')], [1, true])
  })

  test(`${transport.name}: clients on the allow-list are never rate limited`, async (context) => {
    const { get } = await serve(context, { allow: ['127.0.0.1'] })
    for (let request = 0; request < 5; request++) {
      const { status, headers } = await get(PAGE)
      assert.deepEqual([status, headers.has('ratelimit')], [200, false])
    }
  })
}
