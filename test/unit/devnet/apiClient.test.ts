import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createApiClient } from '../../../src/devnet/apiClient.js'

/** Answers every request with `body`, and keeps the URLs it was asked for. */
async function serveAnswer(
  t: TestContext,
  status: number,
  body: unknown,
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(status, { connection: 'close' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

test('an error answer is thrown with its code and message', async (t) => {
  const error = { code: 'PROOF_NOT_AVAILABLE', message: 'deposit 3 of network 1 is not covered' }
  const { url } = await serveAnswer(t, 404, { error })
  await assert.rejects(createApiClient(url).getL1InfoTreeIndex({ network: 1, deposit: 3 }), {
    name: 'DevnetError',
    code: 'PROOF_NOT_AVAILABLE',
    message: 'the API answers PROOF_NOT_AVAILABLE: deposit 3 of network 1 is not covered',
  })
})

test('requests use the parameter names of the interface', async (t) => {
  const { url, asked } = await serveAnswer(t, 200, { proof: {}, bridges: [] })
  const api = createApiClient(url)
  await api.getClaimProof({ network: 2, deposit: 7 }, 11)
  assert.equal(await api.findBridge({ network: 0, deposit: 4 }), undefined)
  assert.deepEqual(asked, [
    '/bridge/v1/claim-proof?network_id=2&deposit_count=7&leaf_index=11',
    '/bridge/v1/bridges?network_id=0&deposit_count=4',
  ])
})

test('a service that does not answer is an error that names its URL', async (t) => {
  const { url } = await serveAnswer(t, 200, {})
  const closed = url.replace(/\d+$/, '1')
  await assert.rejects(createApiClient(closed).findBridge({ network: 0, deposit: 0 }), {
    name: 'DevnetError',
    message: `the service at ${closed} does not answer`,
  })
})
