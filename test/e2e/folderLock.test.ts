import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lockFolder } from '../../src/store/folder/folderLock.js'
import { skipWithout } from '../support/installedProgram.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'
import {
  inOtherNamespace,
  inOwnNamespace,
  noOtherNamespace,
  underOtherName,
  withReadOnlyMount,
} from './otherNamespace.js'

const HOLDER = fileURLToPath(new URL('./processes/storeHolder.js', import.meta.url))
interface Holder {
  readonly child: ChildProcess
  /** `ready`, or the refusal. */
  readonly outcome: string
  kill(): Promise<void>
}

interface HolderOptions {
  readonly role?: 'write' | 'read'
  readonly launcher?: readonly string[]
  /** Whether the command `flock` is there. */
  readonly hasFlock?: boolean
  /** Where the process sees the folder. */
  readonly seenAt?: string
}

async function hold(
  context: TestContext,
  folder: string,
  { role = 'write', launcher = [], hasFlock = true, seenAt = folder }: HolderOptions = {},
): Promise<Holder> {
  const [command, ...words] = [...launcher, process.execPath, HOLDER, seenAt, role]
  const env = hasFlock ? process.env : { ...process.env, PATH: join(folder, 'no such folder') }
  const child = spawn(command!, words, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const ended = once(child, 'close')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  context.after(kill)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, outcome: String(line).trimEnd(), kill }
}

function inUse(folder: string, owner: string): string {
  return `data_dir ${folder} is in use by ${owner}: stop it first, or choose another data_dir`
}

function sockets(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.includes('.sock'))
}

