import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type CommandLog, createCommandLog } from '../../../src/cluster/commandLog.js'
import type { LogEntry } from '../../../src/cluster/logStream.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { systemClock } from '../../../src/telemetry/clocks.js'
import { BEGINNING, messagesOf, readEntries } from '../../support/clusterContract.js'
import { skipWithout } from '../../support/installedProgram.js'
import { until } from '../../support/until.js'
import { closeAfter, deadline, NatsProcesses, TEST_LIMIT_MS } from './natsProcesses.js'

const skip = skipWithout('nats-server')
const NETWORK = asNetworkId(1)
const STREAM = 'test-log-1'
const options = { skip, timeout: TEST_LIMIT_MS }

test(
  'each server killed in turn under load: nothing that was acknowledged is lost or stands twice, and a reader misses nothing',
  options,
  async (context) => {
    const processes = await NatsProcesses.start(context, 3)
    const load = await startLoad(context, processes)
    for (const at of processes.servers.keys()) {
      await load.untilMore(20)
      await processes.kill(at)
      await load.untilMore(20)
      processes.start(at)
      await processes.untilHealthy(at)
    }
    await load.endWell()
  },
)

test("the stream's leader killed three times under load: the same", options, async (context) => {
  const processes = await NatsProcesses.start(context, 3)
  const load = await startLoad(context, processes)
  for (let round = 0; round < 3; round++) {
    await load.untilMore(20)
    const leader = await processes.leaderOf(STREAM)
    await processes.kill(leader)
    await load.untilMore(20)
    processes.start(leader)
    await processes.untilHealthy(leader)
  }
  await load.endWell()
})

test('all three killed at once and started again, twice: the same', options, async (context) => {
  const processes = await NatsProcesses.start(context, 3)
  const load = await startLoad(context, processes)
  for (let round = 0; round < 2; round++) {
    await load.untilMore(20)
    await Promise.all([...processes.servers.keys()].map((at) => processes.kill(at)))
    for (const at of processes.servers.keys()) processes.start(at)
  }
  await load.untilMore(20)
  await load.endWell()
})

test(
  'a server that stands still is left for another one, and close does not wait for it',
  options,
  async (context) => {
    const processes = await NatsProcesses.start(context, 3)
    const load = await startLoad(context, processes)
    await load.untilMore(20)
    const leader = await processes.leaderOf(STREAM)
    processes.signal(leader, 'SIGSTOP')
    await load.untilMore(20)
    await load.endWell()
    processes.signal(leader, 'SIGCONT')
  },
)

interface Load {
  /** Waits until so many more commands are acknowledged. */
  untilMore(commands: number): Promise<void>
  /** Ends it and compares what was acknowledged, what the reader has got, and what stands in the log. */
  endWell(): Promise<void>
}

/** A proposer that appends without a pause, and another instance that reads from the beginning. */
async function startLoad(context: TestContext, processes: NatsProcesses): Promise<Load> {
  const signal = deadline(context)
  const [proposer, reader] = [processes.member(), processes.member()]
  closeAfter(context, proposer, reader)
  const log = createCommandLog(await proposer.openLogStream(NETWORK, signal), systemClock)
  const followed = createCommandLog(await reader.openLogStream(NETWORK, signal), systemClock)
  const acknowledged: string[] = []
  const read: LogEntry[] = []
  const stop = new AbortController()
  let last = BEGINNING
  const appending = (async () => {
    for (let command = 0; !stop.signal.aborted; command++) {
      const messages = messagesOf(`c${command}`, ['1', '2', '3'].slice(0, 1 + (command % 3)))
      const outcome = await log.append(messages, last, signal)
      assert.equal(outcome.type, 'appended', `c${command}`)
      if (outcome.type !== 'appended') return
      for (const { id } of messages) acknowledged.push(id)
      last = outcome.last
    }
  })()
  const reading = (async () => {
    for await (const entry of followed.read(BEGINNING, signal)) {
      read.push(entry)
      if (entry.id === 'end.0') return
    }
  })()
  // Told by whoever waits for them.
  for (const promise of [appending, reading]) promise.catch(() => undefined)
  return {
    untilMore: async (commands) => {
      const enough = acknowledged.length + 2 * commands
      const waiting = until(
        () => acknowledged.length,
        (count) => count >= enough,
        `${enough} messages`,
        90_000,
      )
      await Promise.race([waiting, appending, reading])
      assert.ok(acknowledged.length >= enough)
    },
    endWell: async () => {
      stop.abort()
      await appending
      const end = await log.append(messagesOf('end', ['']), last, signal)
      assert.equal(end.type, 'appended')
      acknowledged.push('end.0')
      await reading
      assert.deepEqual(
        read.map(({ id }) => id),
        acknowledged,
      )
      assert.deepEqual(
        read.map(({ sequence }) => sequence),
        acknowledged.map((_, at) => at + 1),
      )
      assert.deepEqual(await idsOf(log, signal), acknowledged)
    },
  }
}

async function idsOf(log: CommandLog, signal: AbortSignal): Promise<string[]> {
  const { last } = await log.bounds(signal)
  return (await readEntries(log, 0, last, signal)).map(({ id }) => id)
}
