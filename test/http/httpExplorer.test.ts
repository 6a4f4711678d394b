import assert from 'node:assert/strict'
import test from 'node:test'
import { assertRefusal, fetchRaw } from '../support/rawHttp.js'
import { bothWorlds } from './eachTransport.js'

/** Of all scripts together, as they are sent. */
const MOST_SCRIPT_BYTES = 120 * 1024

for (const { transport, world } of await bothWorlds()) {
  const { port } = world

  test(`${transport.name}: the explorer is one page at each of its paths, and browsers ask before they show it again`, async () => {
    for (const path of [
      '/explorer',
      '/explorer/',
      '/explorer/bridges?network=1&state=ready',
      '/explorer/bridge/1/7',
    ]) {
      const { status, headers } = await fetchRaw(port, 'GET', path)
      assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'], path)
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; /)
      const again = await fetchRaw(port, 'GET', path, [`If-None-Match: ${headers.get('etag')}`])
      assert.equal(again.status, 304)
    }
    assert.ok(world.finished.includes('getExplorer GET 200'))
    assertRefusal(
      await fetchRaw(port, 'GET', '/explorer/assets/none.js'),
      404,
      'NOT_FOUND',
      'no route "/explorer/assets/none.js"',
    )
  })

  test(`${transport.name}: its files may be kept for good, and its scripts are 120 KB at most in gzip`, async () => {
    const page = await fetchRaw(port, 'GET', '/explorer')
    const links = [...page.body.matchAll(/(?:src|href)="(explorer\/assets\/[^"]+)"/g)].map(
      ([, link]) => `/${link}`,
    )
    assert.equal(links.length, 3)
    let scriptBytes = 0
    for (const link of await withImports(port, links)) {
      const { status, headers } = await fetchRaw(port, 'GET', link, ['Accept-Encoding: gzip'])
      assert.equal(status, 200, link)
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      if (!link.endsWith('.js')) continue
      assert.equal(headers.get('content-type'), 'text/javascript; charset=utf-8')
      assert.equal(headers.get('content-encoding'), 'gzip')
      assert.doesNotMatch((await fetchRaw(port, 'GET', link)).body, /\b(?:Buffer|process|require)\b[.(]/)
      scriptBytes += Number(headers.get('content-length'))
    }
    assert.ok(scriptBytes > 10_000 && scriptBytes <= MOST_SCRIPT_BYTES, `${scriptBytes} bytes`)
  })
}

/** Also the scripts that scripts load, now or later. */
async function withImports(port: number, links: readonly string[]): Promise<Set<string>> {
  const all = new Set(links)
  for (const link of all) {
    if (!link.endsWith('.js')) continue
    const { body } = await fetchRaw(port, 'GET', link)
    for (const [, name] of body.matchAll(/"\.\/([\w-]+\.js)"/g)) all.add(`/explorer/assets/${name}`)
  }
  return all
}
