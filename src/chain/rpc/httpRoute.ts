import { Agent, type ClientRequestArgs, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect, type LookupFunction, type NetConnectOpts, type Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { hideAddress } from '../../telemetry/secrets.js'

/** More per read than the 64 KB that Node takes: an answer of backfill has megabytes. */
const READ_BYTES = 256 * 1024

/**
 * Reads each connection into one piece of memory, over and over. Node makes a new one per read, and V8 counts them all: of 66
 * full collections in a backfill of 300,000 bridges 27 fell due by them (5 % of the CPU time).
 *
 * Node's parser copies what it passes on of a body. Should it stop to: `data` is valid until the next read, so readers take it
 * at once and copy it; what came together with the headers is handed out before Node reads again.
 */
class ReusingAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Socket {
    const onread = {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (length: number, bytes: Uint8Array) => socket.push(bytes.subarray(0, length)),
    }
    // The agent has made them options of a connection by now.
    const socket: Socket = connect({ ...options, onread } as NetConnectOpts)
    return socket
  }
}

/** A connection that rests longer is closed from here: the other side may have forgotten it without a word. */
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
 * TLS goes through a proxy by a tunnel (CONNECT), plain HTTP by asking the proxy for the whole address, as proxies expect
 * it: many tunnel to port 443 only.
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

/** A tunnel through a proxy for one WebSocket. */
export function createTunnel(proxy: string): Agent {
  hideAddress(proxy)
  return new HttpsProxyAgent(proxy)
}

function ageing(agent: Agent, ageMs: number): Agent {
  const born = new WeakMap<object, number>()
  const keep = agent.keepSocketAlive.bind(agent)
  // Asked after each answer: false ends the connection. Node's types leave the result out.
  const keepYoung = (socket: Parameters<Agent['keepSocketAlive']>[0]): unknown => {
    const now = performance.now()
    const bornAt = born.get(socket) ?? now
    born.set(socket, bornAt)
    return now - bornAt < ageMs && keep(socket)
  }
  return Object.assign(agent, { keepSocketAlive: keepYoung })
}
