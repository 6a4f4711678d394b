import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Devnet } from '../../src/devnet/devnet.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { runHaproxy } from '../proxies/proxyWorld.js'
import { freePort } from '../support/freePort.js'
import { skipWithout } from '../support/installedProgram.js'
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
  await page.getByText('Right in itself', { exact: true }).waitFor()
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
