import assert from 'node:assert/strict'
import test from 'node:test'
import { startHttpWorld } from '../support/httpWorld.js'
import { RawConnection, requestText } from '../support/rawHttp.js'
import { eachTransport } from './eachTransport.js'
import { transportTable } from './transportTable.js'

const LIVE = requestText('GET', '/livez')
const BRIDGES = requestText('GET', '/bridge/v1/bridges?network_id=1')
const manyHeaders = (count: number): string[] => Array.from({ length: count }, (_, at) => `X-H${at}: v`)

/** The bytes of each row of the table in docs/http.md. `Host` is one of the headers. */
const REQUESTS: Readonly<Record<string, string>> = {
  'HTTP/1.0': 'GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n',
  'without `Host`': 'GET /livez HTTP/1.1\r\nAccept: */*\r\n\r\n',
  '`Host` twice': requestText('GET', '/livez', ['Host: other']),
  'lines that end with LF only': 'GET /livez HTTP/1.1\nHost: localhost\n\n',
  '48 headers': requestText('GET', '/livez', manyHeaders(47)),
  '90 headers': requestText('GET', '/livez', manyHeaders(89)),
  '120 headers': requestText('GET', '/livez', manyHeaders(119)),
  'headers of 5 KB': requestText('GET', '/livez', [`Cookie: ${'c'.repeat(5_000)}`]),
  'headers of 20 KB': requestText('GET', '/livez', [`Cookie: ${'c'.repeat(20_000)}`]),
  'a URL of 3 KB': requestText('GET', `/${'a'.repeat(3_000)}`),
  'a URL of 9 KB': requestText('GET', `/${'a'.repeat(9_000)}`),
  'a method in small letters (`get`)': requestText('get', '/livez'),
  'a method that HTTP does not know (`BREW`)': requestText('BREW', '/livez'),
  '`CONNECT localhost:80`': requestText('CONNECT', 'localhost:80'),
  '`OPTIONS *`': requestText('OPTIONS', '*'),
  'an absolute target (`GET http://localhost/livez`)': requestText('GET', 'http://localhost/livez'),
  'a target without a slash (`GET livez`)': requestText('GET', 'livez'),
  'bytes above 127 in the URL': requestText('GET', '/livez?\u00e4'),
  'a blank in the URL': requestText('GET', '/livez?a b'),
  '`Content-Length: 0` twice': requestText('GET', '/livez', ['Content-Length: 0', 'Content-Length: 0']),
  '`Content-Length` and `Transfer-Encoding`': requestText('GET', '/livez', [
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
  ]),
  'a header line without a name (`: x`)': requestText('GET', '/livez', [': x']),
  'a blank before the colon': requestText('GET', '/livez', ['Accept : x']),
  'a header that goes on in the next line': requestText('GET', '/livez', ['Accept: x', ' y']),
  '`Expect: 100-continue`': requestText('GET', '/livez', ['Expect: 100-continue']),
  '`Upgrade: websocket`': requestText('GET', '/livez', ['Connection: Upgrade', 'Upgrade: websocket']),
  'an empty line before the request': `\r\n${LIVE}`,
  'two that are answered from memory, in one piece': LIVE + LIVE,
  'one that waits for a query thread, and another one': BRIDGES + LIVE,
  'one with `Connection: close`, and another one': requestText('GET', '/livez', ['Connection: close']) + LIVE,
  'one, and bytes that are none': `${LIVE}\0\x01\x02\r\n\r\n`,
}

for (const transport of eachTransport())
  test(`${transport.name}: requests that transports take in different ways are answered as docs/http.md says`, async (context) => {
    const { port, logLines } = await startHttpWorld(context, {}, undefined, transport)
    const table = transportTable('request', transport.name)
    assert.deepEqual([...table.keys()], Object.keys(REQUESTS))
    const seen = new Map<string, string>()
    for (const [row, bytes] of Object.entries(REQUESTS)) seen.set(row, await outcome(port, bytes))
    assert.deepEqual(seen, table)
    assert.deepEqual(logLines, [])
  })

/** The statuses that the bytes are answered with. */
async function outcome(port: number, bytes: string): Promise<string> {
  const connection = new RawConnection(port).send(bytes)
  // The client says that no more comes, so that the server need not wait. It gives up an answer that is not made yet.
  connection.socket.end()
  const statuses = [...(await connection.rest()).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
  return statuses.length === 0 ? 'no answer' : statuses.join(', ')
}
