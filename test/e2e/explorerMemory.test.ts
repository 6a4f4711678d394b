import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { skipWithout } from '../support/installedProgram.js'
import { startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { openPage, startBrowser } from './explorerBrowser.js'

/** Each brings ten bridges, and so other rows in all places of the list. */
const ROUNDS_BEFORE = 15
const ROUNDS = Number(process.env.BDS_TEST_ROUNDS ?? 30)
const BRIDGES = 10
/** A row is some forty nodes. */
const MOST_NODES = 400
const MOST_BYTES = 750_000

interface Size {
  readonly Nodes: number
  readonly JSEventListeners: number
  readonly JSHeapUsedSize: number
}

test('a page that has followed hundreds of new bridges is as large as before', {
  skip: skipWithout('chromium'),
}, async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const sender = world.network(1)
  // Its next blocks are the newest of all.
  sender.mineEmpty(60)
  const service = await startService(t, configFile('data'))
  await inStep(service, world)
  const page = await openPage(t, { browser: await startBrowser(t), url: service.url })
  // The page's own seconds go by faster.
  await page.clock.install()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  const sizeNow = async (): Promise<Size> => {
    await devtools.send('HeapProfiler.collectGarbage')
    const { metrics } = await devtools.send('Performance.getMetrics')
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value])) as unknown as Size
  }
  const follow = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      sender.mine((block) => {
        for (let at = 0; at < BRIDGES; at++)
          block.tx().deposit({ destinationNetwork: 2, amount: 5n, forceUpdate: false })
      })
      const row = page.getByRole('link', { name: `1:${sender.deposits().length - 1}`, exact: true })
      for (let tries = 0; (await row.count()) === 0; tries++) {
        assert.ok(tries < 1_000, `no row in round ${round}`)
        await page.clock.fastForward(500)
      }
    }
  }
  await page.goto(`${service.url}/explorer`)
  await page.getByText('Live', { exact: true }).waitFor()
  await follow(ROUNDS_BEFORE)
  const before = await sizeNow()
  await follow(ROUNDS)
  const now = await sizeNow()
  t.diagnostic(
    `${ROUNDS * BRIDGES} bridges later: ${now.Nodes} nodes (${before.Nodes}), ${now.JSEventListeners} listeners (${before.JSEventListeners}), ${Math.round(now.JSHeapUsedSize / 1024)} KiB (${Math.round(before.JSHeapUsedSize / 1024)})`,
  )
  assert.ok(now.Nodes - before.Nodes < MOST_NODES, `${before.Nodes} → ${now.Nodes} nodes`)
  assert.ok(now.JSEventListeners - before.JSEventListeners < MOST_NODES, 'listeners')
  assert.ok(
    now.JSHeapUsedSize - before.JSHeapUsedSize < MOST_BYTES,
    `${before.JSHeapUsedSize} → ${now.JSHeapUsedSize} bytes`,
  )
})
