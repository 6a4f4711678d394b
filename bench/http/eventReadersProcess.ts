import { connect } from 'node:net'

/**
 * Opens connections that read events, from many addresses of this machine, and measures how old each bridge is when it comes: its amount is
 * the time of its making, in microseconds. Sends the ages of an event when all have it.
 */
const [port, count, query, protocol] = process.argv.slice(2)
const HANDSHAKE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
const wanted = Number(count)
let open = 0
const ages = new Map<string, number[]>()

function take(text: string): void {
  const now = 1_000 * (performance.timeOrigin + performance.now())
  for (const [, amount] of text.matchAll(/"amount":"(\d{16})"/g)) {
    const own = ages.get(amount!) ?? []
    ages.set(amount!, own)
    own.push((now - Number(amount)) / 1_000)
    if (own.length < wanted) continue
    ages.delete(amount!)
    process.send!({ ages: own })
  }
}

for (let at = 0; at < wanted; at++) {
  const localAddress = `127.0.0.${1 + (at % 200)}`
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress })
  let isOpen = false
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    take(text)
    // The place that comes first, in either protocol.
    if (isOpen || !/id: |"position"/.test(text)) return
    isOpen = true
    if (++open === wanted) process.send!({ open })
  })
  socket.on('error', (error) => {
    throw error
  })
  const [path, lines] = protocol === 'websocket' ? ['events/ws', HANDSHAKE] : ['events', '']
  socket.write(`GET /bridge/v1/${path}?${query} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`)
}
