import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createLineOutput, LineOutput } from '../../src/telemetry/lineOutput.js'
import { tempFolder } from '../support/tempFolder.js'

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** A pipe whose reader reads only when the test asks. */
function pipe(t: TestContext) {
  const path = join(tempFolder(t), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, O_RDONLY | O_NONBLOCK)
  const writer = openSync(path, O_WRONLY | O_NONBLOCK)
  t.after(() => {
    closeSync(reader)
    closeSync(writer)
  })
  const buffer = Buffer.alloc(1 << 20)
  const read = (): string => {
    try {
      return buffer.toString('latin1', 0, readSync(reader, buffer))
    } catch {
      return ''
    }
  }
  return { writer, read }
}

/** Reads and drains until no line waits. */
function readAll(output: LineOutput, read: () => string): string {
  let text = ''
  for (;;) {
    const isDone = output.drain()
    const part = read()
    text += part
    if (isDone && part === '') return text
  }
}

const line = (number: number, length = 200): string => `${number} ${'x'.repeat(length)}\n`
const numbersOf = (text: string): number[] =>
  text
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => Number(each.match(/^(\d+) x+$/)?.[1] ?? assert.fail(`not a whole line: ${each}`)))

test('a line is written at once', (t) => {
  const { writer, read } = pipe(t)
  const output = new LineOutput(createLineOutput(writer))
  output.write('a\n')
  assert.equal(read(), 'a\n')
})

test('lines that the reader leaves for a while are written later, whole and in order', (t) => {
  const { writer, read } = pipe(t)
  const output = new LineOutput(createLineOutput(writer))
  // Long lines: a pipe takes a part of a line of more than 4 KB.
  for (let number = 0; number < 8; number++) output.write(line(number, 9_000))
  const numbers = numbersOf(readAll(output, read))
  assert.deepEqual(
    numbers,
    Array.from({ length: 8 }, (_, number) => number),
  )
  assert.equal(output.dropped(), 0)
})

test('a line that is longer than a pipe comes whole', (t) => {
  const { writer, read } = pipe(t)
  const output = new LineOutput(createLineOutput(writer))
  output.write(line(1, 100_000))
  output.write(line(2, 100))
  assert.deepEqual(numbersOf(readAll(output, read)), [1])
  assert.equal(output.dropped(), 1)
})

test('waiting lines are bounded: later lines are dropped, counted, and reported once when lines are taken again', (t) => {
  const { writer, read } = pipe(t)
  const output = new LineOutput(createLineOutput(writer))
  output.reportLossesWith((lines) => `lost ${lines}\n`)
  for (let number = 0; number < 20_000; number++) output.write(line(number))
  const dropped = output.dropped()
  assert.ok(dropped > 18_000, String(dropped))
  output.write(line(20_000))
  const [kept, lost] = readAll(output, read).split('lost ')
  assert.deepEqual(
    numbersOf(kept!),
    Array.from({ length: 20_000 - dropped }, (_, number) => number),
  )
  assert.equal(lost, `${dropped + 1}\n`)
  output.write('well\n')
  assert.equal(read(), 'well\n')
  assert.equal(output.dropped(), dropped + 1)
})

test('a full disk or a closed reader does not end the process, and is reported when writing works again', (t) => {
  const full = openSync('/dev/full', O_WRONLY)
  t.after(() => closeSync(full))
  const { writer, read } = pipe(t)
  const output = new LineOutput(createLineOutput(full))
  output.reportLossesWith((lines) => `lost ${lines}\n`)
  for (let number = 0; number < 10_000; number++) output.write(line(number))
  const dropped = output.dropped()
  assert.ok(dropped > 9_800 && dropped < 10_000, String(dropped))
  assert.equal(output.flush(20), false)
  output.useDescriptor(writer)
  const text = readAll(output, read)
  assert.match(text, new RegExp(`\nlost ${dropped}\n$`))
})

test('a closed descriptor takes no line and does not end the process', () => {
  const output = new LineOutput(createLineOutput(-1))
  output.write('a\n')
  assert.equal(output.drain(), false)
})

test('lines of several threads are not mixed, however slowly they are read', async (t) => {
  const { writer, read } = pipe(t)
  const memory = createLineOutput(writer)
  const output = new LineOutput(memory)
  const file = join(tempFolder(t), 'writer.mjs')
  const module = new URL('../../src/telemetry/lineOutput.js', import.meta.url).href
  writeFileSync(
    file,
    `import { workerData } from 'node:worker_threads'
     const { LineOutput } = await import(${JSON.stringify(module)})
     const output = new LineOutput(workerData.memory)
     for (let number = 0; number < 10; number++)
       output.write((workerData.first + number) + ' ' + 'x'.repeat(5_000) + '\\n')`,
  )
  let running = 3
  for (const first of [100, 200, 300])
    new Worker(file, { workerData: { memory, first } }).once('exit', () => running--)
  let text = ''
  while (running > 0) {
    await new Promise((resolve) => setImmediate(resolve))
    text += read()
  }
  const numbers = numbersOf(text + readAll(output, read))
  assert.equal(numbers.length, 30 - output.dropped())
  for (const first of [100, 200, 300]) {
    const own = numbers.filter((number) => number >= first && number < first + 100)
    assert.deepEqual(
      own,
      own.toSorted((a, b) => a - b),
    )
  }
})

test('threads that write to a file at the same moment lose no line', async (t) => {
  const folder = tempFolder(t)
  const path = join(folder, 'lines')
  const descriptor = openSync(path, 'w')
  t.after(() => closeSync(descriptor))
  const memory = createLineOutput(descriptor)
  const file = join(folder, 'writer.mjs')
  const module = new URL('../../src/telemetry/lineOutput.js', import.meta.url).href
  writeFileSync(
    file,
    `import { workerData } from 'node:worker_threads'
     const { LineOutput } = await import(${JSON.stringify(module)})
     const output = new LineOutput(workerData.memory)
     for (let number = 0; number < 3_000; number++)
       output.write((workerData.first + number) + ' ' + 'x'.repeat(200) + '\\n')`,
  )
  const threads = [10_000, 20_000, 30_000, 40_000].map(
    (first) => new Worker(file, { workerData: { memory, first } }),
  )
  await Promise.all(threads.map((thread) => once(thread, 'exit')))
  assert.equal(new LineOutput(memory).dropped(), 0)
  assert.equal(numbersOf(readFileSync(path, 'latin1')).length, 12_000)
})
