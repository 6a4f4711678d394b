import { setTimeout as delay } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { buildSmallWorld } from '../test/support/fakeChainScenario.js'
import { installedProgram } from '../test/support/installedProgram.js'
import { startService } from '../test/support/serviceProcess.js'
import { inStep, serveWorld } from '../test/support/serviceWorld.js'
import { tempFolder } from '../test/support/tempFolder.js'
import { runWrk } from './http/drive.js'
import { threadsOf, threadTimes } from './http/threadCpu.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { markdownTable } from './micro/report.js'

/**
 * What open pages of the explorer cost the service: requests of a load that never pauses per second of the service's CPU time, with pages open
 * and without, in turn. Rates themselves tell nothing here, as browsers take the cores that the service wants. While they do, pages ask as often
 * as ever and the load gets less done, so that the pages' part is rather overstated. A bridge is sent every second, which each page follows.
 */
const values = readOptions({
  pages: { type: 'string', default: '10', help: 'browsers with the overview open' },
  rounds: { type: 'string', default: '7', help: 'pairs of measurements' },
  seconds: { type: 'string', default: '5', help: 'length of each' },
  connections: { type: 'string', default: '64', help: 'of the load' },
})

/** A page shows its charts within that. */
const SETTLE_MS = 3_000
const SENT_EVERY_MS = 1_000
const PATHS = [
  '/bridge/v1/bridges?network_id=0&deposit_count=0',
  '/bridge/v1/l1-info-tree-index?network_id=0&deposit_count=0',
  '/bridge/v1/bridges?network_id=0&page_size=20',
]

const cleanups: (() => unknown)[] = []
const cleaner = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
try {
  for (const program of ['chromium', 'wrk'])
    if (installedProgram(program) === undefined) throw new Error(`${program} is not installed`)
  const folder = tempFolder(cleaner)
  const { world, configFile } = await serveWorld(cleaner, buildSmallWorld().world)
  const perSecond = Object.fromEntries(
    world.networkIds.map((id) => [`BDS_NETWORKS__${id}__POLL_INTERVAL_MS`, '1000']),
  )
  const service = await startService(
    cleaner,
    configFile('pages'),
    ['--log-level', 'error', '--http-threads', '1'],
    perSecond,
  )
  await inStep(service, world)
  const sending = setInterval(
    () => world.network(1).mine((block) => block.tx().deposit({ amount: 1n })),
    SENT_EVERY_MS,
  )
  cleaner.after(() => clearInterval(sending))
  const browser = await chromium.launch({
    executablePath: installedProgram('chromium')!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  cleaner.after(() => browser.close())
  const pid = service.child.pid!
  const cpuUs = (): number => threadTimes(pid, threadsOf(pid)).runUs

  /** @returns requests per second of CPU time. */
  const underLoad = async (): Promise<number> => {
    const before = cpuUs()
    const load = { port: Number(new URL(service.url).port), paths: PATHS }
    const { requests } = await runWrk(
      { ...load, connections: Number(values.connections), seconds: Number(values.seconds) },
      folder,
    )
    return (requests * 1e6) / (cpuUs() - before)
  }
  /** @returns CPU time, in parts of a core. */
  const atRest = async (): Promise<number> => {
    const [before, startMs] = [cpuUs(), performance.now()]
    await delay(1_000 * Number(values.seconds))
    return (cpuUs() - before) / (1_000 * (performance.now() - startMs))
  }

  await underLoad()
  const ratios: number[] = []
  const parts: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const isFirst = round % 2 === 0
    const alone = isFirst ? [await underLoad(), await atRest()] : []
    const contexts = await openPages(browser, service.url, Number(values.pages))
    const [rate, part] = [await underLoad(), await atRest()]
    for (const context of contexts) await context.close()
    if (!isFirst) alone.push(await underLoad(), await atRest())
    ratios.push(rate / alone[0]!)
    parts.push(part - alone[1]!)
  }
  const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!
  const range = (all: readonly number[], digits: number): string =>
    `${median(all).toFixed(digits)} (${Math.min(...all).toFixed(digits)} to ${Math.max(...all).toFixed(digits)})`
  console.log(
    [
      `${machineLine()}, ${commitLine()}: ${values.pages} pages, medians of ${values.rounds} pairs of ${values.seconds} s`,
      markdownTable(
        ['', ''],
        [
          ['requests per second of CPU time, with pages ÷ without', range(ratios, 3)],
          ['CPU time of the service for the pages alone, parts of a core', range(parts, 4)],
        ],
      ),
    ].join('\n\n'),
  )
} finally {
  for (const cleanup of cleanups) await cleanup()
}

/** Each in a browser context of its own, with connections of its own. */
async function openPages(browser: Browser, url: string, count: number): Promise<BrowserContext[]> {
  const contexts = await Promise.all(Array.from({ length: count }, () => browser.newContext()))
  for (const context of contexts) {
    const page = await context.newPage()
    await page.goto(`${url}/explorer`)
    await page.locator('#newest ~ .table tbody tr').first().waitFor()
  }
  await delay(SETTLE_MS)
  return contexts
}
