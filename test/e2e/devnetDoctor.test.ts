import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { playScenario } from '../../src/devnet/scenario.js'
import { startBds } from '../support/serviceProcess.js'
import { serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

test("doctor --e2e has the real bridges check the newest proofs of a service, and fails when a proof is another one's", async (t) => {
  const devnet = await testDevnet(t)
  await playScenario(devnet)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()
  const doctor = async (url: string) => {
    const args = ['doctor', '--config', service.configFile, '--offline', '--e2e', '--json', '--url', url]
    const { exited, stdout } = startBds(t, args)
    const { code } = await exited
    const { checks } = JSON.parse(stdout.join('\n')) as { checks: Record<string, string>[] }
    return { code, checks: checks.filter(({ what }) => what!.startsWith('end to end')) }
  }

  const well = await doctor(service.process.url)
  assert.equal(well.code, 0, JSON.stringify(well.checks))
  assert.deepEqual(
    well.checks.map(({ what, outcome }) => [what, outcome]),
    [0, 1, 2].map((networkId) => [`end to end, network ${networkId}`, 'ok']),
  )
  for (const { detail } of well.checks)
    assert.match(
      detail!,
      /^deposit \d+ for network \d+: the bridge takes the proof \((the claim would succeed|AlreadyClaimed)\)$/,
    )

  // A service that answers the same, but for one digit in the first sibling of each proof.
  const liar = createServer(async (request, response) => {
    const { body } = await service.process.get(request.url!)
    const { data } = body as { data?: string }
    const at = '0x'.length + '12345678'.length
    const lie =
      data === undefined
        ? {}
        : { data: `${data.slice(0, at)}${data[at] === '0' ? '1' : '0'}${data.slice(at + 1)}` }
    response.end(JSON.stringify({ ...(body as object), ...lie }))
  })
  await once(liar.listen(0, '127.0.0.1'), 'listening')
  t.after(() => void liar.close())
  const ill = await doctor(`http://127.0.0.1:${(liar.address() as AddressInfo).port}`)
  assert.equal(ill.code, 1)
  for (const { outcome, detail } of ill.checks)
    assert.deepEqual([outcome, detail], ['fail', 'the bridge refuses the proof: InvalidSmtProof'])
})
