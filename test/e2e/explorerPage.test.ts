import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import type { Hex } from 'viem'
import { concat, keccak256, numberToHex } from 'viem/utils'
import { skipWithout } from '../support/installedProgram.js'
import { startBds } from '../support/serviceProcess.js'
import { tempFolder } from '../support/tempFolder.js'
import { closePage, openPage, startBrowser } from './explorerBrowser.js'

/** Widths of a small phone, a tablet and a desk; pictures of all of them are left here for people to look at, who don't in CI. */
const WIDTHS = [360, 820, 1280]
const ARE_PICTURES_WANTED = process.env.CI !== 'true'
const PICTURES = new URL('../../screenshots/', import.meta.url)

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

/** The devnet without traffic, and a browser: one for all tests here, of which the last one claims. */
async function startDemo(): Promise<Demo> {
  const bds = startBds({ after }, ['start', '--port', '0', '--ops-port', '0', '--round-ms', '0'], {
    TMPDIR: tempFolder({ after }),
  })
  const browser = await startBrowser({ after })
  await bds.line(/^Ctrl-C stops everything/)
  const [, url] =
    /^ {2}(http\S+)\/explorer$/m.exec(bds.stdout.join('\n')) ?? assert.fail('no address of the page')
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

/** At each width: a picture, and nothing beyond the edge. @param atEach is called at each width, too. */
async function takePictures(
  page: Page,
  name: string,
  atEach: (which: string) => Promise<void> = async () => undefined,
  widths: readonly number[] = WIDTHS,
): Promise<void> {
  for (const width of widths) {
    const which = `${name}-${width}`
    await page.setViewportSize({ width, height: 900 })
    if (ARE_PICTURES_WANTED)
      await page.screenshot({ path: new URL(`${which}.png`, PICTURES).pathname, fullPage: true })
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    assert.ok(Number(excess) <= 0, `${which} is ${excess} pixels too wide`)
    await atEach(which)
  }
}

/** Axe-core on the page as it is. @param without rules that are left out. */
async function assertNoFault(page: Page, which: string, without: readonly string[] = []): Promise<void> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source)
  const rules = JSON.stringify(Object.fromEntries(without.map((id) => [id, { enabled: false }])))
  // With all that passes, too, it takes twice as long.
  const found = await page.evaluate(
    `axe.run({ rules: ${rules}, resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
  assert.deepEqual(found, [], which)
}

/** At each width, in both themes: a picture, nothing beyond the edge, nothing that axe-core objects to. @param without rules that are left out. */
async function assertReads(page: Page, name: string, without: readonly string[] = []): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await takePictures(page, `${name}-${theme}`, (which) => assertNoFault(page, which, without))
  }
}

/** Nothing beyond the edge at each width. Axe-core, which takes a second each time, looks at the widest in light and at the narrowest in dark. */
async function assertStateReads(page: Page, name: string): Promise<void> {
  await takePictures(page, `${name}-light`)
  await assertNoFault(page, `${name}, light`)
  await page.emulateMedia({ colorScheme: 'dark' })
  await takePictures(page, `${name}-dark`, (which) => assertNoFault(page, which), WIDTHS.slice(0, 1))
}

/** Has answers of the service changed on their way to the page. */
async function change<Body>(page: Page, pattern: string, how: (body: Body) => object): Promise<void> {
  await page.route(pattern, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: how((await response.json()) as Body) })
  })
}

const options = { skip: skipWithout('chromium') }
const running = options.skip === false ? startDemo() : new Promise<never>(() => undefined)
// Each test that awaits it tells why it failed.
running.catch(() => undefined)

interface InfoLeaf {
  readonly globalExitRoot: Hex
  readonly mainnetExitRoot: Hex
  readonly rollupExitRoot: Hex
  readonly previousBlockHash: Hex
  readonly timestamp: number
  readonly hash: Hex
}

interface Proof {
  readonly smtProofLocalExitRoot: Hex[]
  readonly smtProofRollupExitRoot: Hex[]
  readonly l1InfoTreeLeaf: InfoLeaf
}

const OTHER: Hex = `0x${'12'.repeat(32)}`

/** The leaf with other facts, and all that is hashed of them anew: nothing in it contradicts another thing in it. */
function hashedAnew(leaf: InfoLeaf, facts: Partial<InfoLeaf>): InfoLeaf {
  const next = { ...leaf, ...facts }
  const globalExitRoot = keccak256(concat([next.mainnetExitRoot, next.rollupExitRoot]))
  const timestamp = numberToHex(next.timestamp, { size: 8 })
  return {
    ...next,
    globalExitRoot,
    hash: keccak256(concat([globalExitRoot, next.previousBlockHash, timestamp])),
  }
}

const ELSEWHERE = 'the proof does not lead to the root that this service names.'

/** What a service that errs or lies may answer, and what the browser says to that. @param early leaf that does not cover the bridge. */
const wrongProofs: Readonly<
  Record<string, { readonly says: string; make(proof: Proof, early: InfoLeaf): Proof }>
> = {
  'a sibling below the root of the network': {
    says: ELSEWHERE,
    make: (proof) => ({ ...proof, smtProofLocalExitRoot: proof.smtProofLocalExitRoot.with(5, OTHER) }),
  },
  'a sibling below the root of networks': {
    says: ELSEWHERE,
    make: (proof) => ({ ...proof, smtProofRollupExitRoot: proof.smtProofRollupExitRoot.with(31, OTHER) }),
  },
  'a global exit root': {
    says: ELSEWHERE,
    make: (proof) => ({ ...proof, l1InfoTreeLeaf: { ...proof.l1InfoTreeLeaf, globalExitRoot: OTHER } }),
  },
  'an index too early': {
    says: ELSEWHERE,
    make: (proof, early) => ({ ...proof, l1InfoTreeLeaf: early }),
  },
  'roots that no contract knows': {
    says: 'does not know its result: asked through its public endpoint, just now.',
    make: (proof) => ({
      ...proof,
      l1InfoTreeLeaf: hashedAnew(proof.l1InfoTreeLeaf, { mainnetExitRoot: OTHER }),
    }),
  },
  'a record that layer 1 has not': {
    says: 'has not recorded its result as this service says: asked through its public endpoint',
    make: (proof) => ({
      ...proof,
      l1InfoTreeLeaf: hashedAnew(proof.l1InfoTreeLeaf, { previousBlockHash: OTHER }),
    }),
  },
}

test(
  'a proof that leads elsewhere is told as wrong, and gives no call where its hashes disagree',
  options,
  async (t) => {
    const demo = await running
    const { origin_network, deposit_count } = await demo.deposit('ready_for_claim=true')
    assert.equal(origin_network, 1)
    const ask = async <Body>(path: string): Promise<Body> =>
      (await (await fetch(`${demo.url}/bridge/v1/${path}`)).json()) as Body
    const first = 'network_id=1&deposit_count=0'
    const { l1_info_tree_index } = await ask<{ l1_info_tree_index: number }>(`l1-info-tree-index?${first}`)
    const early = await ask<{ proof: Proof }>(`claim-proof?${first}&leaf_index=${l1_info_tree_index}`)
    for (const [what, { says, make }] of Object.entries(wrongProofs)) {
      const page = await openPage(t, demo)
      await change<{ proof: Proof }>(page, '**/bridge/v1/claim-proof?*', ({ proof }) => ({
        proof: make(proof, early.proof.l1InfoTreeLeaf),
      }))
      await page.goto(`${demo.url}/explorer/bridge/${origin_network}/${deposit_count}`)
      await page.getByRole('button', { name: 'Check the proof' }).click()
      const verdict = page.locator('.verdict')
      await verdict.waitFor()
      assert.match((await verdict.textContent())!, /^Wrong/, what)
      assert.ok((await verdict.textContent())!.includes(says), `${what}: ${await verdict.textContent()}`)
      const calls = await page.getByRole('button', { name: 'Copy as calldata' }).count()
      assert.equal(calls, says === ELSEWHERE ? 0 : 1, what)
      if (what === 'a sibling below the root of the network') await assertReads(page, 'proof-wrong')
      await closePage(page)
    }
  },
)

test(
  'every view is free of faults that axe-core finds, fits each width, and reads in both themes',
  options,
  async (t) => {
    const demo = await running
    const pathOf = ({ origin_network, deposit_count }: Deposit): string =>
      `bridge/${origin_network}/${deposit_count}`
    const views = {
      overview: '',
      network: '?network=1',
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
    const page = await openPage(t, demo)
    for (const [name, path] of Object.entries(views)) {
      await page.goto(`${demo.url}/explorer/${path}`)
      await page.locator('main h1, main .empty').first().waitFor()
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      for (const chart of await page.locator('.days').all()) await chart.locator('rect').first().waitFor()
      await assertReads(page, name)
    }
  },
)

interface State {
  /** Below `/explorer/`. */
  readonly path: string
  /** What somebody is told. */
  readonly says: string
  /** Answers as the service would in that state. */
  play(page: Page): Promise<unknown>
}

const [API, SYNC, BRIDGES] = ['**/bridge/v1/**', '**/bridge/v1/sync-status', '**/bridge/v1/bridges?*']
const [STATUS, SEARCH] = ['**/bridge/v1/bridge-status?*', '**/bridge/v1/search?*']

/** A deposit that a cut of the exit tree took back, and the claim of it, as `/search` has them. */
function archivedResults(depositCount: number): readonly object[] {
  const of = { origin_network: 1, deposit_count: depositCount }
  return [
    { type: 'archived_bridge', network_id: 1, ...of, tx_hash: `0x${'ab'.repeat(32)}` },
    { type: 'claim', network_id: 2, ...of, tx_hash: `0x${'cd'.repeat(32)}` },
  ]
}

/** Network 1 with other facts than it has. Until it is in sync nothing to it or from it is ready. */
function network1(facts: {
  readonly is_synced?: false
  readonly halted?: string
  readonly [fact: string]: unknown
}): State['play'] {
  return async (page) => {
    await change<{ networks: { network_id: number }[] }>(page, SYNC, (body) => ({
      ...body,
      networks: body.networks.map((network) => ({
        ...network,
        ...(network.network_id === 1 ? facts : {}),
      })),
    }))
    if (facts.is_synced !== false) return
    await page.route(BRIDGES, async (route) => {
      const url = new URL(route.request().url())
      const { searchParams } = url
      const isOfIt = ['network_id', 'network_ids'].some((name) => searchParams.get(name) === '1')
      const ready = searchParams.get('ready_for_claim')
      if (isOfIt && ready === 'true') return route.fulfill({ json: NOTHING })
      if (isOfIt && ready === 'false') searchParams.delete('ready_for_claim')
      const response = await route.fetch({ url: url.href })
      const { bridges, ...rest } = (await response.json()) as { bridges: Record<string, unknown>[] }
      const withheld = bridges.map((bridge) =>
        [bridge.origin_network, bridge.destination_network].includes(1)
          ? { ...bridge, ready_for_claim: false }
          : bridge,
      )
      return route.fulfill({ response, json: { ...rest, bridges: withheld } })
    })
    const waitsFor = { event: facts.halted === undefined ? 'sync' : 'recovery', network_id: 1 }
    await change<Statuses>(page, STATUS, ({ statuses, ...rest }) => ({
      ...rest,
      statuses: statuses.map((status) =>
        [status.origin_network, status.destination_network].includes(1)
          ? { ...status, waits_for: waitsFor }
          : status,
      ),
    }))
  }
}

interface Statuses {
  readonly statuses: {
    readonly origin_network: number
    readonly destination_network: number
    readonly stages: { readonly stage: string }[]
  }[]
}

/** A list without rows. */
const NOTHING = { bridges: [], pagination: { page: 1, limit: 10, total: 0, next_cursor: null } }

/** Bridges of which it is known how long others took: `settledSec` until nine of ten were settled, half of them 12 minutes at most. */
function playTimes(settledSec: number): State['play'] {
  const typical = (since: string, median_seconds: number, p90_seconds: number): object => ({
    typical: { since, median_seconds, p90_seconds, sample_size: 40 },
  })
  const times: Readonly<Record<string, object>> = {
    settled: typical('bridged', Math.min(720, settledSec), settledSec),
    injected: typical('in_l1_info_tree', 300, 420),
  }
  return (page) =>
    change<Statuses>(page, STATUS, ({ statuses, ...rest }) => ({
      ...rest,
      statuses: statuses.map((status) => ({
        ...status,
        stages: status.stages.map((stage) => ({ ...stage, ...times[stage.stage] })),
      })),
    }))
}

/** As many networks as `count`, of which all but the devnet's three have nothing. */
function playNetworks(count: number): State['play'] {
  const ids = Array.from({ length: count }, (_, networkId) => networkId)
  return async (page) => {
    await page.route(/\/explorer\/$/, async (route) => {
      const response = await route.fetch()
      const html = (await response.text()).replace(
        /&#34;networks&#34;:\[.*\]/,
        `&#34;networks&#34;:[${ids.map((id) => `{&#34;networkId&#34;:${id},&#34;startBlock&#34;:0}`)}]`,
      )
      await route.fulfill({ response, body: html })
    })
    await change<{ networks: object[] }>(page, SYNC, (body) => ({
      ...body,
      networks: ids.map((network_id) => ({ ...body.networks[0], ...body.networks[network_id], network_id })),
    }))
    await page.route(/network_id=(?:[3-9]|\d\d)\b/, (route) => route.fulfill({ json: NOTHING }))
  }
}

