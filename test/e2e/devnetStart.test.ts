import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { RunningDevnet } from '../../src/devnet/runningDevnets.js'
import { freePort } from '../support/freePort.js'
import { type BdsProcess, startBds } from '../support/serviceProcess.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'

const anyPorts = ['--port', '0', '--ops-port', '0']
const lastLine = /^Ctrl-C stops everything/

interface StartedDevnet {
  readonly bds: BdsProcess
  readonly tmpdir: string
  /** Everything that the devnet printed until it was up. */
  readonly text: string
  readonly description: RunningDevnet
}

async function startDemo(
  t: TestContext,
  args: readonly string[],
  ports: readonly string[] = anyPorts,
): Promise<StartedDevnet> {
  const tmpdir = tempFolder(t)
  const bds = startBds(t, ['start', ...ports, ...args], { TMPDIR: tmpdir })
  await bds.line(lastLine)
  const [folder] = readdirSync(tmpdir)
  const description = JSON.parse(readFileSync(join(tmpdir, folder!, 'devnet.json'), 'utf8')) as RunningDevnet
  return { bds, tmpdir, text: bds.stdout.join('\n'), description }
}

async function runBds(t: TestContext, tmpdir: string, args: readonly string[]) {
  const bds = startBds(t, args, { TMPDIR: tmpdir })
  const { code } = await bds.exited
  return { code, stdout: bds.stdout.join('\n'), stderr: bds.stderr.join('\n') }
}

async function assertNothingLeft({ tmpdir, description }: StartedDevnet): Promise<void> {
  const urls = [description.serviceUrl, description.opsUrl, ...description.chains.map(({ rpcUrl }) => rpcUrl)]
  for (const url of urls) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' }, url)
  }
  assert.deepEqual(readdirSync(tmpdir), [])
}

test('every command that the devnet prints works: the queries answer, and the claim command makes the deposit claimed', async (t) => {
  const demo = await startDemo(t, ['--round-ms', '0'])
  const urls = [...demo.text.matchAll(/curl -s '(http[^']+)'/g)].map(([, url]) => url!)
  assert.ok(urls.length >= 9, demo.text)
  for (const url of urls) {
    const response = await fetch(url)
    assert.equal(response.status, 200, `${url}: ${await response.text()}`)
  }
  const [, claimArgs] = /^ {2}\S.* (devnet claim --network \d+ --deposit \d+)$/m.exec(demo.text) ?? []
  assert.ok(claimArgs !== undefined, demo.text)

  const first = await runBds(t, demo.tmpdir, claimArgs.split(' '))
  assert.equal(first.code, 0, first.stderr)
  const [, transaction] = /^transaction (0x[0-9a-f]{64}),/m.exec(first.stdout) ?? []
  const [before, after] = first.stdout.split(/^Record after$/m)
  assert.match(before!, /"ready_for_claim": true/)
  assert.match(after!, /"ready_for_claim": false/)
  assert.ok(transaction !== undefined && after!.includes(`"claim_tx_hash": "${transaction}"`), first.stdout)

  const second = await runBds(t, demo.tmpdir, claimArgs.split(' '))
  assert.deepEqual([second.code, second.stderr.includes(`is claimed already, by ${transaction}`)], [1, true])
  const unknown = await runBds(t, demo.tmpdir, ['devnet', 'claim', '--network', '0', '--deposit', '999'])
  assert.match(unknown.stderr, /^bds: deposit 999 of network 0 is not indexed/)

  const { port } = new URL(demo.description.serviceUrl)
  const besides = await runBds(t, demo.tmpdir, ['start', '--port', port, '--ops-port', '0'])
  assert.equal(besides.code, 1)
  assert.match(besides.stderr, new RegExp(`^bds: port ${port} is taken: .*--port 0$`))

  assert.deepEqual(await demo.bds.kill('SIGINT'), { code: 0, signal: null })
  assert.deepEqual(demo.bds.stderr, [])
  await assertNothingLeft(demo)
  const late = await runBds(t, demo.tmpdir, claimArgs.split(' '))
  assert.equal(late.stderr, 'bds: no devnet is running: start one with bds start')
})

test("the devnet's traffic continues by itself: deposits arrive, and some are claimed", async (t) => {
  const demo = await startDemo(t, ['--round-ms', '50'])
  const { serviceUrl } = demo.description
  const counts = async (): Promise<number[]> =>
    Promise.all(
      ['bridges?network_id=0', 'bridges?network_id=1', 'claims?network_id=1'].map(async (path) => {
        const response = await fetch(`${serviceUrl}/bridge/v1/${path}`)
        return ((await response.json()) as { pagination: { total: number } }).pagination.total
      }),
    )
  const start = await counts()
  await until(counts, (now) => now.every((count, i) => count > start[i]! + 1), 'more deposits and claims')
  assert.deepEqual(await demo.bds.kill('SIGTERM'), { code: 0, signal: null })
  assert.deepEqual(demo.bds.stderr, [])
  await assertNothingLeft(demo)
})

test('kill -9 of the devnet leaves no process and no folder, and the next start gets the same ports', async (t) => {
  const ports = ['--port', String(await freePort()), '--ops-port', String(await freePort())]
  const demo = await startDemo(t, [], ports)
  // The guard of the chains holds the same standard error, so `exited` waits for both processes.
  await demo.bds.kill('SIGKILL')
  await assertNothingLeft(demo)

  const next = await startDemo(t, [], ports)
  assert.equal(next.description.serviceUrl, demo.description.serviceUrl)
  assert.deepEqual(await next.bds.kill('SIGINT'), { code: 0, signal: null })
  await assertNothingLeft(next)
})

test('with --end-with-parent, kill -9 of the parent process leaves no process and no folder of the devnet', async (t) => {
  const tmpdir = tempFolder(t)
  // The command is not the last of the line, so the shell stays and is its parent.
  const shell = ['/bin/sh', '-c', '"$@"; exit 1', 'sh']
  const bds = startBds(t, ['start', ...anyPorts, '--end-with-parent'], { TMPDIR: tmpdir }, shell)
  await bds.line(lastLine)
  const [folder] = readdirSync(tmpdir)
  const description = JSON.parse(readFileSync(join(tmpdir, folder!, 'devnet.json'), 'utf8')) as RunningDevnet
  // Resolves only when every process that holds its output has ended.
  await bds.kill('SIGKILL')
  await assertNothingLeft({ bds, tmpdir, text: '', description })
})
