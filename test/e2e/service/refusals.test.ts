import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { assertRefused } from '../../support/refusals.js'
import { serveWorld } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'

test('a data folder that can not be used is refused in one line with exit code 4, and so is a limit that is too low', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const dataDir = join(tempFolder(t), 'file')
  writeFileSync(dataDir, '')
  await assertRefused(t, file, {
    what: 'a file in its place',
    dataDir,
    told: /\/file can't be used: .*\/file is a file$/,
  })
  await assertRefused(t, file, {
    what: 'open files',
    dataDir: tempFolder(t),
    launcher: ['bash', '-c', 'ulimit -n 96; exec "$@"', 'sh'],
    told: /^bds: a limit of this process is too low: open files: soft 96, hard 96 /,
  })
})
