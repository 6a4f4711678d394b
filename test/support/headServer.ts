import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

interface Cleaner {
  after(body: () => Promise<void>): void
}

/** The WebSocket side of a node, on loopback. */
export interface HeadServer {
  readonly url: string
  /** Request headers of the last connection. */
  authorization(): string | undefined
  /** Resolves with the next connection, after its first message. */
  subscriber(): Promise<WebSocket>
  /** Sends a message to a connection. */
  send(socket: WebSocket, message: unknown): void
}

/**
 * @param answer the reply to the first message.
 * @param autoPong false: pings are not answered.
 */
export async function serveHeads(
  context: Cleaner,
  answer: unknown = { jsonrpc: '2.0', id: 1, result: '0x5' },
  autoPong = true,
): Promise<HeadServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong })
  await once(server, 'listening')
  context.after(async () => {
    for (const client of server.clients) client.terminate()
    server.close()
    await once(server, 'close')
  })
  const send = (socket: WebSocket, message: unknown): void =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  const waiting: ((socket: WebSocket) => void)[] = []
  const arrived: WebSocket[] = []
  let authorization: string | undefined
  server.on('connection', (socket, request) => {
    authorization = request.headers.authorization
    socket.once('message', (data) => {
      const { method, params } = JSON.parse(String(data)) as { method: string; params: unknown[] }
      if (method !== 'eth_subscribe' || params[0] !== 'newHeads') return socket.terminate()
      send(socket, answer)
      const taker = waiting.shift()
      if (taker === undefined) arrived.push(socket)
      else taker(socket)
    })
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    authorization: () => authorization,
    subscriber: () =>
      new Promise((resolve) => {
        const socket = arrived.shift()
        if (socket === undefined) waiting.push(resolve)
        else resolve(socket)
      }),
    send,
  }
}

/** A subscription's message about a new head, as nodes send it. */
export function headMessage(hash: string): unknown {
  const result = { number: '0x10', hash, parentHash: `0x${'00'.repeat(32)}`, timestamp: '0x1' }
  return { jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x5', result } }
}
