import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { clearStaging, finishPlacing, placeStaged } from '../../../src/snapshot/stagedSet.js'
import { restoreDirectory, restoreMarker, shardDirectory } from '../../../src/store/shardDirectory.js'
import { tempFolder } from '../../support/tempFolder.js'

/** A data folder with an old store of each network; `stage` puts a file with this text beside them. */
function dataFolder(context: TestContext) {
  const dataDir = tempFolder(context)
  const put = (folder: string, networkId: number, text: string): void => {
    mkdirSync(shardDirectory(folder, networkId), { recursive: true })
    writeFileSync(join(shardDirectory(folder, networkId), 'data.mdb'), text)
  }
  const textOf = (networkId: number): string =>
    readFileSync(join(shardDirectory(dataDir, networkId), 'data.mdb'), 'utf8')
  for (const networkId of [0, 1, 2]) put(dataDir, networkId, 'old')
  return {
    dataDir,
    stage: (networkId: number, text: string) => put(restoreDirectory(dataDir), networkId, text),
    texts: () => [0, 1, 2].map(textOf),
    /** Leaves what a process leaves that is killed when it has put a part of the set in: its last store can't be taken out. */
    placeUntilKilled: async (networkIds: readonly number[], stuck: number) => {
      const foreign = join(shardDirectory(dataDir, stuck), 'foreign')
      writeFileSync(foreign, '')
      await assert.rejects(placeStaged(dataDir, networkIds), /holds foreign/)
      rmSync(foreign)
    },
  }
}

test('a placing that was interrupted is finished with the stores of its set alone', async (context) => {
  const { dataDir, stage, texts, placeUntilKilled } = dataFolder(context)
  stage(0, 'never checked')
  stage(1, 'new')
  stage(2, 'new')
  await placeUntilKilled([1, 2], 2)
  assert.equal(await finishPlacing(dataDir), 'finished')
  assert.deepEqual(texts(), ['old', 'new', 'new'])
  assert.equal(existsSync(restoreDirectory(dataDir)), false)
  assert.equal(await finishPlacing(dataDir), 'none')
})

for (const text of ['', '[', '[]', '[0,', '{}'])
  test(`by a marker that holds ${JSON.stringify(text)} no store is placed, and it stays`, async (context) => {
    const { dataDir, stage, texts } = dataFolder(context)
    stage(1, 'never checked')
    writeFileSync(restoreMarker(dataDir), text)
    assert.equal(await finishPlacing(dataDir), 'unnamed')
    assert.deepEqual(texts(), ['old', 'old', 'old'])
    await clearStaging(dataDir)
    assert.equal(existsSync(shardDirectory(restoreDirectory(dataDir), 1)), false)
    assert.ok(existsSync(restoreMarker(dataDir)))
  })

test('what a process has left that was killed while it staged is taken away whole', async (context) => {
  const { dataDir, stage } = dataFolder(context)
  await clearStaging(dataDir)
  stage(0, 'partial')
  writeFileSync(`${restoreMarker(dataDir)}.partial`, '[0')
  await clearStaging(dataDir)
  assert.equal(existsSync(restoreDirectory(dataDir)), false)
})
