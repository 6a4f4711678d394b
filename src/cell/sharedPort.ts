import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { listenExclusively } from '../errors/listenFailure.js'

/**
 * Takes a port alone and lets it go again, so that cells can share it right afterwards. A port that is opened to be shared joins any
 * other process of this user that shares it: two services would each get some of the connections. Taking it alone first refuses
 * that, except for another service that does the same within the same milliseconds.
 * @returns the port, also where `port` is 0.
 * @throws OperatorError when another process has it.
 */
export async function takePort(host: string, port: number): Promise<number> {
  const server = createServer()
  await listenExclusively(server, host, port)
  const { port: taken } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return taken
}
