import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Config } from '../../../src/config/config.types.js'
import type { RenewalMessage } from '../../../src/member/instanceThread.js'
import { RenewableService } from '../../../src/service/renewableService.js'
import type { RunningService } from '../../../src/service/service.types.js'
import { restoreDirectory, restoreMarker, shardDirectory } from '../../../src/store/shardDirectory.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

function putStore(folder: string, networkId: number): void {
  mkdirSync(shardDirectory(folder, networkId), { recursive: true })
  writeFileSync(join(shardDirectory(folder, networkId), 'data.mdb'), 'a store')
}

/** The job of instance `own`, with services that do nothing; the stores of all of them stand at 7 of their logs. */
async function startJob(context: TestContext, beforeStart: (dataDir: string) => void = () => undefined) {
  const alone = loadedConfig(tempFolder(context))
  const config = { ...alone, cluster: { instance: 'own' } } as unknown as Config
  for (const networkId of [0, 1]) putStore(config.dataDir, networkId)
  beforeStart(config.dataDir)
  const started: { config: Config; renew: (message: RenewalMessage) => void }[] = []
  let onStart: () => void = () => undefined
  const options = {
    config,
    logger: createKeepingLogger().logger,
    announce: () => undefined,
    attach: () => undefined,
    inForce: () => config,
    startService: async ({ config: wanted }: { config: Config }) => {
      const { promise, resolve } = withResolvers<RenewalMessage>()
      started.push({ config: wanted, renew: resolve })
      onStart()
      return {
        url: 'http://127.0.0.1:1',
        opsUrl: 'http://127.0.0.1:2',
        failed: new Promise(() => undefined),
        renewal: promise,
        logSequence: () => 7,
        stop: async () => undefined,
      } as unknown as RunningService
    },
  }
  const job = await RenewableService.start(options)
  return {
    /** @returns up to where network 1 may tell a wrong mark, for the service that is started with the new store. */
    renew: async (message: Omit<RenewalMessage, 'type' | 'networkIds' | 'isStaged'>) => {
      putStore(restoreDirectory(config.dataDir), 1)
      const { promise, resolve } = withResolvers<void>()
      onStart = resolve
      started.at(-1)!.renew({ type: 'renewal', networkIds: [1], isStaged: true, ...message })
      await Promise.race([
        promise,
        job.failed.then((error) => {
          throw error
        }),
      ])
      const renewed = started.at(-1)!.config.cluster?.renewed?.[1]
      assert.ok(renewed!.atUnixMs > 0)
      return renewed!.sequence
    },
  }
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

test('only a store that replaces one that differed from its log, and that another instance made, may tell that a mark is wrong', async (context) => {
  const { renew } = await startJob(context)
  assert.equal(await renew({ diverged: [], maker: 'a' }), undefined, 'another fault')
  assert.equal(await renew({ diverged: [1], maker: 'own' }), undefined, 'of its own stores')
  assert.equal(await renew({ diverged: [1], maker: 'a' }), 7)
  assert.equal(await renew({ diverged: [1], maker: 'a' }), undefined, 'of the same maker as the old one')
  assert.equal(await renew({ diverged: [1], maker: 'b' }), 7)
  assert.equal(await renew({ diverged: [1] }), 7, 'of the log')
  assert.equal(await renew({ diverged: [0], maker: 'c' }), undefined, 'another network differed')
})

test('a cluster member does not start with a placing that nobody can go on with', async (context) => {
  const beforeStart = (dataDir: string): void => {
    putStore(restoreDirectory(dataDir), 1)
    writeFileSync(restoreMarker(dataDir), '')
  }
  await assert.rejects(startJob(context, beforeStart), {
    name: 'FatalError',
    message: /^a restore into \S+ was not finished, [^\n]*run `bds restore` again[^\n]*$/,
  })
})
