import { connect } from 'node:net'

export interface OpenLoad {
  readonly port: number
  readonly paths: readonly string[]
  readonly connections: number
  readonly seconds: number
}

/**
 * Opens a new connection for each request. Neither generator can do that: wrk takes a closed connection for an error, and
 * autocannon does not count it. This client needs far more CPU than the server, so compare the server's CPU time.
 * @returns requests answered. @throws when one was not.
 */
export async function runOpening({ port, paths, connections, seconds }: OpenLoad): Promise<number> {
  const endMs = performance.now() + 1000 * seconds
  let asked = 0
  const user = async (): Promise<void> => {
    while (performance.now() < endMs) await askOnce(port, paths[asked++ % paths.length]!)
  }
  await Promise.all(Array.from({ length: connections }, user))
  return asked
}

function askOnce(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let head = ''
    let missing = Number.POSITIVE_INFINITY
    socket.setEncoding('latin1')
    socket.once('error', reject)
    socket.on('data', (chunk: string) => {
      if (missing === Number.POSITIVE_INFINITY) {
        head += chunk
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!head.startsWith('HTTP/1.1 200 ')) reject(new Error(`${path}: ${head.slice(0, 40)}`))
        missing = Number(/content-length: (\d+)/i.exec(head)![1]) - (head.length - end - 4)
      } else missing -= chunk.length
      if (missing > 0) return
      socket.destroy()
      resolve()
    })
    socket.once('close', () => reject(new Error(`${path}: the connection ended`)))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  })
}
