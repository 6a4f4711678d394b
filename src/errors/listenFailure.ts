import type { Server } from 'node:net'
import { OperatorError } from './operatorError.js'

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken by another process',
  EADDRNOTAVAIL: 'the address is not one of this machine',
  ENOTFOUND: 'the host name is not known',
  EACCES: 'not permitted',
}

/** Says why a server can't listen. */
export function listenFailure(host: string, port: number, error: NodeJS.ErrnoException): OperatorError {
  const reason = REASONS[error.code ?? ''] ?? error.message
  return new OperatorError(`can't listen on ${host}:${port}: ${reason}`, { cause: error })
}

/**
 * Opens a port that no other process shares.
 * @throws OperatorError that says why it can't be had.
 */
export function listenExclusively(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void => reject(listenFailure(host, port, error))
    server.once('error', refuse)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', refuse)
      resolve()
    })
  })
}
