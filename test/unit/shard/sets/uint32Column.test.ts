import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Uint32Column } from '../../../../src/shard/sets/uint32Column.js'

const value = fc.nat({ max: 12 })
const step = fc.oneof(
  fc.record({ type: fc.constant('push' as const), value }),
  fc.record({ type: fc.constant('truncate' as const), value }),
  fc.record({ type: fc.constant('insert' as const), value }),
  fc.record({ type: fc.constant('ask' as const), value, end: fc.option(fc.nat({ max: 20 })) }),
)

test('the first position above a value is that of a linear search, however the column changed since the last call', () => {
  let asked = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const column = new Uint32Column()
      let model: number[] = []
      for (const action of steps) {
        if (action.type === 'push') {
          const next = (model.at(-1) ?? 0) + (action.value % 3)
          column.push(next)
          model.push(next)
        } else if (action.type === 'truncate') {
          const length = Math.min(model.length, action.value)
          column.truncate(length)
          model = model.slice(0, length)
        } else if (action.type === 'insert') {
          const found = model.findIndex((one) => one > action.value)
          const position = found < 0 ? model.length : found
          column.insert(position, action.value)
          model.splice(position, 0, action.value)
        } else {
          const end = Math.min(action.end ?? model.length, model.length)
          const found = model.slice(0, end).findIndex((one) => one > action.value)
          assert.equal(column.firstAbove(action.value, end), found < 0 ? end : found)
          asked++
        }
      }
    }),
    { numRuns: 500 },
  )
  assert.ok(asked > 500)
})
