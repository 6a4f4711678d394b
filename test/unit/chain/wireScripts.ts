import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Cleaner } from '../../support/tempFolder.js'
import { serveAnswers, type WireAnswer } from '../../support/wireServer.js'

export interface ScriptedCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** A path like an API key, which tests search for in logs and errors. */
export const SECRET = 'v3/s3cr3t-4p1-k3y'

/** A JSON-RPC endpoint whose every answer the test writes. `requests` are the bodies so far: a call, or a list of calls. */
export async function serveScript(answer: (body: ScriptedCall | readonly ScriptedCall[]) => WireAnswer) {
  const requests: (ScriptedCall | readonly ScriptedCall[])[] = []
  const { url, close } = await serveAnswers((text) => {
    const body = JSON.parse(text) as ScriptedCall | readonly ScriptedCall[]
    requests.push(body)
    return answer(body)
  })
  return { url: `${url}/${SECRET}`, requests, close }
}

/** Answers single calls and batches with what `result` says; a thrown `{code, message, data}` becomes an error. */
export function byMethod(result: (call: ScriptedCall) => unknown) {
  const one = (call: ScriptedCall) => {
    try {
      return { jsonrpc: '2.0', id: call.id, result: result(call) }
    } catch (error) {
      return { jsonrpc: '2.0', id: call.id, error }
    }
  }
  return (body: ScriptedCall | readonly ScriptedCall[]): WireAnswer => ({
    body: JSON.stringify('length' in body ? body.map(one) : one(body)),
  })
}

/** Eleven days: on a machine without a free processor no answer is too late. Twice as long is still no more than a timer can run. */
export const ENDLESS_MS = 1_000_000_000

/**
 * From here on timers stand still in this test. @returns an answer that never comes: when it is asked for, all timers that run then
 * fire, so that time-outs take no time.
 */
export function endlessSilence({ mock }: TestContext): () => 'silent' {
  mock.timers.enable({ apis: ['setTimeout'] })
  return () => {
    setImmediate(() => mock.timers.tick(ENDLESS_MS))
    return 'silent'
  }
}

/** The WebSocket side of a node, on loopback. */
export type HeadServer = Awaited<ReturnType<typeof serveHeads>>

/**
 * @param answer the reply to the first message.
 * @param autoPong false: pings are not answered.
 */
export async function serveHeads(
  context: Cleaner,
  answer: unknown = { jsonrpc: '2.0', id: 1, result: '0x5' },
  autoPong = true,
) {
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
      arrived.push(socket)
      waiting.shift()?.(arrived.shift()!)
    })
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Of the last connection. */
    authorization: () => authorization,
    /** Resolves with the next connection, after its first message. */
    subscriber: async (): Promise<WebSocket> =>
      arrived.shift() ?? new Promise((resolve) => void waiting.push(resolve)),
    /** Sends a message to a connection. */
    send,
  }
}

/** A subscription's message about a new head, as nodes send it. */
export function headMessage(hash: string): unknown {
  const result = { number: '0x10', hash, parentHash: `0x${'00'.repeat(32)}`, timestamp: '0x1' }
  return { jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x5', result } }
}
