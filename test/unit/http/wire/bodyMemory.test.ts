import assert from 'node:assert/strict'
import test from 'node:test'
import { copyOf, giveBackNeedless, hold, letGo } from '../../../../src/http/wire/bodyMemory.js'
import { readProcessMemory } from '../../../../src/telemetry/processMemory.js'

const MIB = 1024 ** 2
const anonymousMib = (): number => readProcessMemory()!.anonymousBytes / MIB
/** One for all: garbage of the test's own would count. */
const original = new Uint8Array(2 * MIB).fill(1)
const copyOfLength = (length: number): Uint8Array => copyOf(original.subarray(0, length))

async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
}

/** What happens within some twenty seconds without a request. */
async function rest(): Promise<void> {
  for (let times = 0; times < 2; times++) {
    giveBackNeedless()
    await turns()
  }
}

for (const length of [16 * 1024, 50_000, MIB])
  test(`memory of ${length} bytes goes back to the system some time after its last holder has let go, though it is still referred to`, async () => {
    await rest()
    const before = anonymousMib()
    const body = new Uint8Array(length).fill(1)
    const bodies = Array.from({ length: (64 * MIB) / length }, () => copyOf(body))
    for (const body of bodies) hold(body)
    for (const body of bodies) letGo(body)
    await rest()
    assert.ok(anonymousMib() - before > 60)
    for (const body of bodies) letGo(body)
    await rest()
    assert.ok(anonymousMib() - before < 8, `${(anonymousMib() - before).toFixed(0)} MiB of ${bodies.length}`)
  })

test('memory goes back in steps, so that nobody waits for it', async () => {
  for (const body of Array.from({ length: 64 }, () => copyOfLength(MIB))) letGo(body)
  giveBackNeedless()
  giveBackNeedless()
  const before = anonymousMib()
  await new Promise(setImmediate)
  assert.ok(before - anonymousMib() < 4)
  await turns()
  assert.ok(before - anonymousMib() > 50)
})

test('memory is used again once nobody holds it, for a body that fills most of it', async () => {
  await rest()
  const body = copyOfLength(100_000)
  hold(body)
  letGo(body)
  assert.notEqual(copyOfLength(100_000).buffer, body.buffer, 'it is held')
  letGo(body)
  const next = copyOf(new Uint8Array(90_000).fill(2))
  assert.deepEqual([next.buffer, next.length, next.at(-1)], [body.buffer, 90_000, 2])
  assert.notEqual(copyOfLength(90_000).buffer, body.buffer, 'it is held again')
})

test('what does not fit goes back in place of what is taken, so that sizes that change take no more', async () => {
  await rest()
  const before = anonymousMib()
  for (const length of [MIB, 500_000, 200_000, 50_000, 300_000, 2 * MIB]) {
    const bodies = Array.from({ length: (32 * MIB) / length }, () => copyOfLength(length))
    for (const body of bodies) letGo(body)
  }
  assert.ok(anonymousMib() - before < 48, `${(anonymousMib() - before).toFixed(0)} MiB`)
})

test('a view of memory that has gone back shows nothing', async () => {
  const body = copyOfLength(MIB)
  letGo(body)
  await rest()
  assert.equal(body.length, 0)
})

test('where the system gives no pages of their own, or does not take them back, bodies have memory all the same', async (context) => {
  const fail = (): never => {
    throw new RangeError('Invalid array buffer length')
  }
  await rest()
  const kept = copyOfLength(MIB)
  const long = new Uint8Array(2 * MIB).fill(2)
  const refused = context.mock.method(globalThis, 'ArrayBuffer', fail)
  const usual = copyOf(long)
  refused.mock.restore()
  context.mock.method(ArrayBuffer.prototype, 'resize', fail)
  for (const body of [usual, kept]) letGo(body)
  await rest()
  assert.deepEqual([usual.at(-1), kept.at(-1)], [2, 1])
  assert.notEqual(copyOfLength(MIB).buffer, kept.buffer)
})

test('a short copy, and a body in other memory, stay as they are when they are let go', () => {
  for (const body of [copyOfLength(100), Buffer.alloc(MIB, 1)]) {
    hold(body)
    for (let times = 0; times < 3; times++) letGo(body)
    assert.equal(body.at(-1), 1)
  }
})
