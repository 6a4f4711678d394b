import { connect } from 'node:net'
import { workerData } from 'node:worker_threads'

/** Finds out which sockets accept a connection, for a thread that waits in `Atomics.wait`. */
const { paths, states } = workerData as { readonly paths: readonly string[]; readonly states: Int32Array }

/** Nobody listens, or the file is gone. After any other error the process may still live. */
const DEAD = new Set(['ECONNREFUSED', 'ENOENT'])

for (const [i, path] of paths.entries()) {
  const tell = (isDead: boolean): void => {
    Atomics.store(states, i, isDead ? 1 : 2)
    Atomics.add(states, paths.length, 1)
    Atomics.notify(states, paths.length)
  }
  const socket = connect(path)
  socket.once('connect', () => {
    tell(false)
    socket.destroy()
  })
  socket.once('error', (error: NodeJS.ErrnoException) => tell(DEAD.has(error.code ?? '')))
}
