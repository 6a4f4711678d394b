import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../../src/config/configError.js'
import { proxyFor } from '../../../src/config/proxy.js'

const both = { HTTP_PROXY: 'http://plain:3128', HTTPS_PROXY: 'http://secure:3128' }

test('the scheme of an address chooses its proxy', () => {
  assert.equal(proxyFor('http://rpc.example/key', both), 'http://plain:3128')
  assert.equal(proxyFor('ws://rpc.example/key', both), 'http://plain:3128')
  assert.equal(proxyFor('https://rpc.example/key', both), 'http://secure:3128')
  assert.equal(proxyFor('wss://rpc.example/key', both), 'http://secure:3128')
  assert.equal(proxyFor('https://rpc.example/', { HTTP_PROXY: 'http://plain:3128' }), undefined)
  assert.equal(proxyFor('https://rpc.example/', {}), undefined)
})

test("proxy variables in lower case win over upper case, an empty one counts as absent, and the proxy's scheme is optional", () => {
  assert.equal(proxyFor('https://a.example/', { https_proxy: 'http://small', ...both }), 'http://small')
  assert.equal(proxyFor('https://a.example/', { https_proxy: '', ...both }), 'http://secure:3128')
  assert.equal(proxyFor('https://a.example/', { HTTPS_PROXY: ' ' }), undefined)
  assert.equal(proxyFor('https://a.example/', { HTTPS_PROXY: 'u:p@proxy:3128' }), 'http://u:p@proxy:3128')
  assert.equal(proxyFor('http://a.example/', { ...both, no_proxy: 'a.example' }), undefined)
})

test('addresses of this machine never use a proxy', () => {
  for (const host of ['localhost', 'x.localhost', '127.0.0.1', '127.9.9.9', '[::1]', 'LOCALHOST'])
    assert.equal(proxyFor(`http://${host}:8545/`, both), undefined, host)
})

test('NO_PROXY exempts names with their subdomains, addresses, ranges and ports', () => {
  const exempt: readonly (readonly [string, string])[] = [
    ['*', 'https://rpc.example'],
    ['example', 'https://rpc.example'],
    ['rpc.example', 'https://rpc.example'],
    ['.example', 'https://rpc.example'],
    ['*.example', 'https://a.rpc.example'],
    ['.rpc.example', 'https://rpc.example'],
    ['RPC.Example', 'https://rpc.example'],
    ['other, rpc.example', 'https://rpc.example.'],
    ['other rpc.example', 'https://RPC.EXAMPLE'],
    ['rpc.example:443', 'https://rpc.example'],
    ['rpc.example:8545', 'https://rpc.example:8545'],
    ['10.0.0.0/8', 'http://10.1.2.3:8545'],
    ['10.1.2.3', 'http://10.1.2.3:8545'],
    ['fd00::/8', 'http://[fd00::7]:8545'],
    ['[fd00::7]:8545', 'http://[fd00::7]:8545'],
    ['.svc,.cluster.local,172.16.0.0/12', 'http://172.20.0.9'],
    ['.svc,.cluster.local', 'http://node.rpc.svc:8545'],
  ]
  for (const [NO_PROXY, url] of exempt)
    assert.equal(proxyFor(url, { ...both, NO_PROXY }), undefined, `${NO_PROXY} ${url}`)
  const others: readonly (readonly [string, string])[] = [
    ['', 'https://rpc.example'],
    ['rpc', 'https://rpc.example'],
    ['pc.example', 'https://rpc.example'],
    ['a.rpc.example', 'https://rpc.example'],
    ['rpc.example:80', 'https://rpc.example'],
    ['10.0.0.0/8', 'http://11.1.2.3'],
    ['10.0.0.0/99', 'http://10.1.2.3'],
    ['10.0.0.0/8', 'http://rpc.example'],
    ['0.2.3', 'http://10.0.2.3'],
    [',,', 'https://rpc.example'],
  ]
  for (const [NO_PROXY, url] of others)
    assert.notEqual(proxyFor(url, { ...both, NO_PROXY }), undefined, `${NO_PROXY} ${url}`)
})

test('a proxy that is no http proxy is a mistake of the configuration, reported without its address', () => {
  for (const value of ['socks5://me:secret@proxy:1080', 'http://[', '://', '//proxy'])
    assert.throws(
      () => proxyFor('https://rpc.example', { HTTPS_PROXY: value }),
      (error) =>
        error instanceof ConfigError &&
        error.mistakes.join() === 'HTTPS_PROXY is not an http:// or https:// address of a proxy',
    )
  assert.equal(proxyFor('https://rpc.example', { HTTPS_PROXY: 'socks5://x', NO_PROXY: '*' }), undefined)
})

test('a password of a proxy that can not be decoded is a mistake of the configuration, reported without it', () => {
  assert.throws(
    () => proxyFor('https://rpc.example', { HTTPS_PROXY: 'http://me:50%secret@proxy:3128' }),
    (error) =>
      error instanceof ConfigError &&
      error.mistakes.join() === 'the user or password in HTTPS_PROXY is not percent-encoded: % is %25',
  )
})
