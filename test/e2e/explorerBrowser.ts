import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { installedProgram } from '../support/installedProgram.js'
import type { Cleaner } from '../support/tempFolder.js'

const PATIENCE_MS = 60_000

/** Debian's Chromium, closed at the end. */
export async function startBrowser(context: Cleaner): Promise<Browser> {
  const launched = chromium.launch({
    executablePath: installedProgram('chromium')!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  context.after(async () => (await launched).close())
  return launched
}

interface Shown {
  readonly browser: Browser
  /** Where the service is. */
  readonly url: string
}

/** Answers that are on their way to it are of no use any more, and their failures no fault. */
export async function closePage(page: Page): Promise<void> {
  if (page.isClosed()) return
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.close()
}

/** A page whose errors, refused scripts and requests to elsewhere fail the test. */
export async function openPage(t: TestContext, { browser, url }: Shown): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    colorScheme: 'light',
    // A colour on its way to another one has no contrast of its own.
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
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
  t.after(async () => {
    await closePage(page)
    await context.close()
    assert.deepEqual(faults, [])
  })
  return page
}
