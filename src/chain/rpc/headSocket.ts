import { type RawData, WebSocket } from 'ws'
import { hideAddress } from '../../telemetry/secrets.js'
import { createTunnel } from './httpRoute.js'
import { decodeHash } from './rpcBlocks.js'

/** Longest message that is read: a head is below 2 KB, with all that any node adds. */
const MAX_MESSAGE_BYTES = 262_144
/** A peer that is gone is noticed after two of these: no hurry, since polling goes on. */
const PING_MS = 15_000
const AGE_MS = 10 * 60_000
const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })

export interface HeadSocketOptions {
  /** Secret: never part of the reason that `onEnd` gets. */
  readonly url: string
  /** Address of a proxy to go through. Secret. */
  readonly proxy?: string | undefined
  /** Longest wait for the connection and for the answer to the subscription. */
  readonly timeoutMs: number
  /** After this long without a message the other side is pinged; after as long again without one, the socket ends. */
  readonly pingMs?: number
  /** The socket ends at this age, for a new one to replace it: the host name may resolve to another machine by now. */
  readonly ageMs?: number
  /** Called once, however often the other side confirms. */
  readonly onSubscribed: () => void
  /** @param blockHash 0x + 64 lower-case digits. */
  readonly onHead: (blockHash: string) => void
  /** Called once; nothing is called after it. */
  readonly onEnd: (reason: string) => void
  /** Called instead of `onEnd` when the socket ends because of its age. */
  readonly onAged?: () => void
}

/** Opens one subscription to new heads. Throws nothing. @returns a function that closes it, without a call of `onEnd`. */
export function openHeadSocket(options: HeadSocketOptions): () => void {
  hideAddress(options.url)
  const socket = new WebSocket(options.url, {
    handshakeTimeout: options.timeoutMs,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...(options.proxy === undefined ? {} : { agent: createTunnel(options.proxy) }),
    ...credentialsOf(options.url),
  })
  let isOver = false
  let isAlive = true
  let isSubscribed = false
  const end = (reason?: string): void => {
    if (isOver) return
    isOver = true
    clearTimeout(subscribing)
    clearInterval(pings)
    clearTimeout(ageing)
    socket.terminate()
    if (reason !== undefined) options.onEnd(reason)
  }
  const subscribing = setTimeout(() => end('no answer to eth_subscribe'), 2 * options.timeoutMs)
  const pings = setInterval(() => {
    if (!isAlive) return end('silent')
    isAlive = false
    if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, options.pingMs ?? PING_MS)
  const ageing = setTimeout(() => {
    end()
    options.onAged?.()
  }, options.ageMs ?? AGE_MS)
  socket.on('open', () => socket.send(SUBSCRIBE))
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('message', (data) => {
    if (isOver) return
    isAlive = true
    const message = readMessage(data)
    if (message.type === 'subscribed') {
      if (isSubscribed) return
      isSubscribed = true
      clearTimeout(subscribing)
      options.onSubscribed()
    } else if (message.type === 'refused') end('eth_subscribe is refused')
    else if (message.type === 'head') options.onHead(message.blockHash)
  })
  socket.on('unexpected-response', (_, { statusCode }) => end(`status ${statusCode}`))
  // The message of an error may name the host; its code does not.
  socket.on('error', (error) => end('code' in error ? String(error.code) : 'not understood'))
  socket.on('close', () => end('closed'))
  return () => end()
}

type Message =
  | { readonly type: 'subscribed' | 'refused' | 'other' }
  | { readonly type: 'head'; readonly blockHash: string }

/** A message that is not understood is ignored: the next poll finds the head anyway. */
function readMessage(data: RawData): Message {
  let message: unknown
  try {
    message = JSON.parse(String(data))
  } catch {
    return { type: 'other' }
  }
  if (field(message, 'id') === 1)
    return { type: typeof field(message, 'result') === 'string' ? 'subscribed' : 'refused' }
  const blockHash = decodeHash(field(field(field(message, 'params'), 'result'), 'hash'))
  return blockHash === undefined ? { type: 'other' } : { type: 'head', blockHash }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

/** By itself, the library would send the user and password of an address percent-encoded. */
function credentialsOf(url: string): { readonly headers?: { readonly authorization: string } } {
  const { username, password } = new URL(url)
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}
