import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A server that only answers, in a process of its own: how long its answers take is the machine's doing.
const server = createServer((_, response) => response.end('alive'))
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
