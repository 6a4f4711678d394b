import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CommandProposer } from '../../support/commandProposer.js'
import { digestTables, openTestShard } from '../../support/testShard.js'

const SEEDS = [1, 2, 3, 4]
const COMMANDS = 60

test('two shards that are given the same commands hold the same bytes, whatever their writers remember', async (context) => {
  const folders = new Map([...SEEDS, 'again'].map((name) => [name, mkdtempSync(join(tmpdir(), 'bds-test-'))]))
  context.after(() => {
    for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const outcomes = new Set<string>()
  for (const seed of SEEDS) {
    const shard = openTestShard(folders.get(seed)!, 1)
    const again = mkdtempSync(join(folders.get('again')!, `${seed}-`))
    const proposer = new CommandProposer(shard, seed)
    for (let count = 0; count < COMMANDS; count++) {
      const command = proposer.next()
      // As another process would read it, into a writer that has only just been opened.
      const copy = structuredClone(command)
      const fresh = openTestShard(again, 1)
      const [outcome, repeated] = [shard.writer.apply(command), fresh.writer.apply(copy)]
      const name = `seed ${seed}, command ${count}: ${command.type}`
      assert.deepEqual(repeated, outcome, name)
      assert.equal(fresh.read(digestTables), shard.read(digestTables), name)
      outcomes.add(outcome.type === 'applied' ? command.type : `refused ${command.type}`)
      await fresh.close()
    }
    await shard.close()
  }
  const every = [
    ...['addPolledGers', 'addSettledRoots', 'applyBlocks', 'correctSenders', 'noteCatchingUp'],
    'noteClaimsCompared',
    ...['noteStartOvers', 'resolveSenders', 'revertTo', 'setFinalized', 'startOver'],
    ...['refused applyBlocks', 'refused resolveSenders', 'refused revertTo'],
  ]
  assert.deepEqual(
    every.filter((name) => !outcomes.has(name)),
    [],
  )
})
