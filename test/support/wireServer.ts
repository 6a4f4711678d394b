import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP answer of any shape. `silent` leaves the connection open without one, `close` cuts it. */
export type WireAnswer =
  | {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      /** Texts that come in a row are sent piece by piece, the next one when the one before has left. */
      readonly body: string | Iterable<string>
    }
  | 'silent'
  | 'close'

export interface LoopbackServer {
  /** `http://127.0.0.1:port` */
  readonly url: string
  /** Stops at once, and cuts open connections. */
  close(): Promise<void>
}

/** Answers each POST on a port of its own by its body. */
export async function serveAnswers(
  answer: (body: string) => WireAnswer | Promise<WireAnswer>,
): Promise<LoopbackServer> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const reply = await answer(Buffer.concat(parts).toString())
    if (reply === 'silent') return
    if (reply === 'close') return void request.socket.destroy()
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    if (typeof reply.body === 'string') return void response.end(reply.body)
    for (const piece of reply.body) {
      if (response.destroyed) return
      await new Promise((sent) => response.write(piece, sent))
      await new Promise(setImmediate)
    }
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
