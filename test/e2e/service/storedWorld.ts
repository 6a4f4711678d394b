import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'

let stored: Promise<string> | undefined

/** Runs a service on the small world until it is in step. @returns a copy of its data folder, kept until the process ends. */
async function indexOnce(): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'bds-test-'))
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
  const cleanups: (() => void | Promise<void>)[] = []
  // Not the test's own context: others copy the folder after it.
  const context = { after: (cleanup: () => void | Promise<void>) => void cleanups.unshift(cleanup) }
  try {
    const { world, configFile } = await serveWorld(context, buildSmallWorld().world)
    const file = configFile('data')
    const service = await startService(context, file)
    await inStep(service, world)
    await service.kill('SIGTERM')
    cpSync(dataFolderOf(file), copy, { recursive: true })
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
  return copy
}

/**
 * Puts what a service stores of the small world into the data folder of `configFile`. It is indexed once per test file: the
 * world is the same each time it is built.
 */
export async function storeSmallWorld(configFile: string): Promise<void> {
  stored ??= indexOnce()
  cpSync(await stored, dataFolderOf(configFile), { recursive: true })
}

function dataFolderOf(configFile: string): string {
  return configFile.replace(/\.toml$/, '')
}
