import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ScriptedCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** An HTTP answer of any shape. `silent` leaves the connection open without one. */
export type ScriptedAnswer =
  | {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      /** Sent piece by piece, `pauseMs` apart. */
      readonly body: string | readonly string[]
      readonly pauseMs?: number
    }
  | 'silent'
  | 'close'

export interface ScriptedRpc {
  /** The URL. Its path looks like an API key, which tests search for in logs and errors. */
  readonly url: string
  /** Bodies so far, parsed: a call, or a list of calls. */
  readonly requests: (ScriptedCall | readonly ScriptedCall[])[]
  close(): Promise<void>
}

export const SECRET = 'v3/s3cr3t-4p1-k3y'

/** A JSON-RPC endpoint on port 0 whose every answer the test writes. */
export async function serveScript(
  answer: (body: ScriptedCall | readonly ScriptedCall[]) => ScriptedAnswer,
): Promise<ScriptedRpc> {
  const requests: ScriptedRpc['requests'] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = JSON.parse(Buffer.concat(parts).toString('utf8'))
    requests.push(body)
    const reply = answer(body)
    if (reply === 'silent') return
    if (reply === 'close') return void request.socket.destroy()
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    if (typeof reply.body === 'string') return void response.end(reply.body)
    for (const piece of reply.body) {
      if (response.destroyed) return
      response.write(piece)
      await new Promise((resolve) => setTimeout(resolve, reply.pauseMs ?? 0))
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${SECRET}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
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
  return (body: ScriptedCall | readonly ScriptedCall[]): ScriptedAnswer => ({
    body: JSON.stringify(Array.isArray(body) ? body.map(one) : one(body as ScriptedCall)),
  })
}