for (const hasFlock of [true, false]) {
  const where = hasFlock ? 'with the command flock' : 'without the command flock'
  const skip = hasFlock && skipWithout('flock')

  test(`${where}: a second writer is refused with the holder's name, and gets the folder once the first is killed`, {
    skip,
  }, async (t) => {
    const folder = tempFolder(t)
    const first = await hold(t, folder, { hasFlock })
    assert.equal(first.outcome, 'ready')
    const second = await hold(t, folder, { hasFlock })
    assert.equal(second.outcome, inUse(folder, `process ${first.child.pid}`))
    assert.throws(() => lockFolder(folder, 'write'), { name: 'FatalError', message: second.outcome })
    await first.kill()
    assert.ok(existsSync(join(folder, 'bds.lock')), 'the file is kept')
    const third = await hold(t, folder, { hasFlock })
    assert.equal(third.outcome, 'ready')
    assert.equal(sockets(folder).length, 1, 'the socket of the killed process is gone')
  })

  test(`${where}: readers get the folder beside a writer and beside each other, in any order`, {
    skip,
  }, async (t) => {
    const folder = tempFolder(t)
    for (const role of ['read', 'write', 'read'] as const)
      assert.equal((await hold(t, folder, { role, hasFlock })).outcome, 'ready')
  })

  test(`${where}: of writers that start at the same time exactly one gets the folder`, {
    skip,
  }, async (t) => {
    const folder = tempFolder(t)
    const all = await Promise.all(Array.from({ length: 4 }, () => hold(t, folder, { hasFlock })))
    const [first, ...others] = all.map(({ outcome }) => outcome).sort((left) => (left === 'ready' ? -1 : 1))
    assert.equal(first, 'ready')
    for (const outcome of others) assert.match(outcome, /^data_dir .* is (in use by|being taken by) /)
  })

  test(`${where}: a process of another pid namespace gets the folder neither as writer nor as reader while one holds it`, {
    skip: skip || noOtherNamespace,
  }, async (t) => {
    const folder = tempFolder(t)
    for (const held of ['write', 'read'] as const) {
      const first = await hold(t, folder, { role: held, hasFlock })
      assert.equal(first.outcome, 'ready')
      for (const role of ['write', 'read'] as const) {
        const { outcome } = await hold(t, folder, { role, hasFlock, launcher: inOtherNamespace })
        assert.match(
          outcome,
          /^data_dir .* is in use by process \d+ .*in another pid namespace \(another container\): /,
        )
        assert.ok(outcome.includes(`process ${first.child.pid} `), outcome)
      }
      await first.kill()
      const next = await hold(t, folder, { hasFlock, launcher: inOtherNamespace })
      assert.equal(next.outcome, 'ready', 'let in when the first one is gone')
      // Both processes are pid 1 of their namespaces, and one has another host name.
      const same = await hold(t, folder, {
        hasFlock,
        launcher: underOtherName,
      })
      assert.match(same.outcome, /is in use by process 1 .*in another pid namespace/)
      await same.kill()
      await next.kill()
    }
  })

  test(`${where}: a reader with a read-only mount is refused like one without while the folder is held, and let in once it is free`, {
    skip: skip || noOtherNamespace || skipWithout('mount'),
  }, async (t) => {
    const folder = tempFolder(t)
    const seenAt = tempFolder(t)
    const read = (launcher: readonly string[], at = folder): Promise<Holder> =>
      hold(t, folder, { role: 'read', hasFlock, launcher, seenAt: at })
    const elsewhere = withReadOnlyMount(folder, seenAt)
    const near = withReadOnlyMount(folder, seenAt, inOwnNamespace)
    assert.equal((await read(elsewhere, seenAt)).outcome, 'ready', 'nobody ever held it')
    for (const role of ['write', 'read'] as const) {
      const holder = await hold(t, folder, { role, hasFlock })
      const plain = await read(inOtherNamespace)
      assert.match(plain.outcome, /is in use by process \d+ .*in another pid namespace/)
      assert.equal(
        (await read(elsewhere, seenAt)).outcome.replace(seenAt, folder),
        plain.outcome,
        `held to ${role}`,
      )
      // In its own pid namespace: beside a writer its snapshot would not last, since LMDB gives it no reader slot.
      assert.equal(
        (await read(near, seenAt)).outcome,
        role === 'write' ? inUse(seenAt, `process ${holder.child.pid}`) : 'ready',
      )
      await holder.kill()
      for (const launcher of [elsewhere, near]) {
        const reader = await read(launcher, seenAt)
        assert.equal(reader.outcome, 'ready', `the ${role}r is gone`)
        await reader.kill()
      }
    }
  })
}

test('while a reader with a read-only mount reads, no writer starts', {
  skip: noOtherNamespace || skipWithout('mount', 'flock'),
}, async (t) => {
  const folder = tempFolder(t)
  const seenAt = tempFolder(t)
  lockFolder(folder, 'write').release()
  const reader = await hold(t, folder, {
    role: 'read',
    seenAt,
    launcher: withReadOnlyMount(folder, seenAt, inOwnNamespace),
  })
  assert.equal(reader.outcome, 'ready')
  // The file's text names the last writer: only here it is this process, which lives.
  assert.equal((await hold(t, folder)).outcome, inUse(folder, `process ${process.pid}`))
  await reader.kill()
  const writer = await hold(t, folder)
  assert.equal(writer.outcome, 'ready')
  await writer.kill()
  const next = await hold(t, folder, {
    role: 'read',
    seenAt,
    launcher: withReadOnlyMount(folder, seenAt, inOwnNamespace),
  })
  assert.equal(next.outcome, 'ready')
  assert.equal(
    (await hold(t, folder)).outcome,
    inUse(folder, 'another process'),
    'the text names one that is gone',
  )
})

test("a process with the flock command and one without see each other's lock", {
  skip: skipWithout('flock'),
}, async (t) => {
  for (const hasFlock of [true, false]) {
    const folder = tempFolder(t)
    const first = await hold(t, folder, { hasFlock })
    const second = await hold(t, folder, { hasFlock: !hasFlock })
    assert.equal(second.outcome, inUse(folder, `process ${first.child.pid}`))
    assert.equal((await hold(t, folder, { role: 'read', hasFlock: !hasFlock })).outcome, 'ready')
  }
})

