import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { haltReasons } from '../../src/board/haltReason.js'
import { tables } from '../../src/store/layout/tables.js'
import { readRoomPlan } from './importRules.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** Path from `src/` on → text. */
const sources = new Map(
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [`src/${file}`, readFileSync(join(root, 'src', file), 'utf8')]),
)

/** The names between backticks in a column (counted from 1) of the first table of a section, from top to bottom. */
function namesOf(heading: string, column: number): string[] {
  const lines = page.slice(page.indexOf(`\n## ${heading}\n`)).split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  const end = lines.findIndex((line, i) => i > first && !line.startsWith('|'))
  return lines
    .slice(first + 2, end)
    .flatMap((line) => [...line.split('|')[column]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))
}

test('docs/architecture.md lists exactly the rooms of src/, each above all that it imports', () => {
  const rooms = namesOf('Rooms', 1)
  assert.deepEqual(rooms.toSorted(), readdirSync(join(root, 'src')).toSorted())
  const top = (room: string): string => room.split('/')[0]!
  const plan = readRoomPlan(readFileSync(join(root, 'docs/rooms.md'), 'utf8'))
  for (const [room, others] of plan)
    for (const other of others)
      assert.ok(rooms.indexOf(top(room)) <= rooms.indexOf(top(other)), `${room} imports ${other}`)
})

test('docs/architecture.md lists exactly the tables of the store, in their order on disk', () => {
  assert.deepEqual(namesOf('Tables of the store', 1), Object.keys(tables))
})

test('docs/architecture.md lists exactly the thread entries', () => {
  const isEntry = (file: string): boolean => file.endsWith('.worker.ts')
  assert.deepEqual(
    namesOf('Threads', 2).filter(isEntry).toSorted(),
    [...sources.keys()].filter(isEntry).toSorted(),
  )
})

/** Classes whose only purpose is to keep what was read or made. */
const CACHES = [
  'AnswerCache',
  'ArenaSlots',
  'BoundedCache',
  'ChunkReader',
  'EdgeCache',
  'FilteredSets',
  'KeptTexts',
  'KeptTiles',
  'ListMirrors',
  'ProvenTiles',
  'SlotCache',
]

test('docs/architecture.md describes every cache with the file that holds it, or with the file of its class', () => {
  const section = page.slice(page.indexOf('\n## Memos and caches\n'), page.indexOf('\n## Where do I find\n'))
  for (const name of CACHES) {
    const holders = [...sources].filter(([, text]) => text.includes(`new ${name}`)).map(([file]) => file)
    assert.ok(holders.length > 0, `nothing makes a ${name} any more`)
    const own = [...sources].find(([, text]) => text.includes(`export class ${name}`))![0]
    // A class for general use is not named by its own file but by the files that use it.
    const isGeneral = own.startsWith('src/shard/sets/')
    for (const holder of holders)
      assert.ok(
        section.includes(`\`${holder}\``) || (!isGeneral && section.includes(`\`${own}\``)),
        `${name} of ${holder} is not told`,
      )
  }
})

test('docs/architecture.md says where each halt comes from', () => {
  const section = page.slice(page.indexOf('\n### Where a halt comes from\n'))
  const told = new Set<string>()
  for (const [, reasons, places] of section.matchAll(/^\| (`.+?`) \| (.+) \|$/gm))
    for (const [, reason] of reasons!.matchAll(/`([a-z0-9_]+)`/g)) {
      told.add(reason!)
      const files = [...places!.matchAll(/`(src\/[^`]+)`/g)].map(([, file]) => file!)
      for (const file of files) assert.ok(sources.get(file)!.includes(`'${reason}'`), `${reason} in ${file}`)
    }
  assert.deepEqual([...told].sort(), haltReasons.filter((reason) => reason !== 'none').toSorted())
})

test('only an indexer thread or one of a cluster, for its own network, and `bds rewind` open a shard for writing', () => {
  const openers = [...sources]
    .filter(([, text]) => /(?<!function )openShardWriter\(/.test(text))
    .map(([file]) => file)
  assert.deepEqual(openers.sort(), [
    'src/cli/stores/rewindVerb.ts',
    'src/indexer/thread/indexerThread.ts',
    'src/member/memberThread.ts',
  ])
})

test('a shard is changed through `applyCommand` alone, but for its schema', () => {
  const doors = [...sources]
    .filter(([file, text]) => !file.startsWith('src/store/') && /\.transact\(/.test(text))
    .map(([file]) => file)
  assert.deepEqual(doors.sort(), ['src/shard/upgrade/upgradeShard.ts', 'src/shard/write/applyCommand.ts'])
})

test('nobody drops the outcome of a command', () => {
  const dropped = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/^\s*(?:await )?[\w.#]*\bwriter\.apply\(.*$/gim)].map(
      ([line]) => `${file}: ${line.trim()}`,
    ),
  )
  assert.deepEqual(dropped, [])
})
