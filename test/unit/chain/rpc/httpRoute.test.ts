import assert from 'node:assert/strict'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { type AddressInfo, connect, type LookupFunction } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openHeadSocket } from '../../../../src/chain/rpc/headSocket.js'
import { createHttpPost } from '../../../../src/chain/rpc/httpPost.js'
import { ENDLESS_MS, serveHeads } from '../wireScripts.js'

const { signal } = new AbortController()

async function listen(context: TestContext, server: Server, host: string, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** A proxy that records its requests. `tunnels` says whether it accepts requests for a tunnel. */
async function serveProxy(context: TestContext, tunnels: boolean) {
  const seen: string[] = []
  const note = (method: string, url: string, authorization: string | undefined) =>
    seen.push(`${method} ${url} ${authorization ?? 'none'}`)
  const server = createServer((request, response) => {
    note(request.method!, request.url!, request.headers['proxy-authorization'])
    const { 'proxy-authorization': _, ...headers } = request.headers
    const forward = httpRequest(request.url!, { method: request.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forward)
  })
  server.on('connect', (request, socket) => {
    note('CONNECT', request.url!, request.headers['proxy-authorization'])
    if (!tunnels) return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    const [host, port] = request.url!.split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  return { port: await listen(context, server, '127.0.0.1'), seen }
}

test('plain HTTP sends the proxy the whole address, and proxy and endpoint each get their own credentials', async (context) => {
  const target = createServer((request, response) =>
    response.end(
      `${request.url} ${request.headers.host} ${request.headers.authorization} ${request.headers['proxy-authorization']}`,
    ),
  )
  const port = await listen(context, target, '127.0.0.1')
  const proxy = await serveProxy(context, false)
  const post = createHttpPost({
    url: `http://user:pass@127.0.0.1:${port}/v3/key?x=1`,
    proxy: `http://me:p%40ss@127.0.0.1:${proxy.port}`,
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 1_000,
  })
  for (let round = 0; round < 2; round++)
    assert.equal(
      (await post('{}', signal)).body.toString(),
      // printf user:pass | base64
      `/v3/key?x=1 127.0.0.1:${port} Basic dXNlcjpwYXNz undefined`,
    )
  // printf me:p@ss | base64
  assert.deepEqual(
    proxy.seen,
    new Array(2).fill(`POST http://127.0.0.1:${port}/v3/key?x=1 Basic bWU6cEBzcw==`),
  )
})

test('TLS opens a tunnel through the proxy, and a proxy that refuses it is reported by its HTTP status', async (context) => {
  const proxy = await serveProxy(context, false)
  const post = createHttpPost({
    url: 'https://rpc.example/v3/key',
    proxy: `http://me:pass@127.0.0.1:${proxy.port}`,
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 1_000,
  })
  assert.equal((await post('{}', signal)).status, 403)
  // printf me:pass | base64
  assert.deepEqual(proxy.seen, ['CONNECT rpc.example:443 Basic bWU6cGFzcw=='])
})

test('new heads arrive through a proxy tunnel', async (context) => {
  const heads = await serveHeads(context)
  const proxy = await serveProxy(context, true)
  await new Promise<void>((resolve, reject) => {
    context.after(
      openHeadSocket({
        url: heads.url,
        proxy: `http://127.0.0.1:${proxy.port}`,
        timeoutMs: ENDLESS_MS,
        onSubscribed: resolve,
        onHead: () => undefined,
        onEnd: (reason) => reject(new Error(reason)),
      }),
    )
  })
  assert.deepEqual(proxy.seen, [`CONNECT ${new URL(heads.url).host} none`])
})

test('a host name is resolved again when the connection is old, however busy it is', async (context) => {
  const answering = (text: string) => createServer((_request, response) => response.end(text))
  const port = await listen(context, answering('old'), '127.0.0.1')
  await listen(context, answering('new'), '127.0.0.2', port)
  let nowMs = 0
  context.mock.method(performance, 'now', () => nowMs)
  let address = '127.0.0.1'
  let lookups = 0
  const lookup: LookupFunction = (_host, options, callback) => {
    lookups++
    if (options.all) callback(null, [{ address, family: 4 }])
    else callback(null, address, 4)
  }
  const post = createHttpPost({
    url: `http://rpc.test:${port}/`,
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 1_000,
    connectionAgeMs: 300,
    lookup,
  })
  const ask = async () => (await post('{}', signal)).body.toString()
  assert.equal(await ask(), 'old')
  address = '127.0.0.2'
  for (; nowMs < 299; nowMs++) assert.equal(await ask(), 'old')
  assert.equal(lookups, 1)
  nowMs++
  // This answer is the connection's last one.
  assert.equal(await ask(), 'old')
  assert.equal(await ask(), 'new')
})
