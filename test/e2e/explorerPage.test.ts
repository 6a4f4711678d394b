import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
import { startBds } from '../support/serviceProcess.js'
import { tempFolder } from '../support/tempFolder.js'

/** Widths of a phone, a tablet and a desk; pictures of all of them are left here for people to look at. */
const WIDTHS = [390, 820, 1280]
const PICTURES = new URL('../../screenshots/', import.meta.url)
const PATIENCE_MS = 60_000

interface Deposit {
  readonly origin_network: number
  readonly deposit_count: number
  readonly tx_hash: string
}

interface Demo {
  readonly url: string
  readonly browser: Browser
  /** The first deposit of any network that these filters leave. */
  deposit(filters: string): Promise<Deposit>
}

/** The devnet without traffic, and a browser. */
async function startDemo(t: TestContext): Promise<Demo> {
  const bds = startBds(t, ['start', '--port', '0', '--ops-port', '0', '--round-ms', '0'], {
    TMPDIR: tempFolder(t),
  })
  await bds.line(/^Ctrl-C stops everything/)
  const [, url] =
    /^ {2}(http\S+)\/explorer$/m.exec(bds.stdout.join('\n')) ?? assert.fail('no address of the page')
  const browser = await chromium.launch({
    executablePath: installedProgram('chromium')!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  t.after(() => browser.close())
  return {
    url: url!,
    browser,
    async deposit(filters) {
      for (const network of [1, 0, 2]) {
        const answer = await fetch(`${url}/bridge/v1/bridges?network_id=${network}&page_size=1&${filters}`)
        const [found] = ((await answer.json()) as { bridges: Deposit[] }).bridges
        if (found !== undefined) return found
      }
      return assert.fail(`no deposit for ${filters}`)
    },
  }
}

/** A page whose errors, refused scripts and requests to elsewhere fail the test. */
async function openPage(t: TestContext, { browser, url }: Demo, dark = false): Promise<Page> {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 900 },
    colorScheme: dark ? 'dark' : 'light',
  })
  page.setDefaultTimeout(PATIENCE_MS)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url())
    // The devnet's nodes are at other ports of this machine.
    if (protocol !== 'data:' && hostname !== new URL(url).hostname) faults.push(`asks ${request.url()}`)
  })
  t.after(() => assert.deepEqual(faults, []))
  return page
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
}

const options = { skip: skipWithout('chromium') }

