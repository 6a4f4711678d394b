import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHttpPost } from '../../../src/chain/rpc/httpPost.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import { hideAddress, withoutSecrets } from '../../../src/telemetry/secrets.js'

const ADDRESSES = [
  'https://mainnet.example/v3/aB3dE5fG7h1jK2',
  'https://rpc.example/?apikey=q-9f8e7d6c&net=main',
  'https://me:p%40ss%22word@rpc.example/eth',
  'wss://node.example/ws/w5t0k3n/',
  'http://k%65y1234@one.example:8545',
  'https://name.example/%7Btoken-in-braces-1%7D',
  'https://rpc.example/eth?project-id=plainword&apiKey=otherword',
  'https://loneuser@rpc.example/',
  'http://proxyuser77:proxypass@proxy.example:3128',
  'https://rpc.example/v3/SECRETKEY',
  'wss://ops:s%C3%A9cret%2Fpass@ws.example/live?key=Ab%2Bcd%26ef12',
]
for (const address of ADDRESSES) hideAddress(address)

test('path, query, user and password of an address are hidden in any text, in any of their encodings', () => {
  const echoes: readonly (readonly [string, string])[] = [
    ['invalid project id aB3dE5fG7h1jK2', 'aB3dE5fG7h1jK2'],
    ['no route for mainnet.example/v3/aB3dE5fG7h1jK2', '/v3/aB3d'],
    ['POST /v3/aB3dE5fG7h1jK2 429', 'aB3dE5fG7h1jK2'],
    ['key ab3de5fg7h1jk2 is over its limit', 'ab3de5fg7h1jk2'],
    ['key q-9f8e7d6c is disabled', 'q-9f8e7d6c'],
    ['cannot use ?apikey=q-9f8e7d6c&net=main', 'net=main'],
    ['user me:p@ss"word is unknown', 'ss\\"word'],
    ['password p%40ss%22word', 'p%40ss'],
    // printf 'me:p@ss"word' | base64
    ['authorization: Basic bWU6cEBzcyJ3b3Jk', 'bWU6cEBzcyJ3b3Jk'],
    ['token w5t0k3n expired', 'w5t0k3n'],
    ['user key1234', 'key1234'],
    ['user k%65y1234', 'k%65y1234'],
    ['no {token-in-braces-1}', 'token-in-braces-1'],
    ['no %7Btoken-in-braces-1%7D', 'token-in-braces-1'],
    ['KEY AB3DE5FG7H1JK2 is over its limit', 'AB3DE5FG7H1JK2'],
    ['project plainword is paused', 'plainword'],
    ['no such key: OTHERWORD', 'OTHERWORD'],
    ['user loneuser is unknown', 'loneuser'],
    ['proxyuser77 is not allowed', 'proxyuser77'],
    ['proxypass is wrong', 'proxypass'],
    ['invalid project id SECRETKEY', 'SECRETKEY'],
    ['project aB3De5fG7H1jk2 in other letters', 'aB3De5fG7H1jk2'],
    ['GET %2Fv3%2FaB3dE5fG7h1jK2', 'aB3dE5fG7h1jK2'],
    ['password s%c3%a9cret%2fpass', 'cret%2fpass'],
    ['password s%25C3%25A9cret%252Fpass', 'cret%252Fpass'],
    ['key Ab+cd&amp;ef12', 'ef12'],
    ['key Ab+cd\\u0026ef12', 'ef12'],
    [JSON.stringify({ error: 'me:p@ss"word' }), 'ss'],
    // printf 'aB3dE5fG7h1jK2' | base64
    ['token YUIzZEU1Zkc3aDFqSzI=', 'YUIzZEU1'],
    // printf 'loneuser:' | base64, without padding
    ['Basic bG9uZXVzZXI6', 'bG9uZXVzZXI6'],
  ]
  for (const [text, secret] of echoes) {
    const line = JSON.stringify({ level: 'debug', text, nested: [text] })
    const clean = withoutSecrets(line)
    assert.ok(!clean.includes(secret), `${secret} in ${clean}`)
    assert.equal(JSON.parse(clean).level, 'debug', clean)
  }
})

test('hosts, short names and numbers stay readable', () => {
  const line =
    '{"text":"mainnet.example has no method eth_call in v3, network main, block 4096, ws closed, me too"}'
  assert.equal(withoutSecrets(line), line)
})

test('no line has the parts of an address that a provider echoes', () => {
  createHttpPost({ url: 'http://127.0.0.1:9/v2/echoed-k3y', timeoutMs: 100, maxBodyBytes: 100 })
  for (const format of ['json', 'pretty'] as const) {
    const lines: string[] = []
    const logger = createLogger({ level: 'debug', format }, {}, (line) => void lines.push(line))
    logger.debug('endpoint said', {
      text: 'unknown key echoed-k3y, at /v2/echoed-k3y',
      error: new Error('echoed-k3y'),
    })
    assert.equal(lines.length, 1)
    assert.ok(!lines[0]!.includes('echoed-k3y'), lines[0])
  }
})

test('an address that nobody configured is hidden whole, however it is written', () => {
  const address = 'https://other.example/moved/to'
  for (const [text, left] of [
    [`see ${address}?a=b.`, 'see [address]'],
    [JSON.stringify({ to: address }).replaceAll('/', '\\/'), '{"to":"[address]"}'],
    [`url=${encodeURIComponent(address)}&next`, 'url=[address]&next'],
    ['http://[2001:db8::1]:8545/moved/to', '[address]'],
    ['wss://u:p@[::1]/moved', '[address]'],
  ] as const)
    assert.equal(withoutSecrets(text), left)
})
