import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { restoreDirectory, restoreMarker } from '../../../src/store/shardDirectory.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { digestsOfShards } from '../../support/testShard.js'
import { storeSmallWorld } from './storedWorld.js'

const dataDirOf = (configFile: string) => configFile.replace(/\.toml$/, '')
const killedAtStep = fileURLToPath(new URL('../processes/killedAtStep.js', import.meta.url))

/** A data folder with stores that are newer than those of a backup, on every network. */
async function olderBackup(context: TestContext) {
  const { world, configFile } = await serveWorld(context, buildSmallWorld().world)
  const file = configFile('data')
  const dataDir = dataDirOf(file)
  await storeSmallWorld(file)
  const from = join(dirname(file), 'backup')
  const run = async (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const { exited, stderr } = startBds(context, [...args, '--config', file], environment)
    return { ...(await exited), stderr: stderr.join('\n') }
  }
  assert.equal((await run(['backup', '--to', from])).code, 0)
  const backedUp = await digestsOfShards(dataDir)
  for (const networkId of world.networkIds)
    world
      .network(networkId)
      .mine((block) => block.tx().deposit({ destinationNetwork: networkId === 0 ? 1 : 0 }))
  const service = await startService(context, file)
  await inStep(service, world)
  await service.kill('SIGTERM')
  const newer = await digestsOfShards(dataDir)
  for (const name of Object.keys(newer)) assert.notEqual(newer[name], backedUp[name], `network ${name}`)
  const kept = `${dataDir}.kept`
  cpSync(dataDir, kept, { recursive: true })
  const reset = () => {
    rmSync(dataDir, { recursive: true })
    cpSync(kept, dataDir, { recursive: true })
  }
  const restore = ['restore', '--from', from, '--offline']
  return { dataDir, file, run, restore, reset, backedUp, newer }
}

test('a restore that is killed before any of its steps leaves no mixture, and another one finishes it', async (t) => {
  const { dataDir, run, restore, reset, backedUp, newer } = await olderBackup(t)
  let half = 0
  for (let step = 1; ; step++) {
    reset()
    const environment = { NODE_OPTIONS: `--import ${killedAtStep}`, KILL_BEFORE: String(step) }
    const { code, signal } = await run([...restore, '--replace'], environment)
    const found = await digestsOfShards(dataDir)
    if (signal !== 'SIGKILL') {
      assert.deepEqual([code, found], [0, backedUp])
      break
    }
    if (!existsSync(restoreMarker(dataDir))) {
      // Before the marker has its name, and behind the last but the removal of the empty folder.
      assert.deepEqual(found, step <= 2 ? newer : backedUp, `step ${step}`)
      continue
    }
    half++
    for (const [name, digest] of Object.entries(found)) {
      assert.ok(digest === newer[name] || digest === backedUp[name], `network ${name} at step ${step}`)
      if (found['0'] === backedUp['0'])
        assert.equal(digest, backedUp[name], `network ${name} at step ${step}`)
    }
    // Each start of the program takes time: what follows is tried at every fifth step.
    if (half % 5 !== 0) continue
    const { code: refused, stderr } = await run(['run'])
    assert.equal(refused, 4)
    assert.match(stderr, /^bds: a restore into \S+ was not finished: run `bds restore` again$/m)
    // Leave to replace was given before.
    assert.equal((await run(restore)).code, 0, `step ${step}`)
    assert.deepEqual(await digestsOfShards(dataDir), backedUp)
    assert.equal(existsSync(restoreDirectory(dataDir)), false)
  }
  assert.ok(half >= 12, `${half} half-done states were seen`)
})

test('a restore that is killed at any time leaves the old stores, or what only another restore goes on with', async (t) => {
  const { dataDir, file, restore, reset, run, backedUp, newer } = await olderBackup(t)
  for (let round = 0; round < 3; round++) {
    reset()
    const running = startBds(t, [...restore, '--replace', '--config', file])
    void delay(randomInt(1_500)).then(() => running.child.kill('SIGKILL'))
    await running.exited
    const isHalf = existsSync(restoreMarker(dataDir))
    const found = JSON.stringify(await digestsOfShards(dataDir))
    assert.ok(isHalf || found === JSON.stringify(newer) || found === JSON.stringify(backedUp))
    assert.equal((await run([...restore, ...(isHalf ? [] : ['--replace'])])).code, 0)
    assert.deepEqual(await digestsOfShards(dataDir), backedUp)
  }
})
