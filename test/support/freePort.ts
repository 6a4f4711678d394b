import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A port that nobody listened on a moment ago, for programs that can't be asked which port they took, and for services that
 * are started again on theirs. It is below those that the system gives to outgoing connections: one of them could take it
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