function refusals(status: number, code: string): State['play'] {
  return (page) =>
    page.route(API, (route) =>
      route.fulfill({
        status,
        headers: { 'Retry-After': '7' },
        json: { error: { code, message: `${code}: played` } },
      }),
    )
}

interface BridgesAnswer {
  readonly bridges: object[]
  readonly pagination: object
}

const states: Readonly<Record<string, State>> = {
  halted: {
    path: '',
    says: 'Reading Network 1 has stopped (disk full).',
    play: network1({ halted: 'disk_full', is_synced: false }),
  },
  disputed: {
    path: '',
    says: 'What was read of Network 1 disagrees with its contracts (exit root mismatch).',
    play: network1({ halted: 'exit_root_mismatch', is_synced: false }),
  },
  behind: {
    path: '',
    says: 'The nodes of Network 1 show an older block than was seen before.',
    play: network1({ reasons: ['behind'], is_synced: false }),
  },
  stalled: {
    path: '',
    says: 'Network 1 has made no block for a while.',
    play: network1({ reasons: ['stalled'], head_age_seconds: 5_400 }),
  },
  uncontacted: {
    path: '',
    says: 'No node of Network 1 answers.',
    play: network1({ reasons: ['rpc'], is_synced: false }),
  },
  paused: {
    path: '',
    says: 'The bridge contract of Network 1 is in its emergency state.',
    play: network1({ reasons: ['emergency_state'] }),
  },
  syncing: {
    path: '',
    says: 'Network 1 is still being read.',
    play: network1({ is_synced: false, synced_block: 1_234_567, current_block: 9_000_000 }),
  },
  starting: {
    path: 'bridges',
    says: 'The service is busy or starting',
    play: refusals(503, 'SERVICE_UNAVAILABLE'),
  },
  limited: {
    path: 'bridges',
    says: 'This service limits how much one visitor may ask.',
    play: refusals(429, 'RATE_LIMIT_EXCEEDED'),
  },
  'behind-proxy': {
    path: 'bridges',
    says: 'The service is busy or starting',
    play: (page) =>
      page.route(API, (route) => route.fulfill({ status: 502, body: '<html>Bad gateway</html>' })),
  },
  offline: {
    path: '',
    says: 'The service does not answer.',
    play: (page) => page.route(API, (route) => route.abort()),
  },
  loading: {
    path: '',
    says: 'Asking the service…',
    play: (page) => page.route(API, () => undefined),
  },
  unused: {
    path: '',
    says: 'Nothing has been sent yet.',
    play: (page) =>
      change<BridgesAnswer>(page, BRIDGES, ({ pagination }) => ({
        bridges: [],
        pagination: { ...pagination, total: 0, next_cursor: null },
      })),
  },
  alone: {
    path: '',
    says: 'Everything is up to date',
    play: playNetworks(1),
  },
  many: {
    path: '',
    says: '50 networks',
    play: playNetworks(50),
  },
  expected: { path: 'bridge/2/6', says: '(usually 17 min in all)', play: playTimes(1_200) },
  late: { path: 'bridge/2/6', says: 'This step takes longer than usual', play: playTimes(60) },
  reused: {
    path: 'bridge/1/7',
    says: 'The earlier one had been claimed by then',
    async play(page) {
      const claim = { claim_tx_hash: `0x${'cd'.repeat(32)}`, claim_matches: false, ready_for_claim: false }
      await change<BridgesAnswer>(page, BRIDGES, ({ bridges, ...rest }) => ({
        ...rest,
        bridges: bridges.map((bridge) => ({ ...bridge, ...claim })),
      }))
      await change<Statuses>(page, STATUS, ({ statuses, ...rest }) => ({
        ...rest,
        statuses: statuses.map((status) => ({
          ...status,
          ...claim,
          current_stage: 'claimed',
          waits_for: null,
          stages: status.stages.map((stage) =>
            stage.stage === 'claimed' ? { ...stage, state: 'blocked' } : stage,
          ),
        })),
      }))
      await change<{ results: object[] }>(page, SEARCH, ({ results, ...rest }) => ({
        ...rest,
        results: [...results, ...archivedResults(7)],
      }))
    },
  },
  'taken-back': {
    path: 'bridge/1/4000000000',
    says: 'It had been claimed on Network 2; what was paid out stays paid.',
    play: (page) =>
      change<{ results: object[] }>(page, SEARCH, (body) => ({
        ...body,
        results: archivedResults(4_000_000_000),
      })),
  },
  extreme: {
    path: 'bridges?network=1',
    says: '× 10⁵⁹',
    play: (page) =>
      change<BridgesAnswer>(page, BRIDGES, ({ bridges, pagination }) => ({
        bridges: bridges.map((bridge) => ({ ...bridge, amount: String(2n ** 256n - 1n), metadata: '0x' })),
        pagination: { ...pagination, total: 10_000_000 },
      })),
  },
}

