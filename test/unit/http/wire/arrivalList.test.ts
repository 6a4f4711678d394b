import assert from 'node:assert/strict'
import test from 'node:test'
import { ArrivalList, type Listed } from '../../../../src/http/wire/arrivalList.js'

class Item implements Listed<Item> {
  before: Item | undefined
  after: Item | undefined
  readonly name: number

  constructor(name: number) {
    this.name = name
  }
}

test('whatever entries leave, in any order, the others stay in order of arrival', () => {
  const items = Array.from({ length: 6 }, (_, name) => new Item(name))
  for (const [leaving, left] of [
    [[0], [1, 2, 3, 4, 5]],
    [[5], [0, 1, 2, 3, 4]],
    [
      [2, 3],
      [0, 1, 4, 5],
    ],
    [
      [4, 0, 5, 1],
      [2, 3],
    ],
    [[5, 4, 3, 2, 1, 0], []],
  ] as const) {
    const list = new ArrivalList<Item>()
    for (const item of items) list.add(item)
    for (const at of leaving) list.remove(items[at]!)
    // An entry that left may come again, after all others.
    list.add(items[leaving[0]]!)
    const names: number[] = []
    for (let item = list.first; item !== undefined; item = item.after) names.push(item.name)
    assert.deepEqual([names, list.size], [[...left, leaving[0]], left.length + 1])
    for (const item of items) {
      item.before = undefined
      item.after = undefined
    }
  }
})
