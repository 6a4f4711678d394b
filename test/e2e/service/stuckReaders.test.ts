import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildLoneWorld, buildSmallWorld } from '../../support/fakeChainScenario.js'
import { skipWithout } from '../../support/installedProgram.js'
import {
  BDS,
  type BdsProcess,
  inheritedEnvironment,
  type ServiceProcess,
  startBds,
  startService,
} from '../../support/serviceProcess.js'
import { inStep, type ServiceWorld, serveWorld } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'
import { until } from '../../support/until.js'

const ARGUMENTS = ['--shutdown-grace-ms', '5000']
const LIST = '/bridge/v1/bridges?network_id=0'

/** A pipe that is held open, nearly full, and read only when the test asks. */
function fullPipe(t: TestContext) {
  const path = join(tempFolder(t), 'pipe')
  execFileSync('mkfifo', [path])
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  t.after(() => closeSync(descriptor))
  for (let kilobytes = 0; kilobytes < 63; kilobytes++) writeSync(descriptor, `${'.'.repeat(1023)}\n`)
  const buffer = Buffer.alloc(1 << 20)
  const read = (): string => {
    try {
      return buffer.toString('utf8', 0, readSync(descriptor, buffer))
    } catch {
      return ''
    }
  }
  return { path, read }
}

async function droppedLines({ opsUrl }: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return Number(text.match(/^bds_log_lines_dropped_total (\d+)$/m)?.[1])
}

/** Endpoints that fail again and again make every network log until lines are dropped, while the API keeps answering. */
async function floodLog(service: ServiceProcess, { rpc }: ServiceWorld): Promise<void> {
  let round = 0
  await until(
    async () => {
      for (const { endpoint } of rpc.values())
        if (round++ % 20 < 10) endpoint.fail({ type: 'http', status: 500, body: 'x'.repeat(2_000) })
        else endpoint.clearFaults()
      assert.equal((await service.get(LIST)).status, 200)
      return droppedLines(service)
    },
    (dropped) => dropped > 0,
    'lines that are dropped',
    60_000,
  )
  for (const { endpoint } of rpc.values()) endpoint.clearFaults()
}

/** Waits for the process itself: other processes hold its pipes open. */
async function assertEndsWell({ child }: BdsProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  // At the end of its grace time the process would end with another code.
  assert.deepEqual(await ended, [0, null])
}

/** Starts a service whose standard streams are set up by a shell command. */
function startBehind(t: TestContext, file: string, redirection: string): Promise<ServiceProcess> {
  return startService(t, file, ARGUMENTS, {}, ['sh', '-c', `exec "$@" ${redirection}`, 'sh'])
}

test('with a full log pipe that has no reader the API answers, log lines are dropped and counted, and SIGTERM ends the service with 0', async (t) => {
  const served = await serveWorld(t, buildSmallWorld().world)
  const { path, read } = fullPipe(t)
  const service = await startBehind(t, served.configFile('data'), `2>${path}`)
  await inStep(service, served.world)
  await floodLog(service, served)
  await inStep(service, served.world)

  // The reader reads again.
  let text = ''
  await until(
    () => {
      text += read()
      return text.includes('"msg":"log lines were dropped')
    },
    (isTold) => isTold,
    'the line that tells of dropped ones',
  )
  const lines = text.split('\n').filter((line) => !line.startsWith('.') && line !== '')
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const losses = records.filter(
    ({ msg }) => msg === 'log lines were dropped because standard error accepted none',
  )
  assert.deepEqual(
    losses.map(({ level, lines }) => [level, lines]),
    [['warn', await droppedLines(service)]],
  )
  await assertEndsWell(service)
})

test('a mistake in the configuration ends the start with exit code 3 although its message goes to a full pipe without a reader', async (t) => {
  const { path, read } = fullPipe(t)
  const launcher = ['sh', '-c', `exec "$@" 2>${path}`, 'sh']
  const file = join(tempFolder(t), 'no file')
  // Fills the pipe completely.
  const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  assert.throws(() => {
    for (;;) writeSync(filler, '.')
  })
  closeSync(filler)
  const bds = startBds(t, ['run', '--config', file], {}, launcher)
  const [code] = (await once(bds.child, 'exit')) as [number | null]
  assert.equal(code, 3)
  assert.doesNotMatch(read(), /bds:/)
})

