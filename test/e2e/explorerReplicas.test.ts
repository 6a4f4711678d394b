import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Devnet } from '../../src/devnet/devnet.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { runHaproxy } from '../proxies/proxyWorld.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { freePort } from '../support/freePort.js'
import { skipWithout } from '../support/installedProgram.js'
import { type ServiceProcess, startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { until } from '../support/until.js'
import { NatsProcesses } from './cluster/natsProcesses.js'
import { serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'
import { openPage, startBrowser } from './explorerBrowser.js'

test('behind HAProxy and three instances, of which one is killed meanwhile, a wallet that refuses at first and is on another chain claims a bridge, and its page turns claimed', {
  skip: skipWithout('chromium', 'haproxy'),
}, async (t) => {
  const devnet = await testDevnet(t)
  await playScenario(devnet)
  const services = await Promise.all(Array.from({ length: 3 }, () => serviceOn(t, devnet)))
  for (const service of services) await service.inStepAndFinal()
  const bridges = await services[0]!.allBridges()
  const ready = bridges.find(({ ready_for_claim, leaf_type }) => ready_for_claim && leaf_type === 0)
  assert.ok(ready !== undefined)
  const url = await balancerOver(
    t,
    services.map(({ process }) => process.url),
  )
  const page = await openPage(t, { browser: await startBrowser(t), url })
  const asked = await addWallet(page, devnet)

  await page.goto(`${url}/explorer/bridge/${ready.origin_network}/${ready.deposit_count}`)
  await page.getByRole('button', { name: 'Check the proof' }).click()
  // The wallet is on another chain, and nobody else is to be asked.
  await page.getByText('Calculated only', { exact: true }).waitFor()
  assert.equal(await page.getByText('Not compared: nobody to ask', { exact: true }).count(), 2)
  await page.getByRole('button', { name: 'Claim with Test Wallet' }).click()
  await page.getByText('You refused it in the wallet. Nothing was sent.').waitFor()
  await services[1]!.process.kill('SIGKILL')
  await page.getByRole('button', { name: 'Claim with Test Wallet' }).click()
  await page.getByText(/^Done: it was claimed on/).waitFor()
  // Events of the instances have places of their own: the page begins anew with another one's.
  await page.getByText('Live', { exact: true }).waitFor()
  assert.equal(asked.filter((method) => method === 'eth_sendTransaction').length, 1)
  assert.equal(asked.filter((method) => method === 'wallet_switchEthereumChain').length, 1)
})

test('behind HAProxy and the three instances of a cluster somebody finds a bridge by its transaction, and the list follows where it was when the instance that tells it of events is killed', {
  skip: skipWithout('chromium', 'haproxy', 'nats-server'),
}, async (t) => {
  const nats = await NatsProcesses.start(t, 1)
  const { world, ready } = buildSmallWorld()
  const { configFile } = await serveWorld(t, world)
  const services: ServiceProcess[] = []
  for (let at = 0; at < 3; at++) {
    const file = configFile(`instance-${at}`)
    const cluster = `[cluster]\nservers = ["${nats.addresses[0]}"]\nreplicas = 1\nmax_log_bytes = 100000000\ninstance = "i${at}"\n\n[log]`
    writeFileSync(file, readFileSync(file, 'utf8').replace('[log]', cluster))
    services.push(await startService(t, file))
  }
  for (const service of services) await inStep(service, world)
  const url = await balancerOver(
    t,
    services.map((service) => service.url),
  )
  const page = await openPage(t, { browser: await startBrowser(t), url })
  const streams: { readonly status: number; readonly at: number; readonly place: string | undefined }[] = []
  page.on('response', async (response) => {
    if (!response.url().includes('/bridge/v1/events')) return
    const { [INSTANCE]: name = '' } = response.headers()
    const { 'last-event-id': place } = await response.request().allHeaders()
    streams.push({ status: response.status(), at: Number(name.replace('instance', '')), place })
  })

  await page.goto(`${url}/explorer`)
  await page.getByRole('heading', { name: 'Networks' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type(ready.transactionHash)
  await page.keyboard.press('Enter')
  await page.locator('.results a', { hasText: `0:${ready.depositCount}` }).click()
  await page.getByText('Ready to claim', { exact: true }).first().waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Bridges' }).click()
  await page.getByRole('link', { name: /^Network 1/ }).click()
  await page.getByText('Live', { exact: true }).waitFor()
  const send = async (): Promise<void> => {
    const depositCount = world.network(1).deposits().length
    world.network(1).mine((block) => block.tx().deposit({ destinationNetwork: 2, amount: 5n }))
    await page.getByRole('link', { name: `1:${depositCount}`, exact: true }).waitFor()
  }
  await send()
  const told = streams.at(-1)!
  await services[told.at]!.kill('SIGKILL')
  await send()
  await until(
    async () => streams,
    (all) => all.length > 1 && all.at(-1)!.status === 200,
    'another instance tells of events',
  )
  await page.getByText('Live', { exact: true }).waitFor()
  await send()
  const { at, place } = streams.at(-1)!
  assert.notEqual(at, told.at)
  // Instances of a cluster tell of the same events by the same places, so nothing is begun anew.
  assert.match(place ?? '', /^0\.\w+:\d+,1\.\w+:\d+,2\.\w+:\d+$/, JSON.stringify(streams))
})

/** In answers: which instance gave it. */
const INSTANCE = 'x-instance'

/** HAProxy, which gives each request to the next instance. @returns its address. */
async function balancerOver(t: TestContext, urls: readonly string[]): Promise<string> {
  const port = await freePort()
  const servers = urls.map((url, at) => `    server instance${at} ${new URL(url).host}`)
  const config = `
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 15s
listen api
    bind 127.0.0.1:${port}
    balance roundrobin
    retries 3
    option redispatch 1
    retry-on conn-failure empty-response
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host bds
    http-check expect status 200
    default-server check inter 500ms fall 1 rise 1
    http-response set-header ${INSTANCE} %s
${servers.join('\n')}
`
  await runHaproxy(t, port, config)
  return `http://127.0.0.1:${port}`
}

/**
 * A wallet that announces itself as EIP-6963 says, with Alice's account. It is on a chain that is none of the devnet's until it is told to switch,
 * and refuses the first thing that it is to agree to.
 * @returns what it is asked, as it goes on.
 */
async function addWallet(page: Page, { chains, accounts }: Devnet): Promise<readonly string[]> {
  const asked: string[] = []
  let chainId = 1
  let refuses = true
  const answer = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    asked.push(method)
    if (method === 'eth_chainId') return `0x${chainId.toString(16)}`
    if (method === 'eth_requestAccounts') {
      if (refuses) {
        refuses = false
        throw { code: 4001, message: 'User rejected the request.' }
      }
      return [accounts.alice]
    }
    if (method === 'wallet_switchEthereumChain') {
      chainId = Number((params[0] as { chainId: string }).chainId)
      return null
    }
    const chain = chains.find((chain) => chain.chainId === chainId)
    assert.ok(chain !== undefined, `${method} on chain ${chainId}`)
    const response = await fetch(chain.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw error
    return result
  }
  await page.exposeFunction('askWallet', (method: string, params?: readonly unknown[]) =>
    answer(method, params).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    ),
  )
  await page.addInitScript(`{
    const provider = {
      async request({ method, params }) {
        const { result, error } = await askWallet(method, params)
        if (error) throw error
        return result
      },
    }
    const info = { uuid: 'test', name: 'Test Wallet', rdns: 'org.example', icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>' }
    const announce = () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }))
    addEventListener('eip6963:requestProvider', announce)
    announce()
  }`)
  return asked
}
