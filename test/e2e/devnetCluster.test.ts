import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { skipWithout } from '../support/installedProgram.js'
import { startBds } from '../support/serviceProcess.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'

const anyPorts = ['--port', '0', '--ops-port', '0']

interface Bridges {
  readonly pagination: { readonly total: number }
}

async function answer(url: string, path: string): Promise<unknown> {
  return (await fetch(`${url}/bridge/v1/${path}`)).json()
}

test('the devnet has three instances with the same answers; the one that leads is killed and those left go on with new deposits; nothing is left of it', {
  skip: skipWithout('nats-server'),
  timeout: 180_000,
}, async (t) => {
  const tmpdir = tempFolder(t)
  const bds = startBds(t, ['start', '--cluster', ...anyPorts, '--round-ms', '500'], { TMPDIR: tmpdir })
  await bds.line(/^Ctrl-C stops everything/)
  const text = bds.stdout.join('\n')
  const urls = [...text.matchAll(/^ {2}(http:\S+)\/explorer/gm)].map(([, url]) => url!)
  const pids = [...text.matchAll(/^ {2}kill -9 (\d+)$/gm)].map(([, pid]) => Number(pid))
  assert.deepEqual([urls.length, pids.length], [3, 2], text)
  // The one deposit that is claimed in the scenario does not change any more.
  const path = 'bridge-status?network_id=1&deposit_count=0'
  const first = await answer(urls[0]!, path)
  for (const url of urls)
    await until(
      () => answer(url, path),
      (found) => JSON.stringify(found) === JSON.stringify(first),
      `${url} gives the same answer`,
    )

  process.kill(pids[0]!, 'SIGKILL')
  await bds.line(/^the second instance ended: SIGKILL.*Those that are left go on\.$/)
  const totals = async (): Promise<number[]> =>
    Promise.all(
      [urls[0]!, urls[2]!].map(
        async (url) => ((await answer(url, 'bridges?network_id=1')) as Bridges).pagination.total,
      ),
    )
  const before = await totals()
  await until(totals, (now) => now.every((total, at) => total > before[at]!), 'new deposits', 60_000)
  assert.deepEqual(await bds.kill('SIGINT'), { code: 0, signal: null })
  assert.deepEqual(readdirSync(tmpdir), [])
})

test('without nats-server on PATH the cluster is refused in one line that tells how to get it, and nothing is left', async (t) => {
  const tmpdir = tempFolder(t)
  const empty = tempFolder(t)
  const bds = startBds(t, ['start', '--cluster', ...anyPorts], { TMPDIR: tmpdir, PATH: empty })
  assert.deepEqual(await bds.exited, { code: 1, signal: null })
  assert.equal(bds.stderr.length, 1)
  assert.match(bds.stderr[0]!, /^bds: .*needs nats-server on PATH.*apt-get install nats-server/)
  assert.deepEqual(readdirSync(tmpdir), [])
})
