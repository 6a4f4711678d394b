import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { listenExclusively, listenFailure } from '../errors/listenFailure.js'

/** A port that no other service of ours shares. */
export interface TakenPort {
  readonly port: number
  /** Lets another service take it. */
  release(): void
}

/**
 * Takes a port alone and lets it go again, so that cells can share it right afterwards. A port that is opened to be shared joins any
 * other process of this user that shares it: two services would each get some of the connections. Taking it alone first refuses
 * that, except between letting go and sharing. So two services that start at once are told apart by a Unix socket without a file,
 * which has the port's name, belongs to the same network namespace, and is gone with its process.
 * @param port 0 = any free port.
 * @throws OperatorError when another process has it.
 */
export async function takePort(host: string, port: number): Promise<TakenPort> {
  const server = createServer()
  await listenExclusively(server, host, port)
  const { port: taken } = server.address() as AddressInfo
  const guard = createServer()
  try {
    await listenTo(guard, `\0bds-http ${host} ${taken}`)
  } catch (error) {
    throw listenFailure(host, taken, error as NodeJS.ErrnoException)
  } finally {
    server.close()
    await once(server, 'close')
  }
  return { port: taken, release: () => void guard.close() }
}

function listenTo(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ path }, resolve)
  })
}