test(
  'every state of the service is told in words, reads in both themes, and fits each width',
  options,
  async (t) => {
    const demo = await running
    for (const [name, { path, says, play }] of Object.entries(states)) {
      const page = await openPage(t, demo)
      await play(page)
      await page.goto(`${demo.url}/explorer/${path}`)
      await page
        .getByText(says, { exact: false })
        .first()
        .waitFor({ timeout: 20_000 })
        .catch(async () => assert.fail(`${name} shows: ${await page.locator('body').textContent()}`))
      await assertStateReads(page, name)
      await closePage(page)
    }
  },
)

test(
  'one network may be looked at alone, by an address that shows the same to anybody',
  options,
  async (t) => {
    const demo = await running
    const page = await openPage(t, demo)
    await page.goto(`${demo.url}/explorer`)
    assert.equal(await page.locator('.tile').count(), 3)
    await page.getByRole('combobox', { name: 'Network' }).selectOption({ label: 'Network 2' })
    await page.waitForURL('**/explorer/?network=2')
    const assertAlone = async (): Promise<void> => {
      await page.locator('#newest ~ .table tbody tr').first().waitFor()
      assert.deepEqual(await page.locator('.tile h3').allTextContents(), ['Network 2'])
      const routes = await page.locator('.route').allTextContents()
      assert.ok(routes.length > 3, `${routes.length} routes`)
      for (const route of routes) assert.match(route, /Network 2/)
    }
    await assertAlone()
    await page.reload()
    await assertAlone()
    await page.getByRole('link', { name: 'Bridges' }).first().click()
    await page.waitForURL('**/explorer/bridges?network=2')
  },
)