test(
  'somebody finds a bridge by its transaction, has its proof checked, claims it, and sees it claimed without a reload',
  options,
  async (t) => {
    const demo = await startDemo(t)
    const ready = await demo.deposit('ready_for_claim=true&leaf_type=0')
    const page = await openPage(t, demo)
    await page.goto(`${demo.url}/explorer`)
    await page.getByRole('heading', { name: 'Networks' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(
      `https://explorer.example.org/tx/${ready.tx_hash.toUpperCase().replace('X', 'x')}`,
    )
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/explorer/bridge/${ready.origin_network}/${ready.deposit_count}`)
    await page.evaluate('window.isSame = true')

    await page.getByRole('button', { name: 'Check the proof' }).click()
    await page.getByText('Verified').waitFor()
    await page.getByText(/knows, checked just now/).waitFor()

    await page.getByRole('button', { name: 'Claim with a devnet account' }).click()
    await page.getByText(/^Done: it was claimed on/).waitFor()
    assert.equal(await page.evaluate('window.isSame'), true)
    const answer = await fetch(
      `${demo.url}/bridge/v1/bridges?network_id=${ready.origin_network}&deposit_count=${ready.deposit_count}`,
    )
    const { bridges } = (await answer.json()) as { bridges: { claim_tx_hash: string | null }[] }
    assert.notEqual(bridges[0]?.claim_tx_hash, null)
  },
)

test('a proof that leads elsewhere is told as wrong', options, async (t) => {
  const demo = await startDemo(t)
  const { origin_network, deposit_count } = await demo.deposit('ready_for_claim=true')
  const page = await openPage(t, demo)
  await page.route('**/bridge/v1/claim-proof?*', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.json()) as { proof: { smtProofLocalExitRoot: string[] } }
    body.proof.smtProofLocalExitRoot[5] = `0x${'12'.repeat(32)}`
    await route.fulfill({ response: answer, json: body })
  })
  await page.goto(`${demo.url}/explorer/bridge/${origin_network}/${deposit_count}`)
  await page.getByRole('button', { name: 'Check the proof' }).click()
  await page
    .getByText('The proof does not lead to the root that the service names.', { exact: false })
    .waitFor()
})

test(
  'every view is free of faults that axe-core finds, fits each width, and reads in both themes',
  options,
  async (t) => {
    const demo = await startDemo(t)
    mkdirSync(PICTURES, { recursive: true })
    const pathOf = ({ origin_network, deposit_count }: Deposit): string =>
      `bridge/${origin_network}/${deposit_count}`
    const views = {
      overview: '',
      bridges: 'bridges?network=1&state=open&sender=0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      claims: 'claims?network=1',
      tokens: 'tokens',
      empty: 'bridges?network=1&to=1',
      ready: pathOf(await demo.deposit('ready_for_claim=true')),
      waiting: pathOf(await demo.deposit('ready_for_claim=false&claimed=false')),
      claimed: pathOf(await demo.deposit('claimed=true')),
      missing: 'bridge/1/4000000000',
      address: 'address/0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    }
    for (const dark of [false, true]) {
      const page = await openPage(t, demo, dark)
      for (const [name, path] of Object.entries(views)) {
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          await page.goto(`${demo.url}/explorer/${path}`)
          await page.locator('main h1, main .empty').first().waitFor()
          await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
          const file = new URL(`${name}-${width}-${dark ? 'dark' : 'light'}.png`, PICTURES)
          await page.screenshot({ path: file.pathname, fullPage: true })
          const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          assert.ok(Number(excess) <= 0, `${name} is ${excess} pixels wider than ${width}`)
        }
        assert.deepEqual(await violations(page), [], `${name} ${dark ? 'dark' : 'light'}`)
      }
    }
  },
)

test('hostile names of tokens are text, on one line each', options, async (t) => {
  const demo = await startDemo(t)
  const page = await openPage(t, demo)
  const hostile = [
    '<img src=x onerror="window.isRun=1">',
    '\u202eDLG\u2066',
    'long'.repeat(64),
    '\u0000\u200b',
  ]
  await page.route('**/bridge/v1/token-mappings?*', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.json()) as { token_mappings: { name: string; symbol: string }[] }
    const [first] = body.token_mappings
    body.token_mappings = hostile.map((name, at) => ({ ...first!, log_index: at, name, symbol: name }))
    await route.fulfill({ response: answer, json: body })
  })
  await page.setViewportSize({ width: 390, height: 900 })
  await page.goto(`${demo.url}/explorer/tokens`)
  await page.getByText('<img src=x onerr…').waitFor()
  await page.getByText('Unnamed').waitFor()
  assert.equal(await page.getByText('DLG', { exact: true }).count(), 2)
  assert.equal(await page.evaluate('window.isRun'), undefined)
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0)
})

test(
  'while the service does not answer the page says so and keeps what it has, and goes on by itself',
  options,
  async (t) => {
    const demo = await startDemo(t)
    const page = await openPage(t, demo)
    await page.goto(`${demo.url}/explorer/bridges`)
    await page.getByText('Live', { exact: true }).waitFor()
    const rows = await page.locator('tbody tr').count()
    assert.ok(rows > 3, `${rows} rows`)
    await page.route('**/bridge/v1/**', (route) => route.abort())
    await page.getByText('Reconnecting').waitFor()
    assert.equal(await page.locator('tbody tr').count(), rows)
    await page.unroute('**/bridge/v1/**')
    await page.getByText('Live', { exact: true }).waitFor()
  },
)

test(
  'the API docs are shown without anything inline, and answer a request that is tried',
  options,
  async (t) => {
    const demo = await startDemo(t)
    const page = await openPage(t, demo)
    await page.goto(`${demo.url}/docs`)
    await page.locator('#operations-service-getSyncStatus').click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.locator('.responses-table.live-responses-table').waitFor()
    await page.getByText('bridge_sync', { exact: false }).first().waitFor()
  },
)
