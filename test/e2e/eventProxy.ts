import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleaner } from '../support/tempFolder.js'

/** What stands between a browser and a service, and does to events what networks and services do. */
export interface EventProxy {
  readonly url: string
  /** Requests for events so far: where they begin, as `after` and as `Last-Event-ID` say. */
  readonly asked: readonly { readonly after: string | null; readonly lastEventId: string | undefined }[]
  /** Streams that are open now. */
  open(): number
  /** What becomes of requests for events from now on. `pass` leaves open streams alone, all else ends them. */
  setMode(mode: EventMode): void
}

/** `cut`: connections break. A number: they are answered with that status. */
export type EventMode = 'pass' | 'cut' | number

export async function eventProxy(context: Cleaner, target: string): Promise<EventProxy> {
  const asked: { after: string | null; lastEventId: string | undefined }[] = []
  const streams = new Set<ServerResponse>()
  let mode: EventMode = 'pass'
  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method, headers } = incoming
    const outgoing = request(target + incoming.url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      response.flushHeaders()
      answer.on('error', () => response.destroy()).pipe(response)
    })
    outgoing.on('error', () => response.destroy()).end()
    response.on('close', () => outgoing.destroy())
  }
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url!, target)
    if (pathname !== '/bridge/v1/events') return pass(incoming, response)
    const { 'last-event-id': lastEventId } = incoming.headers
    asked.push({ after: searchParams.get('after'), lastEventId: lastEventId as string | undefined })
    if (mode === 'cut') return response.destroy()
    const isRefused = mode === 410 ? searchParams.has('after') || lastEventId !== undefined : mode !== 'pass'
    if (isRefused) return response.writeHead(Number(mode)).end()
    streams.add(response)
    response.on('close', () => streams.delete(response))
    pass(incoming, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    open: () => streams.size,
    setMode(next) {
      mode = next
      if (next !== 'pass') for (const stream of streams) stream.destroy()
    },
  }
}
