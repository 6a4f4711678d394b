import assert from 'node:assert/strict'
import { BlockList, isIP } from 'node:net'
import test from 'node:test'
import fc from 'fast-check'
import { isAddressRange } from '../../../../src/config/crossChecks.js'
import { clientName } from '../../../../src/http/limits/client.js'
import { AddressRanges, ipOfPeer, parseIp } from '../../../../src/http/limits/ipAddress.js'

const v4 = fc.ipV4()
const v6 = fc.ipV6()
const version = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

test('an address is parsed exactly when Node parses it', () => {
  const odd = fc.stringMatching(/^[0-9a-f:.]{0,20}$/)
  fc.assert(
    fc.property(fc.oneof(v4, v6, odd), (text) => {
      assert.equal(parseIp(text) !== undefined, isIP(text) !== 0, text)
    }),
    { numRuns: 2_000 },
  )
  for (const text of [
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '1::2::3',
    ':::',
    '1:2:3:4:5:6:7:8:9',
    '::1.2.3.4:5',
    '1.2.3.4::',
  ])
    assert.equal(parseIp(text), undefined, text)
})

test('an address is in a range exactly when Node says so', () => {
  const near = fc.tuple(fc.oneof(v4, v6), fc.nat(128), fc.oneof(v4, v6))
  fc.assert(
    fc.property(near, ([network, bits, address]) => {
      const prefix = Math.min(bits, isIP(network) === 4 ? 32 : 128)
      const list = new BlockList()
      list.addSubnet(network, prefix, version(network))
      const expected = list.check(address, version(address))
      const ranges = new AddressRanges([`${network}/${prefix}`])
      if (version(network) === version(address))
        assert.equal(ranges.has(parseIp(address)!), expected, `${address} in ${network}/${prefix}`)
      assert.equal(ranges.has(parseIp(network)!), true)
    }),
    { numRuns: 2_000 },
  )
})

test('an IPv4 address is the same however a socket or a header spells it', () => {
  const ranges = new AddressRanges(['192.0.2.0/31'])
  const mapped = Uint8Array.of(...Array(10).fill(0), 0xff, 0xff, 192, 0, 2, 1)
  for (const address of [
    ipOfPeer(Uint8Array.of(192, 0, 2, 1).buffer),
    ipOfPeer(mapped.buffer),
    ipOfPeer('192.0.2.1'),
    ipOfPeer('::ffff:192.0.2.1'),
    parseIp('192.0.2.1')!,
    parseIp('::ffff:192.0.2.1')!,
    parseIp('::ffff:c000:201')!,
  ])
    assert.deepEqual([ranges.has(address), clientName(address)], [true, '192.0.2.1'])
  assert.equal(ranges.has(parseIp('192.0.2.2')!), false)
})

test('IPv6 addresses of one /64 are one client, others are not', () => {
  const name = (text: string): string => clientName(parseIp(text)!)
  assert.equal(name('2001:db8:1:2::1'), name('2001:db8:1:2:ffff::9'))
  assert.notEqual(name('2001:db8:1:2::1'), name('2001:db8:1:3::1'))
})

for (const [range, isOne] of [
  ['10.0.0.0/8', true],
  ['192.0.2.7', true],
  ['fd00::/8', true],
  ['::/0', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/08', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['fe80::1%eth0', false],
  ['example.org', false],
] as const)
  test(`${range} is ${isOne ? 'an' : 'no'} address range`, () => {
    assert.equal(isAddressRange(range), isOne)
  })
