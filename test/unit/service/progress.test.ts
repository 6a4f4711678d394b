import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Config } from '../../../src/config/config.types.js'
import { watchProgress } from '../../../src/service/progress.js'

function world() {
  const config = { networks: [{ networkId: 0 }, { networkId: 5 }] } as unknown as Config
  const [lines, faults]: [string[], Error[]] = [[], []]
  const progress = watchProgress({
    config,
    announce: (line) => void lines.push(line),
    fail: (error) => void faults.push(error),
  })
  return { progress, lines, faults }
}

test('each network is announced once when it has caught up, and the last one completes the start', async () => {
  const { progress, lines } = world()
  let isDone = false
  void progress.caughtUp.then(() => {
    isDone = true
  })
  progress.onMessage({ type: 'caughtUp', networkId: 5, block: 70 })
  progress.onMessage({ type: 'caughtUp', networkId: 5, block: 90 })
  await new Promise(setImmediate)
  assert.equal(isDone, false)
  progress.onMessage({ type: 'caughtUp', networkId: 0, block: 30 })
  await progress.caughtUp
  assert.deepEqual(lines, ['network 5 has caught up at block 70', 'network 0 has caught up at block 30'])
})

test('a wrong chain or contract is announced and waited for, since an endpoint may be the cause', () => {
  const { progress, lines, faults } = world()
  const halted = { type: 'halted', networkId: 5 } as const
  progress.onMessage({ ...halted, reason: 'wrong_chain', message: 'chain id 7 instead of 8' })
  progress.onMessage({ ...halted, reason: 'wrong_contract', message: 'no contract' })
  assert.deepEqual(lines, ['network 5 waits: chain id 7 instead of 8', 'network 5 waits: no contract'])
  assert.deepEqual(faults, [])
})

test('a network that halts because of its data keeps the process running, and a thread that died ends it', () => {
  const { progress, faults } = world()
  progress.onMessage({ type: 'halted', networkId: 0, reason: 'missing_log', message: 'no log' })
  assert.deepEqual(faults, [])
  progress.onMessage({ type: 'died', networkId: 5, message: 'out of memory' })
  assert.deepEqual(
    faults.map(({ message }) => message),
    ['the indexer of network 5 ended: out of memory'],
  )
})
