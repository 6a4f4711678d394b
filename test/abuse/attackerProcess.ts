import { connect, type Socket } from 'node:net'
import type { AttackMessage, AttackOrder, AttackReport } from './attackOrder.js'

/*
 * One attacker, in a process of its own: `node attackerProcess.js <order as JSON>`. It begins at once and ends with its parent, or
 * when it is asked for its report.
 */

/** The packets of a handshake and of its end, with their headers. */
const OPEN_BYTES = 240
/** The headers of a packet. */
const PACKET_BYTES = 40
const TICK_MS = 5
/** Numbers that are asked for again come after so many others: the answers to the first requests for them are there by then. */
const WINDOW = 128

const order = JSON.parse(process.argv[2]!) as AttackOrder
const { port, from, manner, times = 1, numbers = Number.POSITIVE_INFINITY } = order
const startedAtMs = performance.now()
const counts = { bytes: 0, requests: 0, opened: 0, closed: 0 }
const answers: Record<string, number> = {}
let allowance = order.burstBytes ?? 0
let isDone = false

/** The requests' numbers in order: `times` times each window of numbers. */
function nextRequest(): string {
  const at = counts.requests++
  const text = order.requests[at % order.requests.length]!
  if (!text.includes('{n}')) return text
  const window = Math.floor(at / (WINDOW * times))
  const number = window * WINDOW + (at % WINDOW)
  if (times > 1 && number >= numbers) isDone = true
  return text.replace('{n}', String(1 + (number % numbers)))
}

/** One of the attacker's connections, which is opened again when it has ended. */
class Connection {
  private readonly address: string
  private socket: Socket | undefined
  private isOwnEnd = false
  private isReady = true
  private head = ''
  /** Bytes of the body that are still to come; undefined while the head is. */
  private missing: number | undefined
  private isHead = false
  private sent = 0

  constructor(address: string) {
    this.address = address
  }

  /** Does what is next. @returns the bytes that it took. */
  act(): number {
    this.isReady = false
    if (this.socket === undefined) {
      this.open()
      return OPEN_BYTES
    }
    return this.send(this.socket)
  }

  private open(): void {
    counts.opened++
    this.isOwnEnd = false
    this.sent = 0
    this.forget()
    const socket = connect({ port, host: '127.0.0.1', localAddress: this.address, noDelay: true })
    socket.on('error', () => undefined)
    socket.once('connect', () => {
      this.socket = socket
      this.getReady()
    })
    socket.once('close', () => {
      if (!this.isOwnEnd) counts.closed++
      this.socket = undefined
      this.getReady()
    })
    if (manner.type === 'ask') socket.on('data', (bytes: Buffer) => this.read(bytes))
    else if (manner.type !== 'stall') socket.resume()
  }

  private send(socket: Socket): number {
    if (manner.type === 'drip') return this.drip(socket, manner.everyMs)
    let text = nextRequest()
    if (manner.type === 'pipeline') {
      const more = Array.from({ length: manner.requests - 1 }, nextRequest)
      text = [text, ...more].join('')
    }
    this.isHead = text.startsWith('HEAD ')
    socket.write(text, 'latin1', () => {
      if (manner.type === 'pipeline' && this.socket === socket) this.getReady()
    })
    if (manner.type === 'reset')
      setTimeout(() => {
        this.isOwnEnd = true
        socket.resetAndDestroy()
      }, manner.afterMs)
    const isLast = manner.type === 'stall' && ++this.sent >= manner.requests
    if (manner.type === 'hold' || (manner.type === 'stall' && !isLast))
      setTimeout(() => {
        if (this.socket === socket) this.getReady()
      }, manner.everyMs)
    return text.length
  }

  private drip(socket: Socket, everyMs: number): number {
    const text = order.requests[0]!
    socket.write(text[this.sent % text.length]!)
    if (++this.sent % text.length === 0) counts.requests++
    setTimeout(() => {
      if (this.socket === socket) this.getReady()
    }, everyMs)
    return PACKET_BYTES + 1
  }

  private read(bytes: Buffer): void {
    if (this.missing === undefined) {
      this.head += bytes.toString('latin1')
      const end = this.head.indexOf('\r\n\r\n')
      if (end < 0) return
      const status = this.head.slice(9, 12)
      answers[status] = (answers[status] ?? 0) + 1
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.head.slice(0, end))?.[1] ?? 0)
      this.missing = (this.isHead ? 0 : length) - (this.head.length - end - 4)
    } else this.missing -= bytes.length
    if (this.missing > 0) return
    this.forget()
    this.getReady()
  }

  private getReady(): void {
    if (this.isReady) return
    this.isReady = true
    ready.push(this)
  }

  private forget(): void {
    this.head = ''
    this.missing = undefined
  }
}

function report(): AttackReport {
  return { seconds: (performance.now() - startedAtMs) / 1000, ...counts, answers }
}

const tell = (message: AttackMessage): void => {
  process.send!(message)
}

const ready = Array.from({ length: order.connections }, (_, at) => new Connection(from[at % from.length]!))
let tickedAtMs = startedAtMs
const ticker = setInterval(() => {
  const now = performance.now()
  allowance = Math.min(
    allowance + ((now - tickedAtMs) * order.bytesPerSec) / 1000,
    Math.max(allowance, order.bytesPerSec / 10),
  )
  tickedAtMs = now
  while (allowance > 0 && ready.length > 0 && !isDone) {
    const bytes = ready.shift()!.act()
    allowance -= bytes
    counts.bytes += bytes
  }
  if (isDone) {
    clearInterval(ticker)
    tell('done')
  }
}, TICK_MS)
process.on('message', () => {
  tell(report())
  process.disconnect()
})
process.on('disconnect', () => process.exit())
tell('begun')