test('the bars of a network add up to what was sent from it, as a table too', options, async (t) => {
  const demo = await running
  const page = await openPage(t, demo)
  await page.goto(`${demo.url}/explorer?network=1`)
  await page.locator('.days tbody tr').nth(29).waitFor({ state: 'attached' })
  const counts = await page.locator('.days tbody td').allTextContents()
  const answer = await fetch(`${demo.url}/bridge/v1/bridges?network_id=1&page_size=1`)
  const { pagination } = (await answer.json()) as { pagination: { total: number } }
  assert.equal(
    counts.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0),
    pagination.total,
  )
  assert.equal(await page.locator('.days rect:not(.space)').count(), 30)
})

/** With which the first view is measured: a CPU of a quarter of the speed. */
const SLOWER = 4
const LOADS = 3
/** "Good" by Web Vitals. */
const MOST_SHIFT = 0.1

test('nothing of the first view jumps, and its times on a slow CPU are told', options, async (t) => {
  const demo = await running
  const loads: { painted: number; filled: number; shift: number; clicked: number }[] = []
  for (let at = 0; at < LOADS; at++) {
    const page = await openPage(t, demo)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
    await page.addInitScript(`
      window.shift = 0
      new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shift += value })
        .observe({ type: 'layout-shift', buffered: true })
      new MutationObserver(() => {
        if (document.querySelector('#newest ~ .table tbody tr') && !document.querySelector('[aria-busy=true]'))
          window.filled ??= performance.now()
      }).observe(document, { subtree: true, childList: true })`)
    await page.goto(`${demo.url}/explorer`)
    await page.locator('.days rect').first().waitFor({ state: 'attached' })
    await page.locator('#newest ~ .table tbody tr').first().waitFor()
    const loaded = await page.evaluate(
      `({ painted: performance.getEntriesByName('first-contentful-paint')[0].startTime, filled, shift })`,
    )
    const clicked = await page.evaluate(
      `new Promise((tell) => {
        const from = performance.now()
        document.querySelector('nav a[href$=bridges]').click()
        requestAnimationFrame(() => setTimeout(() => tell(performance.now() - from)))
      })`,
    )
    loads.push({ ...(loaded as Omit<(typeof loads)[number], 'clicked'>), clicked: Number(clicked) })
    await closePage(page)
  }
  const middle = (of: 'painted' | 'filled' | 'clicked'): string =>
    `${Math.round(loads.map((load) => load[of]).sort((a, b) => a - b)[LOADS >> 1]!)} ms`
  t.diagnostic(
    `first view at 1/${SLOWER} of the CPU: painted after ${middle('painted')}, all rows after ${middle('filled')}, a click shown after ${middle('clicked')}, shifted by ${Math.max(...loads.map(({ shift }) => shift)).toFixed(3)}`,
  )
  for (const { shift } of loads) assert.ok(shift <= MOST_SHIFT, `a layout shift of ${shift}`)
})

