import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../support/until.js'

export interface ClientOptions {
  readonly port: number
  /** The loopback address that it asks from. */
  readonly from: string
  readonly path: (at: number) => string
  readonly perSecond: number
  /** Requests that may be on their way at once. */
  readonly lanes: number
  /** Each of so many requests takes a connection of its own; the others share one per lane. */
  readonly freshEvery: number
}

/** What a client met. */
export interface Experience {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
  /** How often each fault came: a status but 200, or no answer. */
  readonly faults: ReadonlyMap<string, number>
}

/** A request without an answer for this long counts as lost. */
const LOST_MS = 5_000

export interface SteadyClient {
  /** Resolves once each lane has its connection; what counts comes after. */
  begin(): Promise<void>
  stop(): Promise<Experience>
}

/**
 * Asks at a steady rate, until `stop`. A request that could not leave in time, because the one before had no answer yet, is timed from
 * when it was due: else a client that waits would see one slow answer where others see a hundred.
 */
export function startSteadyClient(options: ClientOptions): SteadyClient {
  const { port, from, path, perSecond, lanes, freshEvery } = options
  const timesMs: number[] = []
  const faults = new Map<string, number>()
  const everyMs = (1000 * lanes) / perSecond
  const startedAtMs = performance.now()
  let isStopping = false
  let asked = 0
  const begun = new Set<Agent>()
  const agents = Array.from({ length: lanes }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const lane = async (agent: Agent, first: number): Promise<void> => {
    for (let dueAtMs = startedAtMs + (first * everyMs) / lanes; !isStopping; dueAtMs += everyMs) {
      const earlyMs = dueAtMs - performance.now()
      if (earlyMs > 0) await delay(earlyMs)
      // This process's own timers may be late, which no other client would notice.
      const sentAtMs = earlyMs > 0 ? performance.now() : dueAtMs
      const at = asked++
      const isFresh = at % freshEvery === freshEvery - 1
      const outcome = await ask(isFresh ? false : agent, {
        host: '127.0.0.1',
        port,
        localAddress: from,
        path: path(at),
      })
      timesMs.push(performance.now() - sentAtMs)
      if (!isFresh) begun.add(agent)
      if (outcome !== '200') faults.set(outcome, (faults.get(outcome) ?? 0) + 1)
    }
  }
  const running = Promise.all(agents.map(lane))
  return {
    async begin() {
      await until(
        () => begun.size,
        (count) => count === lanes || freshEvery === 1,
        'an answer on each connection',
      )
      timesMs.length = 0
      faults.clear()
    },
    async stop() {
      isStopping = true
      await running
      for (const agent of agents) agent.destroy()
      const sorted = timesMs.toSorted((a, b) => a - b)
      const share = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)]!
      return { requests: sorted.length, p50Ms: share(0.5), p99Ms: share(0.99), worstMs: share(1), faults }
    },
  }
}

interface Asked {
  readonly host: string
  readonly port: number
  readonly localAddress: string
  readonly path: string
}

/** @returns the status, or what came in its place. */
export function ask(agent: Agent | false, asked: Asked, lostMs = LOST_MS): Promise<string> {
  return new Promise((resolve) => {
    const receive = (response: IncomingMessage): void => {
      response.resume()
      response.once('end', () => resolve(String(response.statusCode)))
      response.once('error', ({ message }) => resolve(message))
    }
    const sent = request({ agent, ...asked, timeout: lostMs }, receive)
    sent.once('timeout', () => sent.destroy(new Error(`no answer within ${lostMs} ms`)))
    sent.once('error', ({ message }) => resolve(message))
    sent.end()
  })
}
