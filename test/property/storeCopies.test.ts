import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { uint32Key } from '../../src/store/layout/keys.js'
import type { TableName } from '../../src/store/layout/tables.js'
import { openShardStoreReader, openShardStoreWriter } from '../../src/store/shardStore.js'
import type { ReadView, ShardStoreWriter } from '../../src/store/shardStore.types.js'
import { pageUseOf } from '../support/lmdbPages.js'
import { tempFolder } from '../support/tempFolder.js'
import { TestNumbers } from '../support/testNumbers.js'
import { digestTables } from '../support/testShard.js'

const TABLES = ['deposits', 'feed', 'metadata', 'undo'] as const
const KEYS = 2_000
const ALL = { start: new Uint8Array(1), end: Buffer.alloc(8, 0xff) }

/** What the tables should have, by table and key. */
type Model = Map<TableName, Map<number, Uint8Array>>

function modelOf(view: ReadView): Model {
  return new Map(
    TABLES.map((table) => [
      table,
      new Map(view.list(table, ALL).map(({ key, value }) => [Buffer.from(key).readUInt32BE(), value])),
    ]),
  )
}

function sorted(model: Model): [TableName, number, string][] {
  return [...model].flatMap(([table, rows]) =>
    [...rows]
      .sort(([one], [other]) => one - other)
      .map(([key, value]): [TableName, number, string] => [table, key, Buffer.from(value).toString('hex')]),
  )
}

/** Puts, replaces, removes and clears, with rows of a few bytes and values that need pages of their own. */
function change(store: ShardStoreWriter, numbers: TestNumbers, model?: Model): void {
  store.transact((view) => {
    const table = numbers.pick(TABLES)
    const rows = model?.get(table)
    if (numbers.chance(0.1)) {
      view.clear(table)
      rows?.clear()
    }
    const isLong = numbers.chance(0.1)
    const length = isLong ? 20_000 : numbers.below(200)
    const count = isLong ? 10 : numbers.pick([50, 50, 50, 1_000])
    const isRemoved = numbers.chance(0.3)
    const first = numbers.below(KEYS)
    for (let at = 0; at < count; at++) {
      const number = (first + at * 7) % KEYS
      const value = Buffer.alloc(length, at)
      if (isRemoved) view.remove(table, uint32Key(number))
      else view.put(table, uint32Key(number), value)
      if (isRemoved) rows?.delete(number)
      else rows?.set(number, value)
    }
  })
}

for (const seed of [1, 2, 3])
  test(`a copy made beside a writer is a state that was committed, and takes changes for long: no page has two uses or none (seed ${seed})`, async (context) => {
    const numbers = new TestNumbers(seed)
    const directory = join(tempFolder(context), '1')
    const source = openShardStoreWriter(directory)
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 40; count++) change(source, numbers)
      const states = [digestTables(source)]
      const folder = join(tempFolder(context), '1')
      mkdirSync(folder)
      const reader = openShardStoreReader(directory)
      // LMDB copies in a thread of its own.
      const copying = reader.copyTo(folder)
      for (let count = 0; count < 8; count++) {
        change(source, numbers)
        states.push(digestTables(source))
      }
      await copying
      await reader.close()
      const path = join(folder, 'data.mdb')
      const { free, faults } = pageUseOf(path)
      assert.deepEqual([free, faults], [0, []])
      const copy = openShardStoreWriter(folder)
      assert.ok(states.includes(digestTables(copy)), 'one of the states')
      const model = modelOf(copy)
      for (let count = 0; count < 60; count++) change(copy, numbers, model)
      assert.deepEqual(sorted(modelOf(copy)), sorted(model))
      await copy.close()
      assert.deepEqual(pageUseOf(path).faults, [])
    }
    await source.close()
    assert.deepEqual(pageUseOf(join(directory, 'data.mdb')).faults, [])
  })