test('hostile names of tokens are text, on one line each', options, async (t) => {
  const demo = await running
  const page = await openPage(t, demo)
  const hostile = [
    '<img src=x onerror="window.isRun=1">',
    '\u202eDLG\u2066',
    'long'.repeat(2_560),
    'ab\u0301'.repeat(4).padEnd(40, '\u0301'),
    '\u0000\u200b',
  ]
  await change<{ token_mappings: object[] }>(page, '**/bridge/v1/token-mappings?*', (body) => ({
    ...body,
    token_mappings: hostile.map((name, at) => ({
      ...body.token_mappings[0],
      log_index: at,
      name,
      symbol: name,
    })),
  }))
  await page.setViewportSize({ width: 390, height: 900 })
  await page.goto(`${demo.url}/explorer/tokens`)
  await page.getByText('<img src=x onerr…').waitFor()
  await page.getByText('Unnamed').waitFor()
  assert.equal(await page.getByText('DLG', { exact: true }).count(), 2)
  await assertReads(page, 'hostile')
  assert.equal(await page.evaluate('window.isRun'), undefined)
})

/** With events and without. */
const WELL = /^(?:Live|Every 2 s)$/

test(
  'while the service does not answer the page says so and keeps what it has, and goes on by itself',
  options,
  async (t) => {
    const demo = await running
    const page = await openPage(t, demo)
    await page.goto(`${demo.url}/explorer/bridges`)
    await page.getByText(WELL).waitFor()
    await page.locator('tbody tr').first().waitFor()
    const rows = await page.locator('tbody tr').count()
    assert.ok(rows > 3, `${rows} rows`)
    await page.route('**/bridge/v1/**', (route) => route.abort())
    await page.getByText('Reconnecting').waitFor()
    assert.equal(await page.locator('tbody tr').count(), rows)
    await page.unroute('**/bridge/v1/**')
    await page.getByText(WELL).waitFor()
  },
)

