import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { bridgeAsset } from '../../src/devnet/actions.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { sendClaim } from '../../src/devnet/sendClaim.js'
import { cutExitTree } from '../../src/devnet/sovereignActions.js'
import { skipWithout } from '../support/installedProgram.js'
import { until } from '../support/until.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'
import { type EventProxy, eventProxy } from './eventProxy.js'
import { openPage, startBrowser } from './explorerBrowser.js'

interface Live {
  readonly devnet: Devnet
  readonly service: DevnetService
  readonly browser: Browser
}

/** A devnet that does nothing by itself, its service and a browser: one for all tests here. */
async function startLive(): Promise<Live> {
  const devnet = await testDevnet({ after })
  await playScenario(devnet)
  const service = await serviceOn({ after }, devnet)
  await service.inStepAndFinal()
  return { devnet, service, browser: await startBrowser({ after }) }
}

const options = { skip: skipWithout('chromium') }
const running = options.skip === false ? startLive() : new Promise<never>(() => undefined)
// Each test that awaits it tells why it failed.
running.catch(() => undefined)

/** Sends from network 1. @returns the number of the bridge, as lists show it. */
async function sendOne({ devnet, service }: Live): Promise<string> {
  const { alice, bob } = devnet.accounts
  const count = (await service.api.listBridges({ network_id: 1, page_size: 1 }))[0]!.deposit_count + 1
  const step = { from: alice, destinationNetwork: 2, destinationAddress: bob, amount: 7n, forced: true }
  await bridgeAsset(devnet.chains[1]!, step)
  return `1:${count}`
}

function rowOf(page: Page, bridge: string) {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: bridge, exact: true }) })
}

/** A list of network 1, which gets events through a proxy. */
async function openList(
  t: TestContext,
  live: Live,
): Promise<{ readonly page: Page; readonly proxy: EventProxy }> {
  const proxy = await eventProxy(t, live.service.process.url)
  const page = await openPage(t, { browser: live.browser, url: proxy.url })
  return { page, proxy }
}

async function showList(page: Page, { url }: EventProxy, link: string): Promise<void> {
  await page.goto(`${url}/explorer/bridges?network=1`)
  await page.locator('tbody tr').first().waitFor()
  await page.getByText(link, { exact: true }).waitFor()
}

test(
  'by events alone, while the sync status tells no news, a bridge appears and a row turns claimed, and nothing in it moves',
  options,
  async (t) => {
    const live = await running
    const { devnet, service } = live
    const { page, proxy } = await openList(t, live)
    // The page looks at it beside events: it must not be what brings the rows.
    const sync = await (await fetch(`${service.process.url}/bridge/v1/sync-status`)).text()
    await page.route('**/bridge/v1/sync-status', (route) =>
      route.fulfill({ contentType: 'application/json', body: sync }),
    )
    await showList(page, proxy, 'Live')
    assert.deepEqual(
      proxy.asked.map(({ after }) => after?.replace(/\.\w+:\d+/g, '')),
      ['0,1,2'],
    )
    const bridges = await service.allBridges()
    const ready = bridges.find((bridge) => bridge.origin_network === 1 && bridge.ready_for_claim)
    assert.ok(ready !== undefined)
    const row = rowOf(page, `1:${ready.deposit_count}`)
    await row.getByText('Ready to claim').waitFor()
    const places = (): Promise<unknown> =>
      page.evaluate(
        `[...document.querySelectorAll('th, tr')].map((cell) => JSON.stringify(cell.getBoundingClientRect()))`,
      )
    const before = await places()
    const { claim } = await requestClaim(service.api, ready)
    await sendClaim(devnet.chains[ready.destination_network]!, devnet.accounts.carol, claim)
    await row.getByText('Claimed').waitFor()
    assert.deepEqual(await places(), before)
    const sent = await sendOne(live)
    await rowOf(page, sent).waitFor()
  },
)

test(
  'a new bridge has the overview ask for the newest bridges of its network, and of no other',
  options,
  async (t) => {
    const live = await running
    const { page, proxy } = await openList(t, live)
    // By what it tells all is asked for again.
    const sync = await (await fetch(`${live.service.process.url}/bridge/v1/sync-status`)).text()
    await page.route('**/bridge/v1/sync-status', (route) =>
      route.fulfill({ contentType: 'application/json', body: sync }),
    )
    await page.goto(`${proxy.url}/explorer`)
    await page.getByText('Live', { exact: true }).waitFor()
    // What all was asked for at first is over when the first one is shown.
    await rowOf(page, await sendOne(live)).waitFor()
    const asked: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/bridge/v1/bridges' && searchParams.get('page_size') === '10')
        asked.push(searchParams.get('network_id'))
    })
    await rowOf(page, await sendOne(live)).waitFor()
    assert.ok(asked.length > 0)
    assert.deepEqual([...new Set(asked)], ['1'])
  },
)

