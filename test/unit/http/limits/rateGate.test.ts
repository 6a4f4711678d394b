import assert from 'node:assert/strict'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RateLimitConfig } from '../../../../src/config/config.types.js'
import { RateGate } from '../../../../src/http/limits/rateGate.js'
import { TrustedProxies } from '../../../../src/http/limits/trustedProxies.js'
import type { WireRequest } from '../../../../src/http/wire/wire.js'

const LIMITS: RateLimitConfig = {
  ...{ tokensPerSec: 1, burst: 10, keyTokensPerSec: 1, keyBurst: 10 },
  ...{ apiKeys: [], trustedProxies: [], allow: [], maxClients: 1_000 },
}

const BARE: WireRequest = {
  getMethod: () => 'get',
  getUrl: () => '/',
  getQuery: () => undefined,
  getHeader: () => '',
  forEach: () => undefined,
}

function gateOf(limits: Partial<RateLimitConfig> = {}) {
  const gate = new RateGate(
    { ...LIMITS, ...limits },
    new TrustedProxies([]),
    () => undefined,
    () => 0,
  )
  return (address: string, tokens: number) => gate.caller(address, BARE).take(tokens)!
}

test('all addresses of an IPv6 /64 have one bucket', () => {
  const take = gateOf()
  assert.equal(take('2001:db8:1:1::1', 10).isAllowed, true)
  assert.equal(take('2001:db8:1:1:ffff::2', 1).isAllowed, false)
  assert.equal(take('2001:db8:1:2::1', 10).isAllowed, true)
})

test('an IPv6 /48 has the tokens of sixteen clients, however many /64 it asks from', () => {
  const take = gateOf()
  let served = 0
  for (let subnet = 0; subnet < 1_000; subnet++)
    if (take(`2001:db8:1:${subnet.toString(16)}::1`, 10).isAllowed) served++
  assert.equal(served, 16)
  assert.equal(take('2001:db8:2:1::1', 10).isAllowed, true, 'another /48')
  assert.equal(take('192.0.2.1', 10).isAllowed, true)
})

test('a client that is refused for its own bucket takes nothing from others of its /48', () => {
  const take = gateOf()
  take('2001:db8:1:1::1', 10)
  for (let refused = 0; refused < 2_000; refused++) assert.equal(take('2001:db8:1:1::1', 10).isAllowed, false)
  for (let subnet = 2; subnet <= 16; subnet++)
    assert.equal(take(`2001:db8:1:${subnet.toString(16)}::1`, 10).isAllowed, true)
})

test('the header tells of the bucket that runs out first', () => {
  const take = gateOf()
  assert.match(take('2001:db8:1:1::1', 1).lines, /RateLimit: "address";r=9;t=1$/)
  for (let subnet = 2; subnet <= 16; subnet++) take(`2001:db8:1:${subnet.toString(16)}::1`, 10)
  const { lines } = take('2001:db8:1:ffff::1', 1)
  assert.match(lines, /RateLimit-Policy: "site";q=160;w=10\r\nRateLimit: "site";r=8;t=10$/)
})

test('clients of ever more sites take no more memory than max_clients allows', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heapUsed = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const take = gateOf({ maxClients: 10_000 })
  const flood = (count: number): void => {
    for (let at = 0; at < count; at++)
      take(`2001:${(at >> 16).toString(16)}:${(at & 0xffff).toString(16)}::1`, 1)
  }
  flood(10_000)
  const before = heapUsed()
  flood(200_000)
  // Two buckets for each of them would take more than 20 MB.
  assert.ok(heapUsed() - before < 5e6)
})

test('a proxy that was not named is told once, when it is refused for what its clients ask together', () => {
  const forwarded: WireRequest = {
    ...BARE,
    getHeader: (name) => (name === 'x-forwarded-for' ? '198.51.100.7' : ''),
    forEach: (visit) => visit('x-forwarded-for', '198.51.100.7'),
  }
  let told = 0
  const gate = new RateGate(
    LIMITS,
    new TrustedProxies(['10.0.0.1']),
    () => told++,
    () => 0,
  )
  const tellsAfter = (peer: string, request: WireRequest, tokens: number, isAllowed: boolean): number => {
    assert.equal(gate.caller(peer, request).take(tokens)?.isAllowed, isAllowed)
    return told
  }
  assert.equal(tellsAfter('10.0.0.1', forwarded, 10, true), 0)
  assert.equal(tellsAfter('10.0.0.1', forwarded, 1, false), 0, 'a client of a proxy that was named')
  assert.equal(tellsAfter('192.0.2.1', BARE, 10, true), 0)
  assert.equal(tellsAfter('192.0.2.1', BARE, 1, false), 0, 'a client without a proxy')
  assert.equal(tellsAfter('10.0.0.2', forwarded, 10, true), 0)
  assert.equal(tellsAfter('10.0.0.2', forwarded, 1, false), 1)
  assert.equal(tellsAfter('10.0.0.2', forwarded, 1, false), 1)
  assert.equal(tellsAfter('10.0.0.3', forwarded, 10, true), 1)
  assert.equal(tellsAfter('10.0.0.3', forwarded, 1, false), 1)
})
