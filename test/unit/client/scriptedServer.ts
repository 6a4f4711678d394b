import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClientClock } from '../../../src/client/call.types.js'
import { clientClock } from '../../../src/client/waits.js'
import type { Cleaner } from '../../support/tempFolder.js'

/** What the server does with one request. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void

export interface ScriptedServer {
  readonly url: string
  /** Method and target of each request so far. */
  readonly requests: readonly string[]
  readonly headers: readonly IncomingMessage['headers'][]
}

/** A server that takes one step for each request; the last one again and again. */
export async function scriptedServer(context: Cleaner, ...steps: readonly Step[]): Promise<ScriptedServer> {
  const requests: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
    steps[Math.min(requests.length, steps.length) - 1]!(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, headers }
}

export function answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Step {
  return (response) => {
    // The test says what the date is.
    response.sendDate = 'date' in headers
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }
}

export function apiError(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Step {
  return answer(status, JSON.stringify({ error: { code, message: 'as it is' } }), headers)
}

/** The shortest answer of the API. */
export const ALIVE = answer(200, '{"status":"alive"}')

export interface TestClock extends ClientClock {
  /** Every wait so far, ms. */
  readonly sleeps: readonly number[]
}

/** Waits take no time, and chance is always `random`. */
export function testClock(random = 0.5): TestClock {
  const sleeps: number[] = []
  let nowMs = 1_000
  return {
    sleeps,
    now: () => nowMs,
    unixMs: () => Date.UTC(2026, 0, 1, 12, 0, 0) + nowMs,
    random: () => random,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      sleeps.push(ms)
      nowMs += ms
    },
  }
}

/** Real waits, of which the test is told when they begin. */
export function watchedClock(onSleep: () => void): ClientClock {
  return {
    ...clientClock,
    sleep(ms, signal) {
      const slept = clientClock.sleep(ms, signal)
      onSleep()
      return slept
    },
  }
}
