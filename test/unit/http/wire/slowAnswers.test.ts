import assert from 'node:assert/strict'
import test from 'node:test'
import { SlowAnswers } from '../../../../src/http/wire/slowAnswers.js'

const MOST = 1_000
const turn = () => new Promise<void>(setImmediate)

class Answer {
  readonly name: string
  readonly startedAtMs: number
  private readonly world: World

  constructor(world: World, name: string, startedAtMs: number) {
    this.world = world
    this.name = name
    this.startedAtMs = startedAtMs
  }

  cut(): void {
    this.world.cut.push(this.name)
    this.world.slow.delete(this)
  }
}

class World {
  readonly cut: string[] = []
  readonly limits: string[] = []
  readonly slow = new SlowAnswers<Answer>((limit) => this.limits.push(limit), MOST)

  add(name: string, body: Uint8Array, startedAtMs = 0): Answer {
    const answer = new Answer(this, name, startedAtMs)
    this.slow.add(answer, body)
    return answer
  }
}

const bytes = (count: number): Uint8Array => new Uint8Array(count)

test('beyond the most bytes the answers whose clients have taken nothing for longest are cut off, as many as it takes', async () => {
  const world = new World()
  const first = world.add('first', bytes(400))
  world.add('second', bytes(300))
  world.add('third', bytes(300))
  await turn()
  assert.deepEqual(world.cut, [])
  world.slow.progress(first)
  world.add('fourth', bytes(500))
  // The connection that is being written to is left alone until then.
  assert.deepEqual(world.cut, [])
  await turn()
  assert.deepEqual(world.cut, ['second', 'third'])
  assert.deepEqual(world.limits, ['memory', 'memory'])
  assert.equal(world.slow.size, 2)
})

test('answers that were taken make room', async () => {
  const world = new World()
  for (let count = 0; count < 10; count++) world.slow.delete(world.add(`taken ${count}`, bytes(900)))
  world.add('last', bytes(900))
  await turn()
  assert.deepEqual([world.cut, world.slow.size], [[], 1])
})

test('a body that many are sent from counts once, and as long as one of them is not done', async () => {
  const world = new World()
  const shared = bytes(600)
  const readers = Array.from({ length: 50 }, (_, at) => world.add(`reader ${at}`, shared))
  const own = world.add('own', bytes(400))
  await turn()
  assert.deepEqual(world.cut, [])
  for (const reader of readers.slice(1)) world.slow.delete(reader)
  world.slow.delete(own)
  world.add('more', bytes(401))
  await turn()
  assert.deepEqual(world.cut, ['reader 0'])
})

test('an answer that is longer than all may hold is sent while it is the only one', async () => {
  const world = new World()
  world.add('long', bytes(5 * MOST))
  await turn()
  assert.deepEqual(world.cut, [])
  world.add('next', bytes(1))
  await turn()
  assert.deepEqual(world.cut, ['long'])
})

test('answers that were ready before a time are cut off, and counted apart', () => {
  const world = new World()
  world.slow.progress(world.add('early', bytes(1), 100))
  world.add('late', bytes(1), 201)
  world.slow.cutBefore(200)
  assert.deepEqual([world.cut, world.limits, world.slow.size], [['early'], ['time'], 1])
})