/** Of Swagger UI, which makes no heading between its title and the groups, and buttons inside what can be clicked. */
const SWAGGER_FAULTS = ['heading-order', 'nested-interactive']

test(
  'the API docs are shown without anything inline, and answer a request that is tried',
  options,
  async (t) => {
    const demo = await running
    const page = await openPage(t, demo)
    await page.goto(`${demo.url}/docs`)
    const back = page.getByRole('link', { name: 'Explorer: bridges, claims and proofs as a page' })
    assert.equal(await back.getAttribute('href'), `${demo.url}/explorer`)
    await page.locator('#operations-service-getSyncStatus').click()
    assert.equal(await page.locator('.authorization__btn, .authorize').count(), 0, 'a lock where no key is')
    await page.getByRole('button', { name: 'Execute' }).click()
    // The documented example says the same below it.
    const answer = page.locator('.responses-table.live-responses-table')
    await answer.getByText('bridge_sync', { exact: false }).first().waitFor()
    assert.match((await answer.locator('tbody .response-col_status').first().textContent())!, /^200/)
    await assertReads(page, 'docs', SWAGGER_FAULTS)
  },
)

/** Presses Tab until the focus is on a button, and that can be seen. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let left = 80; left > 0; left--) {
    await page.keyboard.press('Tab')
    const [text, outline] = (await page.evaluate(
      `[document.activeElement.textContent, getComputedStyle(document.activeElement).outlineStyle]`,
    )) as [string, string]
    if (text !== name) continue
    assert.notEqual(outline, 'none', `${name} shows no focus`)
    return
  }
  assert.fail(`no way to ${name} by Tab`)
}

test(
  'by keyboard alone, on a phone, somebody finds a bridge and has its proof checked, and nothing moves that needs not',
  options,
  async (t) => {
    const demo = await running
    const { origin_network, deposit_count } = await demo.deposit('ready_for_claim=true')
    const page = await openPage(t, demo)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${demo.url}/explorer`)
    await page.getByRole('heading', { name: 'Networks' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(`${origin_network}:${deposit_count}`)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Check the proof' }).waitFor()
    for (const motion of ['reduce', 'no-preference'] as const) {
      await page.emulateMedia({ reducedMotion: motion })
      await tabTo(page, motion === 'reduce' ? 'Check the proof' : 'Check again')
      await page.keyboard.press('Enter')
      await page.getByText('Proven', { exact: true }).waitFor()
      const moving = (await page.evaluate(
        `document.getAnimations().map(({ effect }) => effect.getTiming().duration)`,
      )) as number[]
      if (motion === 'reduce') assert.deepEqual(moving, [])
      for (const duration of moving) assert.ok(duration <= 150, `something moves for ${duration} ms`)
    }
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  },
)

test(
  'somebody finds a bridge by its transaction, has its proof checked, claims it, and sees it claimed without a reload',
  options,
  async (t) => {
    const demo = await running
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
    await page.getByText('Proven', { exact: true }).waitFor()
    await page.getByText(/knows that result, asked through its public endpoint, just now/).waitFor()
    assert.equal(await page.getByText('Yes', { exact: true }).count(), 2)
    await page.getByText(/^All that was sent from/).click()
    await assertReads(page, 'proof')

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy as calldata' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const call = await fetch(
      `${demo.url}/bridge/v1/claim-transaction?network_id=${ready.origin_network}&deposit_count=${ready.deposit_count}`,
    )
    const { data } = (await call.json()) as { data: string }
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), data)

    await page.getByRole('button', { name: 'Claim with a test account' }).click()
    await page.getByText(/^Done: it was claimed on/).waitFor()
    assert.equal(await page.evaluate('window.isSame'), true)
    const answer = await fetch(
      `${demo.url}/bridge/v1/bridges?network_id=${ready.origin_network}&deposit_count=${ready.deposit_count}`,
    )
    const { bridges } = (await answer.json()) as { bridges: { claim_tx_hash: string | null }[] }
    assert.notEqual(bridges[0]?.claim_tx_hash, null)
  },
)
