import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tempFolder } from '../../support/tempFolder.js'
import { inOtherNamespace, noOtherNamespace } from '../otherNamespace.js'

const FIXTURE = fileURLToPath(new URL('../processes/processFixture.js', import.meta.url))

interface End {
  readonly code: number | null
  readonly killedBy: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a job that goes wrong in one way, and sends `signal` once it has started. */
function run(
  mode: string,
  signal?: NodeJS.Signals,
  more: readonly string[] = [],
  launcher: readonly string[] = [],
): Promise<End> {
  return new Promise((resolve) => {
    const [command, ...words] = [...launcher, process.execPath, FIXTURE, mode, ...more]
    const child = spawn(command!, words)
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (data) => {
      stdout += String(data)
      if (signal !== undefined && String(data).includes('started')) child.kill(signal)
    })
    child.stderr.on('data', (data) => {
      stderr += String(data)
    })
    child.once('close', (code, killedBy) => resolve({ code, killedBy, stdout, stderr }))
  })
}

test('a signal closes the job and ends the process with 0, and the log has a line when it begins and one when all is closed', async () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const { code, stdout, stderr } = await run('well', signal)
    assert.deepEqual([code, stdout], [0, 'started\nclosed\n'], signal)
    const told = stderr
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
    assert.deepEqual(told, ['stopping', 'stopped'], signal)
  }
})

test('a Ctrl-C that arrives twice, as under npm, still closes the job', async () => {
  const { code, stdout, stderr } = await run('told twice', 'SIGINT')
  assert.deepEqual([code, stdout], [0, 'started\nclosed\n'])
  assert.ok(!stderr.includes('second signal'), stderr)
})

test('a hangup right after another signal, as from systemd, does not count as a second signal', async () => {
  const { code, stdout, stderr } = await run('hung up too', 'SIGTERM')
  assert.deepEqual([code, stdout], [0, 'started\nclosed\n'])
  assert.ok(!stderr.includes('second signal'), stderr)
})

test('a job that refuses to start is reported in one line, and the process ends with 1', async () => {
  assert.deepEqual(await run('refuses'), {
    code: 1,
    killedBy: null,
    stdout: '',
    stderr: 'bds: the port is taken\n',
  })
})

test('a job that cannot go on is reported and closed, and the process ends with 1', async () => {
  assert.deepEqual(await run('fails'), {
    code: 1,
    killedBy: null,
    stdout: 'started\nclosed\n',
    stderr: 'bds: the indexer is gone\n',
  })
})

test('a fault keeps its exit code when something fails while the job is closed because of it', async () => {
  for (const mode of ['fails for good', 'fails twice, for good']) {
    const { code, stderr } = await run(mode)
    assert.equal(code, 4, mode)
    assert.match(stderr, /^bds: the store is damaged\n/)
    assert.equal(stderr.includes('a front thread has gone'), mode.includes('twice'))
  }
})

test('a shutdown that hangs ends after the grace time, and the log names the room', async () => {
  const { code, stderr } = await run('hangs', 'SIGTERM')
  assert.equal(code, 1)
  const last = JSON.parse(stderr.trimEnd().split('\n').at(-1)!) as Record<string, unknown>
  assert.deepEqual([last.level, last.msg, last.room], ['error', 'shutdown hangs', 'query pool'])
})

test('an unexpected failure is logged, and the process ends with 1', async () => {
  const { code, stderr } = await run('throws')
  assert.equal(code, 1)
  assert.match(
    stderr,
    /"msg":"unexpected failure".*"message":"a bug"|"message":"a bug".*"msg":"unexpected failure"/,
  )
})

test('a signal ends the process of a job that never finishes starting', async () => {
  const { code, stderr } = await run('never starts', 'SIGTERM')
  assert.equal(code, 1)
  assert.match(stderr, /"msg":"shutdown hangs"/)
})

test('a main thread that stays busy while it stops is killed', async () => {
  assert.equal((await run('busy', 'SIGTERM')).killedBy, 'SIGKILL')
})

test('a thread that hangs in a system call keeps no process alive', async () => {
  assert.equal((await run('stuck thread', 'SIGTERM')).killedBy, 'SIGKILL')
})

test('opening a file that blocks for ever keeps no process alive', async (t) => {
  const pipe = join(tempFolder(t), 'pipe')
  execFileSync('mkfifo', [pipe])
  assert.equal((await run('stuck look', 'SIGTERM', [pipe])).killedBy, 'SIGKILL')
})

test('a main thread that hangs in its last exit handler is killed', async () => {
  assert.equal((await run('busy exit', 'SIGTERM')).killedBy, 'SIGKILL')
})

test('a main thread without a heartbeat for too long is killed, without any signal', async () => {
  assert.equal((await run('silent')).killedBy, 'SIGKILL')
})

/** As a container runs it: the kernel ignores what process 1 of a pid namespace sends to itself, SIGKILL too. */
test('process 1 of a container ends too when it hangs', { skip: noOtherNamespace }, async () => {
  for (const mode of ['silent', 'stuck thread, told so']) {
    const { code, killedBy, stdout } = await run(mode, undefined, [], inOtherNamespace)
    assert.ok(code === 133 || killedBy === 'SIGTRAP', `${mode}: ${code} ${killedBy}`)
    assert.equal(stdout, 'started\n')
  }
})
