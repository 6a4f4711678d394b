import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../test', import.meta.url))

test('no file waits for anything between the tests that it names: its `after` would be called meanwhile', () => {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  assert.ok(files.length > 300, `only ${files.length} files`)
  assert.deepEqual(
    files.flatMap((file) =>
      waitsBetweenTests(readFileSync(file, 'utf8')).map((line) => `${relative(root, file)}: ${line}`),
    ),
    [],
  )
})

test('negative control: a wait in a loop of tests, and one behind a test, are reported, and those of functions are not', () => {
  const inLoop = "for (const each of all) {\n  const world = await start(each)\n\n  test('one', () => {})\n}"
  assert.deepEqual(waitsBetweenTests(inLoop), ['const world = await start(each)'])
  const behind = "test('one', async () => {\n  await run()\n})\nawait start()\ntest('two', () => {})"
  assert.deepEqual(waitsBetweenTests(behind), ['await start()'])
  const head = "test('one', () => {})\nfor (const each of await all()) {\n  test('two', () => {})\n}"
  assert.deepEqual(waitsBetweenTests(head), ['for (const each of await all()) {'])
  const allowed = [
    "for (const each of await all()) {\n  test('one', async () => {\n    await run()\n  })\n}",
    "test('one', () => {})\n\nasync function run() {\n  await start()\n}",
  ]
  for (const source of allowed) assert.deepEqual(waitsBetweenTests(source), [])
})

/** Lines of a file that wait while it has named some of its tests: at its top, or in a loop there. The sources are formatted. */
function waitsBetweenTests(source: string): string[] {
  const waits: string[] = []
  let hasTest = false
  let waitsOfLoop: string[] | undefined
  for (const line of source.split('\n')) {
    const isInLoop = waitsOfLoop !== undefined && /^ {2}\S/.test(line)
    const isAtTop = /^\S/.test(line)
    if (!isInLoop && !isAtTop) continue
    const isTest = /^\s*test\(/.test(line)
    const isWait = /\bawait\b/.test(line) && !isTest && !/^(async )?function|^\s*\/[/*]/.test(line)
    if (isInLoop && isWait) waitsOfLoop!.push(line.trim())
    if (isAtTop && isWait && hasTest) waits.push(line)
    hasTest ||= isTest
    if (isInLoop && isTest) waits.push(...waitsOfLoop!.splice(0))
    if (isAtTop) waitsOfLoop = /^for \(/.test(line) ? [] : undefined
  }
  return waits
}
