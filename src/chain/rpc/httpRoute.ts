import { Agent, type ClientRequestArgs, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect, type LookupFunction, type NetConnectOpts, type Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { hideAddress } from '../../telemetry/secrets.js'

/** Node reads 64 KB at a time; an answer in backfill has megabytes. */
const READ_BYTES = 256 * 1024

/**
 * Reads each connection into one buffer that is used again for every read. Node would make a new buffer per read, and those
 * caused 27 of the 66 full collections in a backfill of 300,000 bridges (5 % of the CPU time).
 *
 * So the bytes of a `data` event are valid only until the next read: readers must copy them at once. (Today Node's parser copies
 * them itself, but nothing promises that.)
 */
class ReusingAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Socket {
    const onread = {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (length: number, bytes: Uint8Array) => socket.push(bytes.subarray(0, length)),
    }
    // `as`: Node's agent has turned the request's options into options of a connection by now.
    const socket: Socket = connect({ ...options, onread } as NetConnectOpts)
    return socket
  }
}

/** A connection that is idle for longer is closed: the other side may have dropped it without a word. */
const IDLE_SOCKET_MS = 4_000
/** A connection is replaced at this age: the host name may resolve to another machine by now. */
const CONNECTION_AGE_MS = 60_000

export interface HttpRouteOptions {
  /** Address of a proxy to go through. Secret. */
  readonly proxy?: string | undefined
  /** Other values in tests. */
  readonly connectionAgeMs?: number
  readonly lookup?: LookupFunction
}

/** The request function and its options (agent, host, path, headers) that reach one address. */
export interface HttpRoute {
  readonly start: typeof httpRequest
  readonly options: RequestOptions
}

/**
 * How requests reach one address. Through a proxy, TLS goes by a tunnel (CONNECT), and plain HTTP by asking the proxy for the
 * whole address: many proxies open tunnels to port 443 only.
 */
export function routeTo(url: string, options: HttpRouteOptions): HttpRoute {
  const { proxy, lookup, connectionAgeMs = CONNECTION_AGE_MS } = options
  hideAddress(url)
  if (proxy !== undefined) hideAddress(proxy)
  const address = new URL(url)
  const pooling = { keepAlive: true, timeout: IDLE_SOCKET_MS, ...(lookup === undefined ? {} : { lookup }) }
  const route = (start: typeof httpRequest, agent: Agent, asked: RequestOptions): HttpRoute => ({
    start,
    options: { ...asked, agent: ageing(agent, connectionAgeMs) },
  })
  if (address.protocol === 'https:') {
    const agent = proxy === undefined ? new HttpsAgent(pooling) : new HttpsProxyAgent(proxy, pooling)
    return route(httpsRequest, agent, urlToHttpOptions(address))
  }
  if (proxy === undefined) return route(httpRequest, new ReusingAgent(pooling), urlToHttpOptions(address))
  const hop = new URL(proxy)
  const { auth: hopAuth, ...hopOptions } = urlToHttpOptions(hop)
  const { auth } = urlToHttpOptions(address)
  const asked = {
    ...hopOptions,
    ...(auth ? { auth } : {}),
    path: `http://${address.host}${address.pathname}${address.search}`,
    headers: {
      host: address.host,
      ...(hopAuth ? { 'proxy-authorization': `Basic ${Buffer.from(hopAuth).toString('base64')}` } : {}),
    },
  }
  return hop.protocol === 'https:'
    ? route(httpsRequest, new HttpsAgent(pooling), asked)
    : route(httpRequest, new ReusingAgent(pooling), asked)
}

/** An agent that tunnels one WebSocket through a proxy. */
export function createTunnel(proxy: string): Agent {
  hideAddress(proxy)
  return new HttpsProxyAgent(proxy)
}

/** Makes the agent close connections older than `ageMs` after their next answer. */
function ageing(agent: Agent, ageMs: number): Agent {
  const born = new WeakMap<object, number>()
  const keep = agent.keepSocketAlive.bind(agent)
  // The agent calls it after each answer: false ends the connection. Node's types lack the result.
  const keepYoung = (socket: Parameters<Agent['keepSocketAlive']>[0]): unknown => {
    const now = performance.now()
    const bornAt = born.get(socket) ?? now
    born.set(socket, bornAt)
    return now - bornAt < ageMs && keep(socket)
  }
  return Object.assign(agent, { keepSocketAlive: keepYoung })
}
