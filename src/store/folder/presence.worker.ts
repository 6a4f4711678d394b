import { connect } from 'node:net'
import { workerData } from 'node:worker_threads'

/** Connects to sockets for a thread that blocks in `Atomics.wait`, and writes down which of them accept. */
const { paths, states } = workerData as { readonly paths: readonly string[]; readonly states: Int32Array }

/** Errors that prove the process dead: nobody listens, or the file is gone. After any other error it may still live. */
const DEAD = new Set(['ECONNREFUSED', 'ENOENT'])

for (const [i, path] of paths.entries()) {
  const report = (isDead: boolean): void => {
    Atomics.store(states, i, isDead ? 1 : 2)
    Atomics.add(states, paths.length, 1)
    Atomics.notify(states, paths.length)
  }
  const socket = connect(path)
  socket.once('connect', () => {
    report(false)
    socket.destroy()
  })
  socket.once('error', (error: NodeJS.ErrnoException) => report(DEAD.has(error.code ?? '')))
}
