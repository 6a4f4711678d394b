import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createHttpPost } from '../../../src/chain/httpPost.js'

test('user and password of an address go into a header, a password without a user too', async () => {
  const server = createServer((request, response) => response.end(request.headers.authorization ?? 'none'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (url: string) => {
    const post = createHttpPost({ url, timeoutMs: 2_000, maxBodyBytes: 1_000 })
    return (await post('{}', new AbortController().signal)).body
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
