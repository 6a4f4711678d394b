import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FakeNetwork } from './fakeChain.js'
import { FakeEndpoint } from './fakeEndpoint.js'

/** An endpoint that listens on loopback. */
export interface FakeRpcServer {
  /** Its faults and call counters. */
  readonly endpoint: FakeEndpoint
  /** `http://127.0.0.1:port` */
  readonly url: string
  /** Stops at once, and cuts open connections. */
  close(): Promise<void>
}

/**
 * Serves one network over JSON-RPC on port 0 of loopback. Call it several times for several endpoints of one network.
 *
 *     const rpc = await serveFakeNetwork(world.network(0))
 *     rpc.endpoint.fail({ type: 'http', status: 429, times: 3 })
 *     rpc.endpoint.fail({ type: 'hideLogs', match: { blockNumber: 7 }, times: 1 })
 *     await rpc.endpoint.nextCall('eth_getLogs')
 *     await rpc.close()
 */
export async function serveFakeNetwork(network: FakeNetwork, port = 0): Promise<FakeRpcServer> {
  const endpoint = new FakeEndpoint(network)
  const server = createServer((request, response) => {
    handle(endpoint, request, response).catch((error: unknown) => {
      response.statusCode = 500
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    endpoint,
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function handle(
  endpoint: FakeEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const answer = await endpoint.answer(Buffer.concat(parts).toString('utf8'))
  if (answer === 'silent') return
  if (answer === 'close') return void request.socket.destroy()
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body)
}
