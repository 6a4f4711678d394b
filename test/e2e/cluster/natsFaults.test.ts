import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createCommandLog } from '../../../src/cluster/commandLog.js'
import { LEASE_TIMING, takeLease } from '../../../src/cluster/lease.js'
import { OperatorError } from '../../../src/errors/operatorError.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { systemClock } from '../../../src/telemetry/clocks.js'
import { messagesOf, readEntries } from '../../support/clusterContract.js'
import { skipWithout } from '../../support/installedProgram.js'
import { closeAfter, deadline, MAX_LOG_BYTES, NatsProcesses, TEST_LIMIT_MS } from './natsProcesses.js'

const skip = skipWithout('nats-server')
const NETWORK = asNetworkId(1)
const STREAM = 'test-log-1'
const options = { skip, timeout: TEST_LIMIT_MS }

test(
  'a holder that is paused for longer than its lease is fenced, though it does not look at its lease',
  options,
  async (context) => {
    const processes = await NatsProcesses.start(context, 3)
    const signal = deadline(context)
    const member = processes.member()
    closeAfter(context, member)
    const log = createCommandLog(await member.openLogStream(NETWORK, signal), systemClock)
    const program = fileURLToPath(new URL('./processes/stubbornHolder.js', import.meta.url))
    const child = fork(program, processes.addresses, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    context.after(() => void child.kill('SIGKILL'))
    // It has the lease and appends.
    for (let messages = 0; messages < 20; messages++) await once(child, 'message', { signal })
    const leases = await member.openKeyBoard('leases', signal)
    const taking = takeLease(leases, String(NETWORK), 'other', LEASE_TIMING, systemClock, signal)
    child.kill('SIGSTOP')
    const lease = await taking
    const { last } = await log.bounds(signal)
    const outcome = await log.append(messagesOf('other', ['1', '2']), last, signal)
    assert.deepEqual(outcome, { type: 'appended', last: last + 2 })
    const fenced = once(child, 'exit', { signal })
    child.kill('SIGCONT')
    assert.deepEqual(await fenced, [FENCED_EXIT, null])
    const entries = await readEntries(log, 0, last + 2, signal)
    assert.deepEqual(
      entries.map(({ id }) => id.split('-')[0]),
      [...Array(last).fill('stubborn'), 'other.0', 'other.1'],
    )
    assert.deepEqual((await log.bounds(signal)).last, last + 2)
    assert.ok(lease.isHeld())
    await lease.release()
  },
)

test(
  'a log that is there with other settings is refused in one line, and so is one that the servers can not have',
  options,
  async (context) => {
    const processes = await NatsProcesses.start(context, 1)
    const signal = deadline(context)
    const [first, second, third] = [
      processes.member(),
      processes.member(MAX_LOG_BYTES / 2),
      processes.member(undefined, 3),
    ]
    closeAfter(context, first, second, third)
    await first.openLogStream(NETWORK, signal)
    await first.openKeyBoard('leases', signal)
    await assert.rejects(
      second.openLogStream(NETWORK, signal),
      new OperatorError(
        `the NATS stream ${STREAM} is there with other settings: max_bytes ${MAX_LOG_BYTES} instead of ${MAX_LOG_BYTES / 2}`,
      ),
    )
    await assert.rejects(
      third.openKeyBoard('heads', signal),
      new OperatorError(
        'the NATS bucket test-heads: NATS answers 10074 (replicas > 1 not supported in non-clustered mode)',
      ),
    )
    await assert.rejects(third.openKeyBoard('leases', signal), /num_replicas 1 instead of 3$/)
  },
)

test(
  'a process whose servers are gone, silent or refuse ends when it has closed its connection',
  options,
  async (context) => {
    const processes = await NatsProcesses.start(context, 3)
    const program = fileURLToPath(new URL('./processes/closingMember.js', import.meta.url))
    const child = fork(program, processes.addresses, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    context.after(() => void child.kill('SIGKILL'))
    const signal = deadline(context)
    // It reads, appends, renews a lease and watches.
    await once(child, 'message', { signal })
    await processes.kill(0)
    processes.signal(1, 'SIGSTOP')
    processes.signal(2, 'SIGSTOP')
    const startedMs = performance.now()
    child.send('close')
    assert.deepEqual(await once(child, 'exit', { signal }), [0, null])
    assert.ok(performance.now() - startedMs < 10_000, `${performance.now() - startedMs} ms`)
  },
)

/** Of `processes/stubbornHolder.ts`. */
const FENCED_EXIT = 7