test('the kernel holds the lock for the process: another program finds it locked until the process ends', {
  skip: skipWithout('flock'),
}, async (t) => {
  const folder = tempFolder(t)
  const holder = await hold(t, folder)
  const isFree = (): boolean => spawnSync('flock', ['-n', join(folder, 'bds.lock'), 'true']).status === 0
  assert.equal(isFree(), false)
  await holder.kill()
  assert.equal(isFree(), true)
})

test('removing the lock file lets no second writer in', async (t) => {
  const folder = tempFolder(t)
  const first = await hold(t, folder)
  for (const name of ['bds.lock', 'bds.openers']) rmSync(join(folder, name))
  assert.equal((await hold(t, folder)).outcome, inUse(folder, `process ${first.child.pid}`))
})

test('the lock works below a path too long for sockets, and through a symbolic link', async (t) => {
  const folder = join(tempFolder(t), 'a'.repeat(100), 'b'.repeat(100))
  mkdirSync(folder, { recursive: true })
  const link = join(tempFolder(t), 'link')
  symlinkSync(folder, link)
  const first = await hold(t, folder, { hasFlock: false })
  assert.equal(first.outcome, 'ready')
  assert.equal((await hold(t, link, { hasFlock: false })).outcome, inUse(link, `process ${first.child.pid}`))
})

test('a folder that was released in order can be taken again by the same process', async (t) => {
  const folder = tempFolder(t)
  for (let round = 0; round < 2; round++) {
    const lock = lockFolder(folder, 'write')
    assert.throws(() => lockFolder(folder, 'write'), { message: inUse(folder, `process ${process.pid}`) })
    lock.release()
  }
  assert.deepEqual(sockets(folder), [])
})

test('a killed process that is not reaped yet holds no folder', async (t) => {
  const folder = tempFolder(t)
  // The shell becomes a program that never waits for its children: a killed child stays a zombie.
  const script = `'${process.execPath}' '${HOLDER}' '${folder}' & exec sleep 60`
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  t.after(() => void process.kill(-parent.pid!, 'SIGKILL'))
  assert.equal(String((await once(parent.stdout, 'data'))[0]), 'ready\n')
  const { pid } = JSON.parse(readFileSync(join(folder, 'bds.lock'), 'utf8')) as { pid: number }
  assert.throws(() => lockFolder(folder, 'write'), { name: 'FatalError' })
  process.kill(pid, 'SIGKILL')
  const isZombie = (stat: string): boolean => stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
  await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), isZombie, 'a zombie')
  lockFolder(folder, 'write').release()
})

test('the lock file of an older build refuses the folder exactly while its process runs', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'bds.lock')
  const holder = await hold(t, folder)
  const { pidNamespace, ...old } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  assert.match(String(pidNamespace), /^(pid:\[\d+\])?$/)
  // In another folder: the remaining fields are the file that an older build would have written there.
  const other = tempFolder(t)
  const text = JSON.stringify(old)
  writeFileSync(join(other, 'bds.lock'), text)
  assert.throws(() => lockFolder(other, 'write'), { message: inUse(other, `process ${holder.child.pid}`) })
  assert.equal(readFileSync(join(other, 'bds.lock'), 'utf8'), text)
  for (const change of [
    { startedAt: '1' },
    { pid: process.ppid, startedAt: '1' },
    { bootId: 'an earlier boot' },
    { host: 'a container of before' },
  ]) {
    writeFileSync(join(other, 'bds.lock'), JSON.stringify({ ...old, ...change }))
    lockFolder(other, 'write').release()
  }
  for (const damaged of ['{"pid":', '', 'null', '{"pid":"1"}']) {
    writeFileSync(join(other, 'bds.lock'), damaged)
    lockFolder(other, 'write').release()
  }
})
