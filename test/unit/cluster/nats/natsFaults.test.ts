import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JetStreamApiError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { ClusterUnavailableError } from '../../../../src/cluster/clusterFaults.js'
import { natsFault } from '../../../../src/cluster/nats/natsFaults.js'
import { InvariantError } from '../../../../src/errors/invariantError.js'
import { OperatorError } from '../../../../src/errors/operatorError.js'

const told = (error: unknown): Error => natsFault('the log', error)
const answer = (err_code: number, description: string): JetStreamApiError =>
  new JetStreamApiError({ code: 503, err_code, description })

test('an answer that only an operator can change is theirs; every other fault may pass', () => {
  assert.deepEqual(
    told(answer(10074, 'replicas > 1 not supported in non-clustered mode')),
    new OperatorError('the log: NATS answers 10074 (replicas > 1 not supported in non-clustered mode)'),
  )
  assert.deepEqual(
    told(answer(10008, 'system temporarily unavailable')),
    new ClusterUnavailableError('the log: NATS answers 10008 (system temporarily unavailable)'),
  )
  assert.deepEqual(
    told(new errors.TimeoutError()),
    new ClusterUnavailableError('the log: no answer from NATS (TimeoutError)'),
  )
})

test('a message that was never sent is a bug of ours', () => {
  const error = errors.InvalidArgumentError.format('payload', 'max_payload size exceeded')
  assert.ok(told(error) instanceof InvariantError)
})

test('no text of the library is repeated that could hold an address or a user', () => {
  const secret = 'nats://me:secret@host:4222'
  const system = Object.assign(new Error(`connect ${secret}`), { code: 'ECONNREFUSED' })
  const faults = [
    new Error(secret),
    system,
    new errors.ConnectionError(secret, { cause: system }),
    new errors.AuthorizationError(`Authorization Violation for ${secret}`),
  ]
  assert.deepEqual(
    faults.map((fault) => told(fault).message),
    [
      'the log: no answer from NATS (Error)',
      'the log: no answer from NATS (ECONNREFUSED)',
      'the log: no answer from NATS (ECONNREFUSED)',
      'the log: NATS does not accept the credentials',
    ],
  )
})

test('our own errors pass as they are', () => {
  const error = new ClusterUnavailableError('ours')
  assert.equal(told(error), error)
})
