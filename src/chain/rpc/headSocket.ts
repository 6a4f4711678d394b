import { type RawData, WebSocket } from 'ws'
import { hideAddress } from '../../telemetry/secrets.js'
import { createTunnel } from './httpRoute.js'
import { decodeHash } from './rpcBlocks.js'

/** Longest message that is read: a head is below 2 KB, with all that any node adds. */
const MAX_MESSAGE_BYTES = 262_144
/** A peer that is gone is found after two of them: no hurry, polls go on meanwhile. */
const PING_MS = 15_000
const AGE_MS = 10 * 60_000
const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })

export interface HeadSocketOptions {
  /** Secret: never part of what `onEnd` says. */
  readonly url: string
  /** Address of a proxy to go through. Secret. */
  readonly proxy?: string | undefined
  /** Longest wait for the connection and for the answer to the subscription. */
  readonly timeoutMs: number
  /** Without a message for so long the other side is asked for a sign of life, and given up when none comes. */
  readonly pingMs?: number
  /** The subscription ends at this age, so that a new connection replaces it. */
  readonly ageMs?: number
  /** Once, however often the other side says so. */
  readonly onSubscribed: () => void
  /** 0x + 64 lower-case digits. */
  readonly onHead: (blockHash: string) => void
  /** Once, and nothing after it. */
  readonly onEnd: (reason: string) => void
  /** Instead of `onEnd`, when it ends because of its age: the host name may resolve to another machine by now. */
  readonly onAged?: () => void
}

/** One subscription to new heads, until it ends. Nothing is thrown. @returns what closes it; `onEnd` is not called then. */
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

/** What is not understood is no head: the look at the next poll finds it anyway. */
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

/** The library sends the user and password of an address as they stand there, percent-encoded. */
function credentialsOf(url: string): { readonly headers?: { readonly authorization: string } } {
  const { username, password } = new URL(url)
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}
