import { setMaxListeners } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node'
import { OperatorError } from '../../errors/operatorError.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { ClusterUnavailableError } from '../clusterFaults.js'
import type { ServerAccess } from '../clusterServers.js'
import { parseServerAddress, type ServerAddress } from '../serverAddress.js'
import { natsFault } from './natsFaults.js'

/** A server that does not greet or answer in this time is left for another one. */
const ANSWER_MS = 2_000
/** A stream or a bucket is made by three servers that first elect a leader for it. */
const MANAGE_MS = 5_000
const CLOSE_MS = 1_000

/** One connection, from its start to its loss. */
export interface NatsSession {
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  /** Aborted when the connection is lost or closed. */
  readonly lost: AbortSignal
}

/** Of attempts that fail one after the other, the first and every so many are told in the log. They are at most some seconds apart. */
const FAILURES_PER_LINE = 30

/**
 * The connection of this process to the servers, made anew when somebody needs it after it was lost.
 *
 * The client library is told not to reconnect by itself. Its `close()` does not end a connection attempt of its own that is under way: the
 * socket stays and keeps the process alive (3.4.0, a server that accepts and is silent). Without reconnects there is never one.
 */
export class NatsLink {
  private readonly addresses: readonly ServerAddress[]
  private readonly name: string
  private readonly access: ServerAccess
  private readonly clock: Clock
  private readonly logger: Logger
  private failures = 0
  private readonly closing = new AbortController()
  private greetings = new AbortController()
  private readonly farewell = new AbortController()
  private open: { readonly session: NatsSession; readonly connection: NatsConnection } | undefined
  private dialing: Promise<NatsSession> | undefined

  /**
   * @param servers `host:port`, with or without `nats://`.
   * @param name shown in the servers' lists of connections.
   * @throws OperatorError if one of the servers is no such address.
   */
  constructor(
    servers: readonly string[],
    name: string,
    clock: Clock,
    logger: Logger,
    access: ServerAccess = {},
  ) {
    this.addresses = servers.map(addressOf)
    this.name = name
    this.access = access
    this.clock = clock
    this.logger = logger
  }

  /**
   * The open connection, or one attempt at a new one, which all who ask meanwhile share.
   * @throws ClusterUnavailableError if no server takes us, or after `close`.
   */
  async session(): Promise<NatsSession> {
    if (this.closing.signal.aborted) throw new ClusterUnavailableError('the connection to NATS is closed')
    if (this.open !== undefined) return this.open.session
    this.dialing ??= this.dialAndTell().finally(() => {
      this.dialing = undefined
    })
    return this.dialing
  }

  private async dialAndTell(): Promise<NatsSession> {
    try {
      const session = await this.dial()
      this.failures = 0
      return session
    } catch (error) {
      if (!this.closing.signal.aborted && this.failures++ % FAILURES_PER_LINE === 0)
        this.logger.warn('no connection to NATS', { error })
      throw error
    }
  }

  /**
   * One request over the current connection.
   * @param what for the message of an error.
   * @throws ClusterUnavailableError, also at the moment when the connection is lost.
   * @throws the signal's reason when it is aborted. The request is not taken back.
   */
  async ask<T>(what: string, signal: AbortSignal, request: (session: NatsSession) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const session = await unlessAborted(this.session(), signal)
    const lostError = (): Error => new ClusterUnavailableError(`${what}: the connection to NATS was lost`)
    try {
      return await unlessAborted(unlessAborted(request(session), session.lost, lostError), signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw natsFault(what, error)
    }
  }

  /** @see ClusterServers.close */
  async close(): Promise<void> {
    this.closing.abort()
    this.greetings.abort()
    await this.dialing?.catch(() => undefined)
    const { connection } = this.open ?? {}
    if (connection === undefined) return
    const late = this.clock.sleep(CLOSE_MS, this.farewell.signal).catch(() => undefined)
    await Promise.race([connection.close().catch(() => undefined), late])
    this.farewell.abort()
  }

  private async dial(): Promise<NatsSession> {
    const address = await this.firstThatGreets()
    let connection: NatsConnection
    try {
      connection = await connect({
        servers: `${hostIn(address)}:${address.port}`,
        name: this.name,
        reconnect: false,
        ignoreClusterUpdates: true,
        timeout: ANSWER_MS,
        ...this.authenticator(),
        ...(this.access.tls === undefined ? {} : { tls: this.access.tls }),
        // A silent server is found after three intervals.
        pingInterval: 1_000,
        maxPingOut: 2,
        noAsyncTraces: true,
      })
    } catch (error) {
      throw natsFault('the connection', error)
    }
    const lost = new AbortController()
    // Each request that is under way listens.
    setMaxListeners(0, lost.signal)
    const js = jetstream(connection, { timeout: ANSWER_MS })
    const session: NatsSession = {
      js,
      jsm: await jetstreamManager(connection, { timeout: MANAGE_MS, checkAPI: false }),
      lost: lost.signal,
    }
    const server = { server: `${address.host}:${address.port}` }
    void connection.closed().then(() => {
      this.open = undefined
      lost.abort()
      if (!this.closing.signal.aborted) this.logger.warn('the connection to NATS is lost', server)
    })
    if (this.closing.signal.aborted) {
      await connection.close()
      throw new ClusterUnavailableError('the connection to NATS is closed')
    }
    this.open = { session, connection }
    this.logger.info('connected to NATS', server)
    return session
  }

  private authenticator(): { readonly authenticator?: Authenticator } {
    const { credentials } = this.access
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
    switch (credentials?.type) {
      case undefined:
        return {}
      case 'password':
        return { authenticator: usernamePasswordAuthenticator(credentials.user, credentials.password) }
      case 'nkey':
        return { authenticator: nkeyAuthenticator(bytes(credentials.seed)) }
      case 'creds':
        return { authenticator: credsAuthenticator(bytes(credentials.text)) }
    }
  }

  /**
   * Asks all servers at once. Besides finding a live one at once when another is silent, it spares the library a socket that it would
   * leave open: `connect()` does not close that of a server that accepts and never greets.
   */
  private async firstThatGreets(): Promise<ServerAddress> {
    this.greetings = new AbortController()
    const { signal } = this.greetings
    const shuffled = this.addresses
      .map((address) => ({ address, at: this.clock.random() }))
      .sort((a, b) => a.at - b.at)
    try {
      return await Promise.any(shuffled.map(({ address }) => greeting(address, signal)))
    } catch {
      throw new ClusterUnavailableError(`none of ${this.addresses.length} NATS servers answers`)
    } finally {
      this.greetings.abort()
    }
  }
}

/** A server speaks first: `INFO {…}`. */
function greeting(address: ServerAddress, signal: AbortSignal): Promise<ServerAddress> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host: address.host, port: address.port, signal })
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('silent')))
    socket.once('data', () => {
      resolve(address)
      socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed')))
  })
}

function addressOf(server: string): ServerAddress {
  const address = parseServerAddress(server)
  // Not repeated: whoever writes credentials into it has made the same mistake.
  if (address === undefined)
    throw new OperatorError('a NATS server must be given as host:port, without user, password or path')
  return address
}

function hostIn({ host }: ServerAddress): string {
  return host.includes(':') ? `[${host}]` : host
}

/**
 * The promise, or the end of the signal, whichever comes first. What the promise does later is dropped.
 * @throws the signal's reason, or what `errorOf` makes.
 */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, errorOf?: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(errorOf === undefined ? signal.reason : errorOf())
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
