import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findByPrefix, findRootAtBlockEnd } from '../../../src/shard/snapshot/hashRuns.js'
import { HashRunAppender, truncateEntries } from '../../../src/shard/write/hashRunAppender.js'
import { hashKinds } from '../../../src/store/layout/tables.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { tempFolder } from '../../support/tempFolder.js'

/** A hash from a small range: some share their first word with others, some both words. */
const hashOf = (id: number): Uint8Array => {
  const hash = Buffer.alloc(32)
  hash.writeUInt32LE(Math.imul(id % 40, 0x9e3779b1) >>> 0, 0)
  hash.writeUInt32LE(id % 3, 4)
  hash.writeUInt32LE(id, 28)
  return hash
}
const prefixOf = (id: number): string => Buffer.from(hashOf(id).subarray(0, 8)).toString('hex')

const actions = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 700 }) }) },
    { weight: 1, arbitrary: fc.record({ cut: fc.double({ min: 0, max: 1, noNaN: true }) }) },
    { weight: 2, arbitrary: fc.record({ revert: fc.constant(true) }) },
  ),
  { minLength: 1, maxLength: 10 },
)

test('hash runs find the same rows as a plain map, after merges, cuts and reverts', (context) => {
  let runs = 0
  fc.assert(
    fc.property(actions, fc.infiniteStream(fc.integer({ min: 0, max: 400 })), (steps, ids) => {
      const store = openShardStoreWriter(tempFolder(context))
      let rows: number[] = []
      const history: number[][] = [[]]
      for (const step of steps) {
        if ('revert' in step) {
          if (history.length < 2) continue
          history.pop()
          rows = [...history.at(-1)!]
          store.transact((view) => view.undoAbove(history.length - 1))
          continue
        }
        store.transact((view) => {
          view.setUndoBlock(history.length)
          if ('add' in step) {
            const appender = new HashRunAppender(view)
            for (let added = 0; added < step.add; added++) {
              const id = ids.next().value as number
              appender.append(hashKinds.depositsByTransaction, hashOf(id), 0, rows.length)
              appender.append(hashKinds.localExitRoots, hashOf(id), 0, history.length, rows.length)
              rows.push(id)
            }
            appender.flush()
          } else {
            const kept = Math.floor(rows.length * step.cut)
            for (const id of rows.slice(kept))
              truncateEntries(view, hashKinds.depositsByTransaction, hashOf(id), kept)
            rows = rows.slice(0, kept)
          }
          view.setUndoBlock(undefined)
        })
        history.push([...rows])
      }
      for (let id = 0; id <= 400; id++) {
        const expected = rows.flatMap((row, ordinal) => (prefixOf(row) === prefixOf(id) ? [ordinal] : []))
        assert.deepEqual(
          findByPrefix(store, hashKinds.depositsByTransaction, hashOf(id)),
          expected,
          `id ${id}`,
        )
        const last = rows.lastIndexOf(id)
        // Cuts do not remove exit roots, so an older entry may be newer than the remaining deposits.
        if (last >= 0) assert.ok(findRootAtBlockEnd(store, hashOf(id))!.leafCount >= last, `id ${id}`)
      }
      runs++
      void store.close()
    }),
    { numRuns: 12 },
  )
  assert.equal(runs, 12)
})
