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