test(
  'while events are cut off the page says so, looks by itself, and goes on behind the last event',
  options,
  async (t) => {
    const live = await running
    const { page, proxy } = await openList(t, live)
    await showList(page, proxy, 'Live')
    const first = await sendOne(live)
    await rowOf(page, first).waitFor()
    proxy.setMode('cut')
    await page.getByText('Live updates are cut off.', { exact: false }).waitFor()
    await page.getByText('Reconnecting', { exact: true }).waitFor()
    const meanwhile = await sendOne(live)
    await rowOf(page, meanwhile).waitFor()
    const refused = proxy.asked.length
    proxy.setMode('pass')
    await page.getByText('Live', { exact: true }).waitFor()
    assert.equal(await page.getByText('Live updates are cut off.', { exact: false }).count(), 0)
    const resumed = proxy.asked.slice(refused - 1).map(({ lastEventId }) => lastEventId)
    for (const place of resumed) assert.match(place ?? '', /^0\.\w+:\d+,1\.\w+:\d+,2\.\w+:\d+$/)
  },
)

test(
  'where events behind its place are not kept any more the page begins anew with its lists',
  options,
  async (t) => {
    const live = await running
    const { page, proxy } = await openList(t, live)
    await showList(page, proxy, 'Live')
    const lists: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/bridges?')) lists.push(request.url())
    })
    proxy.setMode(410)
    await until(
      async () => proxy.asked.at(-1),
      (last) => last?.after === null && last.lastEventId === undefined,
      'events from now on are asked for',
    )
    await until(
      async () => lists.length,
      (count) => count > 0,
      'the list is asked for again',
    )
    await page.getByText('Live', { exact: true }).waitFor()
    await rowOf(page, await sendOne(live)).waitFor()
  },
)

test('a service without events is looked at every two seconds', options, async (t) => {
  const live = await running
  const { page, proxy } = await openList(t, live)
  proxy.setMode(503)
  await showList(page, proxy, 'Every 2 s')
  await rowOf(page, await sendOne(live)).waitFor()
})

test(
  'eight windows of one browser all follow, and two of them have a connection for events',
  options,
  async (t) => {
    const live = await running
    const { page, proxy } = await openList(t, live)
    const pages = [page]
    await showList(page, proxy, 'Live')
    for (let more = 0; more < 7; more++) {
      const other = await page.context().newPage()
      pages.push(other)
      await other.goto(`${proxy.url}/explorer/bridges?network=1`)
      await other.locator('tbody tr').first().waitFor()
    }
    const sent = await sendOne(live)
    for (const each of pages) await rowOf(each, sent).waitFor()
    assert.equal(proxy.open(), 2)
  },
)

test(
  'a page that nobody looks at has no connection, and goes on from its place when it is looked at again',
  options,
  async (t) => {
    const live = await running
    const { page, proxy } = await openList(t, live)
    await showList(page, proxy, 'Live')
    await rowOf(page, await sendOne(live)).waitFor()
    const setHidden = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange'))`)
    await setHidden(true)
    await page.getByText('Paused', { exact: true }).waitFor()
    await until(
      async () => proxy.open(),
      (count) => count === 0,
      'the connection is closed',
    )
    const sent = await sendOne(live)
    await setHidden(false)
    await rowOf(page, sent).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    assert.match(proxy.asked.at(-1)?.after ?? '', /^0\.\w+:\d+,1\.\w+:\d+,2\.\w+:\d+$/)
  },
)

test(
  'without locks, as over plain HTTP from elsewhere, the window with the focus gets events',
  options,
  async (t) => {
    const live = await running
    const { page, proxy } = await openList(t, live)
    await page.addInitScript(`
    Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })
    document.hasFocus = () => window.hasIt === true`)
    await showList(page, proxy, 'Every 2 s')
    await page.evaluate(`window.hasIt = true; dispatchEvent(new Event('focus'))`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.evaluate(`window.hasIt = false; dispatchEvent(new Event('blur'))`)
    await page.getByText('Every 2 s', { exact: true }).waitFor()
    assert.equal(proxy.open(), 0)
  },
)

test(
  'a bridge that its network takes back is shown as that for a moment, and its page tells what became of it',
  options,
  async (t) => {
    const live = await running
    const { devnet } = live
    const { page, proxy } = await openList(t, live)
    await showList(page, proxy, 'Live')
    const sent = await sendOne(live)
    await rowOf(page, sent).waitFor()
    const count = Number(sent.slice(2))
    await cutExitTree(devnet, devnet.chains[1]!, count)
    await rowOf(page, sent).getByText('Taken back').waitFor()
    await rowOf(page, sent).waitFor({ state: 'detached' })
    await page.goto(`${proxy.url}/explorer/bridge/1/${count}`)
    await page.getByText('Network 1 took it back, so no list has it any more.').waitFor()
    await sendOne(live)
    await page.getByText('and gave the number to the bridge on this page', { exact: false }).waitFor()
  },
)