test('what a process says at its end arrives although the relay to a socket takes a second of processor time to begin', async (t) => {
  const folder = tempFolder(t)
  const shell = 'const end = Date.now() + 1000; while (Date.now() < end);'
  const begin = `#!${process.execPath}\n${shell}\nrequire('node:child_process').spawnSync('/bin/sh', process.argv.slice(2), { stdio: 'inherit' })\n`
  writeFileSync(join(folder, 'sh'), begin, { mode: 0o755 })
  const bds = startBds(t, ['run', '--config', join(folder, 'none')], {
    PATH: `${folder}:${process.env.PATH}`,
  })
  assert.deepEqual(await bds.exited, { code: 3, signal: null })
  assert.match(bds.stderr.join('\n'), /^bds: /)
})

test('a log socket that is never read, as of a stuck journal, delays nothing, and its flags stay as they are', async (t) => {
  const served = await serveWorld(t, buildLoneWorld())
  // More than the socket takes: it stays full.
  const flood = '(yes | head -c 2000000 >&2) & exec "$@"'
  const bds = startBds(t, ['run', '--config', served.configFile('data'), ...ARGUMENTS], {}, [
    'sh',
    '-c',
    flood,
    'sh',
  ])
  bds.child.stderr?.pause()
  const [url] = (await bds.line(/^listening on /)).match(/http:\/\/[^\s,)]+/) ?? []
  await bds.line(/^network 0 has caught up/)
  assert.equal((await fetch(url + LIST)).status, 200)
  for (const stream of [1, 2])
    assert.ok(isBlocking(bds.child.pid!, stream), `O_NONBLOCK was set on stream ${stream}`)
  const { pid } = bds.child
  const relays = childrenOf(pid!).filter((child) => commandOf(child) === 'cat')
  assert.equal(relays.length, 2)
  await assertEndsWell(bds)
  // Also the relay that hangs.
  await until(
    () => relays.map(commandOf),
    (commands) => commands.every((command) => command !== 'cat'),
    'relays that are gone',
  )
})

test('a full disk for log lines or announcements does not end the service', async (t) => {
  const served = await serveWorld(t, buildLoneWorld())
  for (const { endpoint } of served.rpc.values()) endpoint.fail({ type: 'http', status: 500, times: 1 })
  const service = await startBehind(t, served.configFile('data'), '2>/dev/full')
  await inStep(service, served.world)
  await assertEndsWell(service)

  const file = served.configFile('again')
  const launcher = ['sh', '-c', 'exec "$@" >/dev/full', 'sh']
  const bds = startBds(t, ['run', '--config', file, ...ARGUMENTS], {}, launcher)
  await until(
    () => bds.stderr.some((line) => line.includes('service started')),
    (isStarted) => isStarted,
    'the service',
  )
  await assertEndsWell(bds)
})

test('a terminal that is stopped with Ctrl-S does not stop the service', {
  skip: skipWithout('script'),
}, async (t) => {
  const served = await serveWorld(t, buildSmallWorld().world)
  const file = served.configFile('data')
  const copy = join(tempFolder(t), 'lines')
  // Standard error is the terminal of `script`, and the address that the service listens on goes to a file.
  const inner = `exec ${[process.execPath, BDS, 'run', '--config', file, ...ARGUMENTS].join(' ')} >${copy}`
  const terminal = spawn('script', ['-qfec', inner, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: inheritedEnvironment(),
  })
  t.after(() => void terminal.kill('SIGKILL'))
  let shown = ''
  terminal.stdout.on('data', (data) => {
    shown += String(data)
  })
  const told = await until(
    () => (existsSync(copy) ? readFileSync(copy, 'utf8') : ''),
    (text) => text.includes('listening on '),
    'where the service listens',
  )
  const [url, opsUrl] = told.match(/http:\/\/[^\s,)]+/g) ?? []
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
  assert.match(metrics, /^bds_log_lines_dropped_total 0$/m)
  await until(
    () => shown,
    (text) => text.includes('service started'),
    'lines on the terminal',
  )
  terminal.stdin.write('\u0013')
  let round = 0
  await until(
    async () => {
      for (const { endpoint } of served.rpc.values())
        if (round++ % 20 < 10) endpoint.fail({ type: 'http', status: 500, body: 'x'.repeat(2_000) })
        else endpoint.clearFaults()
      assert.equal((await fetch(url + LIST)).status, 200)
      return (await fetch(`${opsUrl}/metrics`)).text()
    },
    (text) => !text.includes('bds_log_lines_dropped_total 0'),
    'lines that are dropped',
    60_000,
  )
})

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

/** '' for a process that has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Whether a write to a standard stream blocks, for the process and for every process that inherited the stream. */
function isBlocking(pid: number, stream: number): boolean {
  const flags = readFileSync(`/proc/${pid}/fdinfo/${stream}`, 'utf8').match(/^flags:\s*([0-7]+)/m)?.[1]
  return (Number.parseInt(flags ?? assert.fail('no flags'), 8) & constants.O_NONBLOCK) === 0
}
