import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHttpPost } from '../../../src/chain/rpc/httpPost.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import {
  hideAddress,
  jsonWithoutSecrets,
  showName,
  withoutAddressParts,
  withoutSecrets,
} from '../../../src/telemetry/secrets.js'

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
    const clean = jsonWithoutSecrets(line)
    assert.ok(!clean.includes(secret), `${secret} in ${clean}`)
    assert.equal(JSON.parse(clean).level, 'debug', clean)
  }
})

/** Each character of a text, written in one way. */
function written(text: string, way: (code: number) => string): string {
  return [...text].map((sign) => way(sign.codePointAt(0)!)).join('')
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

test('a key is hidden in every spelling of URLs, JSON, JavaScript and HTML, in several of them at once too', () => {
  const key = 'aB3dE5fG7h1jK2'
  const ways: readonly ((code: number) => string)[] = [
    (code) => `%${hex(code, 2)}`,
    (code) => `%25${hex(code, 2).toUpperCase()}`,
    (code) => `%252525${hex(code, 2)}`,
    (code) => `\\u${hex(code, 4)}`,
    (code) => `\\\\u${hex(code, 4).toUpperCase()}`,
    (code) => `\\u{${hex(code, 2)}}`,
    (code) => `\\x${hex(code, 2)}`,
    (code) => `&#${code};`,
    (code) => `&#x${hex(code, 4)};`,
    (code) => `&amp;#${code};`,
    (code) => (code % 2 === 0 ? `\\u${hex(code, 4)}` : `%${hex(code, 2)}`),
    (code) => written(`\\u${hex(code, 4)}`, (inner) => `%${hex(inner, 2)}`),
  ]
  for (const way of ways)
    for (const text of [written(key, way), written(key.toUpperCase(), way)]) {
      assert.equal(withoutSecrets(`key ${text} is over`), 'key [redacted] is over')
      const nested = JSON.stringify({ body: JSON.stringify({ words: `key ${text} is over` }) })
      assert.equal(withoutSecrets(nested).includes('[redacted]'), true, nested)
      assert.equal(jsonWithoutSecrets(nested), '{"body":"{\\"words\\":\\"key [redacted] is over\\"}"}')
    }
})

test('a plain path is hidden where it stands for itself, and other words that hold it stay readable', () => {
  hideAddress('https://plain.example:8545/rpc')
  hideAddress('https://plain.example/v2?id=1')
  for (const [text, left] of [
    ['POST /rpc: 404', 'POST [redacted]: 404'],
    ['no route plain.example:8545/rpc', 'no route plain.example:8545[redacted]'],
    ['no route plain.example:443/rpc.', 'no route plain.example:443[redacted].'],
    ['"path":"/rpc"', '"path":"[redacted]"'],
    ['%2Frpc', '[redacted]'],
    ['at dist/src/chain/rpc/httpRoute.js:7', 'at dist/src/chain/rpc/httpRoute.js:7'],
    ['data folder /srv/rpc', 'data folder /srv/rpc'],
    ['GET /rpcs, /rpc-2, /rpc/more and /v2', 'GET /rpcs, /rpc-2, /rpc/more and /v2'],
    ['GET /claims?network_id=1&depth=2', 'GET /claims?network_id=1&depth=2'],
    ['asked for /v2?id=1', 'asked for [redacted]'],
  ] as const)
    assert.equal(withoutSecrets(text), left)
})

test('a part that is in the name of an endpoint stays readable in that name, a password does not', () => {
  showName('Ankr arbitrum-nova-1')
  hideAddress('https://ankr.example/arbitrum-nova-1/9f8e7d6c5b4a')
  hideAddress('https://x:arbitrum@ankr.example/')
  assert.equal(
    withoutSecrets('Ankr arbitrum-nova-1 fails: /arbitrum-nova-1/9f8e7d6c5b4a'),
    'Ankr [redacted]-nova-1 fails: [redacted]',
  )
})

test('keys within a segment or a value are hidden by themselves', () => {
  hideAddress('https://within.example/rpc;apikey=k3ysegment/eth?auth=Bearer%20b3arertoken')
  for (const key of ['k3ysegment', 'b3arertoken', 'Bearer b3arertoken', 'Bearer+b3arertoken'])
    assert.doesNotMatch(withoutSecrets(`no such key: ${key}`), /k3yseg|b3arer/)
})

test('a JSON document without secrets is still one', () => {
  hideAddress('https://json.example/nabc123456/123456789012345')
  const given = { 'key nabc123456': [123456789012345, 12, null, true], text: 'line\nabc123456' }
  const left = { 'key [redacted]': ['[redacted]', 12, null, true], text: 'line\nabc123456' }
  assert.deepEqual(JSON.parse(jsonWithoutSecrets(JSON.stringify(given))), left)
  const line = `${JSON.stringify(given)}\n`
  assert.equal(jsonWithoutSecrets(line), `${JSON.stringify(left)}\n`)
  assert.equal(jsonWithoutSecrets('{"cut nabc123456'), '{"cut [redacted]')
})

test("a provider's words hide plain parts in every spelling, too", () => {
  hideAddress('https://words.example/tenant/mykey')
  for (const text of ['tenant', 'TENANT', '%74enant', 't\\u0065nant'])
    assert.equal(withoutAddressParts(`no ${text} here, tenants are`), 'no [redacted] here, tenants are')
})

test('a text of signs that begin escapes takes no longer than other text', () => {
  const most = 200_000
  for (const sign of [
    '\\',
    '%',
    '%25',
    '&',
    '&amp;',
    'http:/',
    'http:\\',
    'https://a@',
    'a://',
    'a.',
    'nats://a:',
    'a://b@c ',
  ])
    assert.ok(withoutSecrets(sign.repeat(most / sign.length)).length > 0)
})

test('a secret that means very few characters, or blanks, does not blank out other text', () => {
  hideAddress('https://u:%20a@few.example/')
  hideAddress('https://v:%20%20%20%20@few.example/?key=%20%20')
  hideAddress('https://w:%61b@few.example/')
  const text = 'network is at a block,  about    here'
  assert.equal(withoutSecrets(text), text)
})

test('a short password is hidden where it is a word of its own, and not within other words', () => {
  hideAddress('https://someone:test@brief.example/')
  for (const [text, left] of [
    ['the latest, attested', 'the latest, attested'],
    ['no test, "test"; TEST%40brief', 'no [redacted], "[redacted]"; [redacted]%40brief'],
    ['\\ntest%3Atest/eth', '\\n[redacted]%3A[redacted]/eth'],
  ] as const)
    assert.equal(withoutSecrets(text), left)
})

test('a key that is a parameter without a value is hidden', () => {
  hideAddress('https://valueless.example/?n4meIsTheKey=&net=')
  assert.equal(withoutSecrets('no n4meIsTheKey on net'), 'no [redacted] on net')
})

test('schemes without an address stay readable', () => {
  const text = 'not one of http:// or https://\nnor "wss://"'
  assert.equal(withoutSecrets(text), text)
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

test('an address of any scheme is hidden whole where it has a user, and stays readable without one', () => {
  for (const address of [
    'nats://bds:s3cret-pass@nats-1.internal:4222',
    'nats://s3cret-token@nats-1.internal:4222',
    'NATS://bds:s3cret-pass@[2001:db8::1]:4222/x?y=s3cret',
    'tls://bds:@s3cret@nats-1:4222',
    'amqp+tls://bds:s3cret/with/slashes@mq',
    'redis://:s3cret@redis:6379/0',
    'socks5h://me:s3cret@proxy:1080',
    'postgres://a:s3cret%40b@db/x',
  ]) {
    assert.equal(
      withoutSecrets(`cannot reach ${address}: refused`),
      'cannot reach [address] refused',
      address,
    )
    assert.equal(withoutSecrets(`_${address},nats://a:s3cret@b`), '_[address]', address)
    assert.equal(withoutSecrets(`url=${encodeURIComponent(address)}&next`), 'url=[address]', address)
    const line = JSON.stringify({ error: { message: `bad ${address}` } })
    assert.equal(jsonWithoutSecrets(line), '{"error":{"message":"bad [address]"}}', address)
    assert.equal(
      jsonWithoutSecrets(line.replaceAll('/', '\\/')),
      '{"error":{"message":"bad [address]"}}',
      address,
    )
  }
  for (const text of [
    'no answer from nats://nats-1.internal:4222, nats-2:4222',
    'at file:///srv/node_modules/@nats-io/core/lib/x.js:3:7',
    'mail ops@bridge.example, see scheme:// and x://',
    'a@b 10:11://c',
  ])
    assert.equal(withoutSecrets(text), text)
})

test('an address that nobody configured is hidden whole, however it is written', () => {
  const address = 'https://other.example/moved/to'
  for (const [text, left] of [
    [`see ${address}?a=b.`, 'see [address]'],
    [JSON.stringify({ to: address }).replaceAll('/', '\\/'), '{"to":"[address]"}'],
    [`url=${encodeURIComponent(address)}&next`, 'url=[address]'],
    ['http://[2001:db8::1]:8545/moved/to', '[address]'],
    ['wss://u:p@[::1]/moved', '[address]'],
  ] as const)
    assert.equal(withoutSecrets(text), left)
})
