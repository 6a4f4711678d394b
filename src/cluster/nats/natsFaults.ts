import { JetStreamApiError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { InvariantError } from '../../errors/invariantError.js'
import { OperatorError } from '../../errors/operatorError.js'
import { ClusterUnavailableError } from '../clusterFaults.js'

/** `err_code` of JetStream's answers; the server's `errors.json` lists them. */
export const apiCodes = {
  wrongLastSequence: 10071,
  maximumBytesExceeded: 10077,
  streamNotFound: 10059,
  streamNameInUse: 10058,
  insufficientStorage: 10047,
  replicasNeedCluster: 10074,
  notEnabledForAccount: 10039,
} as const

/** What only an operator can change. Everything else may pass: servers start, elect, catch up. */
const FOR_OPERATORS: readonly number[] = [
  apiCodes.insufficientStorage,
  apiCodes.replicasNeedCluster,
  apiCodes.notEnabledForAccount,
]

/** @returns undefined if it is no answer of JetStream. */
export function apiCodeOf(error: unknown): number | undefined {
  if (error instanceof JetStreamApiError) return error.code
  if (error instanceof Error && error.cause instanceof JetStreamApiError) return error.cause.code
  return undefined
}

/**
 * Our error for what the client library throws. Texts of the library may repeat addresses, so only the server's own words about
 * JetStream are kept, and the names of errors.
 * @param what was asked, for the message: "the log of network 1".
 */
export function natsFault(what: string, error: unknown): Error {
  if (error instanceof ClusterUnavailableError || error instanceof OperatorError) return error
  const code = apiCodeOf(error)
  if (code !== undefined) {
    const text = `${what}: NATS answers ${code} (${wordsOf(error)})`
    return FOR_OPERATORS.includes(code) ? new OperatorError(text) : new ClusterUnavailableError(text)
  }
  if (error instanceof errors.InvalidArgumentError)
    return new InvariantError(`${what}: refused before it was sent: ${error.message}`)
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError)
    return new ClusterUnavailableError(`${what}: NATS does not accept the credentials`)
  if (error instanceof errors.PermissionViolationError)
    return new ClusterUnavailableError(`${what}: NATS does not permit to ${error.operation} ${error.subject}`)
  return new ClusterUnavailableError(`${what}: no answer from NATS (${nameOf(error)})`)
}

function wordsOf(error: unknown): string {
  const told = error instanceof JetStreamApiError ? error : (error as Error).cause
  return (told as JetStreamApiError).message
}

/** `ECONNREFUSED`, or the name of a class. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause instanceof Error ? nameOf(error.cause) : error.name
}
