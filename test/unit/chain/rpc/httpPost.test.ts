import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { BodyTooLong, createHttpPost, HttpTimeout } from '../../../../src/chain/rpc/httpPost.js'
import { UnreadableCoding } from '../../../../src/chain/rpc/replyCoding.js'
import { ENDLESS_MS, endlessSilence } from '../wireScripts.js'

test('user and password in an address become a header, and so does a password without a user', async () => {
  const server = createServer((request, response) => response.end(request.headers.authorization ?? 'none'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (url: string) => {
    const post = createHttpPost({ url, timeoutMs: ENDLESS_MS, maxBodyBytes: 1_000 })
    return (await post('{}', new AbortController().signal)).body.toString()
  }
  try {
    assert.equal(await ask(`http://${host}/`), 'none')
    // printf 'user:p%' | base64
    assert.equal(await ask(`http://user:p%25@${host}/`), 'Basic dXNlcjpwJQ==')
    // printf ':key' | base64
    assert.equal(await ask(`http://:key@${host}/`), 'Basic OmtleQ==')
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('a request on a connection that the server has closed meanwhile is sent again', async () => {
  const sockets = new Set<Socket>()
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    sockets.add(request.socket)
    // The server does not say how long it keeps the connection, as many gateways.
    response.shouldKeepAlive = true
    response.end(String(requests))
  })
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const post = createHttpPost({
    url: `http://127.0.0.1:${port}/`,
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 1_000,
  })
  const { signal } = new AbortController()
  try {
    assert.equal((await post('{}', signal)).body.toString(), '1')
    // The connection is reset in the same turn in which the second request is written.
    for (const socket of sockets) socket.resetAndDestroy()
    assert.equal((await post('{}', signal)).body.toString(), '2')
    assert.equal(sockets.size, 2)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('a request on a kept connection that timed out is not sent again', async (t) => {
  const silent = endlessSilence(t)
  let requests = 0
  const server = createServer((_request, response) => {
    if (requests++ === 0) response.end('first')
    else silent()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const post = createHttpPost({
    url: `http://127.0.0.1:${port}/`,
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 1_000,
  })
  const { signal } = new AbortController()
  try {
    await post('{}', signal)
    await assert.rejects(post('{}', signal), HttpTimeout)
    // The next request arrives after all earlier ones.
    await assert.rejects(post('{}', signal), HttpTimeout)
    assert.equal(requests, 3)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

/** Asks a server that answers `body` with the header `content-encoding: coding`. */
async function askPacked(coding: string, body: Buffer, maxBodyBytes = 100_000): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-encoding', coding)
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const post = createHttpPost({ url: `http://127.0.0.1:${port}/`, timeoutMs: ENDLESS_MS, maxBodyBytes })
  try {
    return (await post('{}', new AbortController().signal)).body.toString()
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test('a compressed answer is decompressed, and the size limit counts its decompressed bytes', async () => {
  const text = JSON.stringify('a'.repeat(4_998))
  const packed: readonly (readonly [string, Buffer])[] = [
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
  ]
  for (const [coding, body] of packed) {
    assert.equal(await askPacked(coding, body, 5_000), text, coding)
    await assert.rejects(askPacked(coding, body, 4_999), BodyTooLong, coding)
  }
  const plain = Buffer.from(JSON.stringify({ result: text }))
  for (const coding of ['identity', '', 'gzip', 'UTF-8', 'none'])
    assert.equal(await askPacked(coding, plain), plain.toString())
  const bomb = gzipSync(Buffer.alloc(200_000_000, 'a'))
  await assert.rejects(askPacked('gzip', bomb, 1_000_000), BodyTooLong)
})

test('a compressed answer that is longer than the limit ends there, also where it holds nothing', async () => {
  const server = createServer(async (request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.write(gzipSync('').subarray(0, 10))
    // Blocks without a byte, none of which is the last one.
    const nothing = Buffer.from('000000ffff'.repeat(10_000), 'hex')
    // Node 24 calls back at once for a connection that has gone, before the answer learns of it.
    while (!request.socket.destroyed) await new Promise((resolve) => response.write(nothing, resolve))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  try {
    const post = createHttpPost({ url, timeoutMs: ENDLESS_MS, maxBodyBytes: 1_000_000 })
    await assert.rejects(post('{}', new AbortController().signal), BodyTooLong)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('an unknown encoding, and a body that is not encoded as its header says, are named', async () => {
  const body = gzipSync('{}')
  for (const coding of ['zstd', 'compress', 'dcb', 'gzip, br', 'constructor'])
    await assert.rejects(askPacked(coding, body), {
      message: `is encoded as ${coding}, which is not supported`,
    })
  await assert.rejects(askPacked('http://host/key', body), {
    message: 'is encoded as something, which is not supported',
  })
  for (const coding of ['gzip', 'br', 'deflate'])
    await assert.rejects(askPacked(coding, Buffer.from('\x07 no such thing')), UnreadableCoding, coding)
  await assert.rejects(askPacked('gzip', body.subarray(0, -4)), UnreadableCoding)
})

test('answers that arrive in pieces at the same time are each whole, compressed ones too', async () => {
  // Random digits: decompressing them takes longer than receiving them.
  const digits = Buffer.from(
    Array.from({ length: 2 ** 17 }, (_, at) => 48 + ((Math.imul(at, at ^ 0x9e3779b1) >>> 13) & 15)),
  )
  const pieces = (seed: number) =>
    Array.from({ length: 60 }, (_, at) => digits.subarray((seed * 7_919 + at * 104_729) % 90_001))
  const server = createServer((request, response) => {
    const seed = Number(request.url!.slice(1))
    if (seed % 2 === 1) {
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.concat(pieces(seed)), { level: 1 }))
      return
    }
    const [first, ...rest] = pieces(seed)
    // The first piece with the headers, and each other piece in a turn of its own.
    response.write(first)
    const next = (): void => {
      const piece = rest.shift()
      if (piece === undefined) response.end()
      else response.write(piece, () => setImmediate(next))
    }
    setImmediate(next)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { signal } = new AbortController()
  try {
    const seeds = [0, 1, 2, 3, 4, 5]
    const bodies = await Promise.all(
      seeds.map(async (seed) => {
        const url = `http://127.0.0.1:${port}/${seed}`
        const post = createHttpPost({ url, timeoutMs: ENDLESS_MS, maxBodyBytes: 2 ** 24 })
        // The second request uses the same connection.
        const first = await post('{}', signal)
        const second = await post('{}', signal)
        assert.ok(first.body.equals(second.body))
        return second.body
      }),
    )
    for (const seed of seeds) assert.ok(bodies[seed]!.equals(Buffer.concat(pieces(seed))), `body ${seed}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('an answer of an announced length takes exactly its memory, which two later answers at a time use again', async () => {
  const LENGTH = 300_000
  const server = createServer((_request, response) => {
    response.setHeader('content-length', LENGTH)
    // In pieces, as over a network.
    response.write(Buffer.alloc(1_000, 0x61), () => response.end(Buffer.alloc(LENGTH - 1_000, 0x62)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const post = createHttpPost({ url, timeoutMs: ENDLESS_MS, maxBodyBytes: LENGTH })
  const ask = () => post('{}', new AbortController().signal)
  try {
    const first = await Promise.all([ask(), ask()])
    const memories = first.map(({ body }) => body.buffer)
    for (const memory of memories) assert.equal(memory.byteLength, LENGTH)
    for (const { release } of first) release?.()
    const next = await Promise.all([ask(), ask()])
    for (const { body } of next) assert.ok(memories.includes(body.buffer), 'new memory')
    assert.notEqual(next[0]!.body.buffer, next[1]!.body.buffer)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('after twenty short answers the memory of long ones is no longer kept', async () => {
  const lengths = [3_000_000, ...Array.from({ length: 20 }, () => 100), 3_000_000]
  let asked = 0
  const server = createServer((_request, response) => response.end(Buffer.alloc(lengths[asked++]!, 0x61)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const post = createHttpPost({ url, timeoutMs: ENDLESS_MS, maxBodyBytes: 4_000_000 })
  try {
    const memories: ArrayBufferLike[] = []
    for (const _ of lengths) {
      const { body, release } = await post('{}', new AbortController().signal)
      memories.push(body.buffer)
      release?.()
    }
    assert.equal(memories[1], memories[0], 'the first short answer was read into the memory of the long one')
    assert.notEqual(memories.at(-1), memories[0])
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('the memory of a body that is longer than is kept goes back when it is released, announced or not', async () => {
  const LENGTH = 26_000_000
  let isAnnounced = false
  const server = createServer((_request, response) => {
    if (isAnnounced) response.setHeader('content-length', LENGTH)
    else response.flushHeaders()
    response.end(Buffer.alloc(LENGTH, 0x61))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const post = createHttpPost({ url, timeoutMs: ENDLESS_MS, maxBodyBytes: 2 * LENGTH })
  try {
    for (isAnnounced of [false, true]) {
      const { body, release } = await post('{}', new AbortController().signal)
      assert.deepEqual([body.length, body[0], body.at(-1)], [LENGTH, 0x61, 0x61])
      const { buffer } = body
      release?.()
      assert.equal(buffer.byteLength, 0)
    }
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
