import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A port that was free a moment ago, for programs that cannot report the port they took, and for services that are
 * restarted on the same port. It is below the system's range for outgoing connections, one of which could take it
 * in the meantime.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
