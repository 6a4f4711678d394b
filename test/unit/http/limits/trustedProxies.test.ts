import assert from 'node:assert/strict'
import test from 'node:test'
import { parseIp } from '../../../../src/http/limits/ipAddress.js'
import { TrustedProxies } from '../../../../src/http/limits/trustedProxies.js'
import type { WireRequest } from '../../../../src/http/wire/wire.js'

function forwarding(...lines: readonly string[]): WireRequest {
  return {
    getMethod: () => 'get',
    getUrl: () => '/',
    getQuery: () => undefined,
    getHeader: () => '',
    forEach: (visit) => {
      visit('host', 'a')
      for (const line of lines) visit('x-forwarded-for', line)
    },
  }
}

for (const [what, peer, forwarded, client] of [
  ['an untrusted peer is the client, whatever it forwards', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
  [
    'behind a trusted proxy the client is the address that it names',
    '10.0.0.1',
    '203.0.113.9',
    '203.0.113.9',
  ],
  ["an entry of the client's own is not believed", '10.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['a chain of trusted proxies is followed', '10.0.0.1', '203.0.113.9, 10.0.0.2,10.0.0.3', '203.0.113.9'],
  ['a trusted proxy that names no address is the client', '10.0.0.1', '', '10.0.0.1'],
  ['an entry that is no address ends the search', '10.0.0.1', '203.0.113.9, unknown, 10.0.0.2', '10.0.0.2'],
  ['a port is dropped', '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  ['a port behind brackets is dropped', '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['entries are read from the last line on', '10.0.0.1', ['8.8.8.8', '203.0.113.9, 10.0.0.2'], '203.0.113.9'],
  [
    'a line of proxies only is followed by the one before it',
    '10.0.0.1',
    ['203.0.113.9', '10.0.0.2'],
    '203.0.113.9',
  ],
  ['without the header the proxy is the client', '10.0.0.1', [], '10.0.0.1'],
  ['a comma at the end names nobody', '10.0.0.1', '203.0.113.9,', '10.0.0.1'],
  ['no more than 16 proxies are followed', '10.0.0.1', `203.0.113.9${',10.0.0.2'.repeat(16)}`, '10.0.0.2'],
  [
    'an entry that is longer than any address is none',
    '10.0.0.1',
    `203.0.113.9:${'4'.repeat(60)}, 10.0.0.2`,
    '10.0.0.2',
  ],
  ['sixteen are', '10.0.0.1', `203.0.113.9${',10.0.0.2'.repeat(15)}`, '203.0.113.9'],
] as const)
  test(`the client's address behind proxies: ${what}`, () => {
    const lines = typeof forwarded === 'string' ? [forwarded] : forwarded
    const found = new TrustedProxies(['10.0.0.0/8']).clientOf(peer, forwarding(...lines))
    assert.deepEqual(found, parseIp(client))
  })

test('proxies that replace others are trusted from then on, and the others no more', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'])
  const clientOf = (peer: string) => proxies.clientOf(peer, forwarding('203.0.113.9')).subarray(12).join('.')
  assert.deepEqual([clientOf('10.0.0.1'), clientOf('192.0.2.1')], ['203.0.113.9', '192.0.2.1'])
  proxies.replace(['192.0.2.1'])
  assert.deepEqual([clientOf('10.0.0.1'), clientOf('192.0.2.1')], ['10.0.0.1', '203.0.113.9'])
})
