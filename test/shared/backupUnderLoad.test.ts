import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import type { SyncStatusRecord } from '../../src/query/healthRecords.js'
import { type ServiceProcess, startBds, startService } from '../support/serviceProcess.js'
import { sharedPath } from '../support/sharedFolder.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'
import type { ReplayNetwork } from './replayServer.js'

/** Bridges of the chains: `BDS_TEST_BRIDGES=1000000` for the figures in docs/operations.md. */
const BRIDGES = Number(process.env.BDS_TEST_BRIDGES ?? 6_000)
const CLIENTS = 8
/** Blocks of the L1 that come per second while the backup is made. */
const BLOCKS_PER_SECOND = 100
/** Reading a million and comparing every claim takes minutes where others work, too. */
const LONGEST_MS = 60 * 60_000
const LOOK_MS = BRIDGES / 1_000
const LISTS = ['bridges', 'claims', 'token-mappings'] as const

interface SyntheticChain {
  readonly networks: readonly (ReplayNetwork & { readonly lastBlock: number })[]
  setHead(order: object): Promise<void>
}

/** Chains with `BRIDGES` bridges between an L1 and two L2s, as a process of their own. */
async function startChain(t: TestContext): Promise<SyntheticChain> {
  const args = [sharedPath('replay/synth-rpc.mjs'), '--bridges', String(BRIDGES), '--port', '0']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => void child.kill())
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`the chains ended with ${code}`)))
  })
  const { networks, control } = JSON.parse(line) as {
    networks: Record<string, SyntheticChain['networks'][number]>
    control: string
  }
  return {
    networks: Object.values(networks),
    async setHead(order) {
      const { status } = await fetch(`${control}/head`, { method: 'POST', body: JSON.stringify(order) })
      assert.equal(status, 200)
    },
  }
}

function configFile(folder: string, name: string, { networks }: SyntheticChain): string {
  const file = join(folder, `${name}.toml`)
  const lines = [
    `data_dir = "${join(folder, name)}"`,
    '[http]\nport = 0\ndrain_delay_ms = 0',
    '[ops]\nport = 0',
    ...networks.flatMap(({ networkId, chainId, rpc, bridge, globalExitRootManager, rollupManager }) => [
      '[[networks]]',
      `network_id = ${networkId}\nchain_id = ${chainId}\nrpc = ["${rpc}"]\nbridge = "${bridge}"`,
      `global_exit_root_manager = "${globalExitRootManager}"\nstart_block = 1\npoll_interval_ms = 100`,
      ...(rollupManager === undefined ? [] : [`rollup_manager = "${rollupManager}"`]),
    ]),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/** Waits until all that the chains have at their heads is stored, with senders. */
async function untilStored(service: ServiceProcess, headOf: (networkId: number) => number) {
  await until(
    () => service.read<SyncStatusRecord>('/bridge/v1/sync-status'),
    ({ networks }) => networks.every(({ network_id, synced_block }) => synced_block === headOf(network_id)),
    'every network at its head',
    LONGEST_MS,
    LOOK_MS,
  )
  await until(
    () => metrics(service),
    (text) => {
      const open = numbersOf(text, 'bds_(?:unresolved|provisional|unknown)_senders')
      return open.length >= 3 && open.every((count) => count === 0)
    },
    'every sender known',
    LONGEST_MS,
    LOOK_MS,
  )
}

/** Empty when a busy machine has let the connection run out. @throws when the service has ended. */
async function metrics({ opsUrl, child }: ServiceProcess): Promise<string> {
  try {
    return await (await fetch(`${opsUrl}/metrics`)).text()
  } catch (error) {
    if (child.exitCode !== null || child.signalCode !== null) throw error
    return ''
  }
}

function numbersOf(text: string, name: string): number[] {
  return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
    Number(value),
  )
}

/** What many clients ask for all the time: points, pages and proofs all over the store. */
async function ask(service: ServiceProcess, at: number): Promise<number> {
  const deposit = `network_id=${at % 3}&deposit_count=${(at * 7_919) % Math.floor(BRIDGES / 4)}`
  const path = [
    `bridges?${deposit}`,
    `bridges?network_id=${at % 3}&page_size=100&page_number=${1 + (at % 50)}`,
    `claim-proof?${deposit}&leaf_index=10`,
    `l1-info-tree-index?${deposit}`,
  ][at % 4]!
  return (await service.get(`/bridge/v1/${path}`)).status
}

/** SHA-256 of each list as `bds export` writes it: every record, with the sender, the claim and whether it is ready. */
async function exported(t: TestContext, file: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const list of LISTS) {
    const { child, exited, stderr } = startBds(t, ['export', list, '--config', file])
    const digest = createHash('sha256')
    child.stdout!.on('data', (bytes: Buffer) => digest.update(bytes))
    assert.equal((await exited).code, 0, stderr.join('\n'))
    digests[list] = digest.digest('hex')
  }
  return digests
}

/** Proofs and pages all over the store, as they are answered. */
async function answersOf(service: ServiceProcess, networks: readonly ReplayNetwork[]): Promise<unknown[]> {
  const answers: unknown[] = []
  const keep = async (path: string) => {
    const { status, body } = await service.get(`/bridge/v1/${path}`)
    answers.push([path, status, body])
    return body
  }
  for (const { networkId } of networks) {
    const newest = await keep(`bridges?network_id=${networkId}&page_size=1000`)
    const [{ deposit_count: last }] = (newest as { bridges: [{ deposit_count: number }] }).bridges
    await keep(`claims?network_id=${networkId}&page_size=1000`)
    for (let count = 0; count < 100; count++) {
      const deposit = `network_id=${networkId}&deposit_count=${Math.floor((last * count) / 99)}`
      const leaf = (await keep(`l1-info-tree-index?${deposit}`)) as { l1_info_tree_index?: number }
      await keep(`claim-proof?${deposit}&leaf_index=${leaf.l1_info_tree_index ?? 0}`)
    }
  }
  return answers
}

async function bds(t: TestContext, args: string[]): Promise<{ stdout: string; seconds: number }> {
  const started = performance.now()
  const { exited, stdout, stderr } = startBds(t, args)
  assert.equal((await exited).code, 0, stderr.join('\n'))
  return { stdout: stdout.join('\n'), seconds: (performance.now() - started) / 1_000 }
}

test('a backup made while a service follows its chains and answers many clients is restored elsewhere, passes verify --deep, and goes on to the same answers', async (t) => {
  const folder = tempFolder(t)
  const chain = await startChain(t)
  const begin = Math.floor(chain.networks[0]!.lastBlock * 0.9) - 600
  const at = (networkId: number, tick: number) => (networkId === 0 ? tick : 2 * tick)
  for (const { networkId: network } of chain.networks)
    await chain.setHead({ network, to: at(network, begin) })
  const file = configFile(folder, 'live', chain)
  const live = await startService(t, file)
  await untilStored(live, (networkId) => at(networkId, begin))

  for (const { networkId: network } of chain.networks)
    await chain.setHead({ network, rate: at(network, BLOCKS_PER_SECOND) })
  const load = { isOver: false, asked: 0, refused: 0, oldestReader: 0 }
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let count = client; !load.isOver; count += CLIENTS) {
      const status = await ask(live, count)
      load.asked++
      if (status >= 500) load.refused++
      if (count % 64 === 0) {
        const ages = numbersOf(await metrics(live), 'bds_lmdb_oldest_reader_transactions')
        load.oldestReader = Math.max(load.oldestReader, ...ages)
      }
    }
  })
  const blockOf = async (networkId: number): Promise<number> => {
    const { networks } = await live.read<SyncStatusRecord>('/bridge/v1/sync-status')
    return networks.find(({ network_id }) => network_id === networkId)!.synced_block!
  }
  for (const { networkId } of chain.networks)
    await until(
      () => blockOf(networkId),
      (block) => block > at(networkId, begin),
      `network ${networkId} is written`,
    )
  const backup = join(folder, 'backup')
  const made = await bds(t, ['backup', '--config', file, '--to', backup, '--json'])
  const { networks: copies } = JSON.parse(made.stdout) as {
    networks: {
      network_id: number
      block: { number: number }
      deposits: number
      bytes: number
      stored_bytes: number
    }[]
  }
  for (const { network_id, block } of copies) {
    assert.ok(block.number > at(network_id, begin), `network ${network_id} was written before its copy`)
    await until(
      () => blockOf(network_id),
      (synced) => synced > block.number,
      `network ${network_id} is written after its copy`,
    )
  }
  load.isOver = true
  await Promise.all(clients)
  assert.equal(load.refused, 0)

  const copyFile = configFile(folder, 'copy', chain)
  const restored = await bds(t, ['restore', '--config', copyFile, '--from', backup])
  const verified = await bds(t, ['verify', '--config', copyFile, '--deep'])
  assert.equal(verified.stdout.split('\n').at(-1), 'no damage found')

  for (const { networkId: network, lastBlock: to } of chain.networks) {
    await chain.setHead({ network, rate: 0 })
    await chain.setHead({ network, to })
  }
  const copy = await startService(t, copyFile)
  const lastOf = (networkId: number) => chain.networks[networkId]!.lastBlock
  for (const service of [live, copy]) await untilStored(service, lastOf)
  assert.deepEqual(await answersOf(copy, chain.networks), await answersOf(live, chain.networks))
  assert.deepEqual(await exported(t, copyFile), await exported(t, file))
  const mib = (bytes: readonly number[]) => Math.round(bytes.reduce((sum, part) => sum + part, 0) / 2 ** 20)
  t.diagnostic(
    JSON.stringify({
      deposits: copies.reduce((sum, { deposits }) => sum + deposits, 0),
      backupSeconds: Math.round(made.seconds),
      storeMib: mib(copies.map(({ bytes }) => bytes)),
      backupMib: mib(copies.map(({ stored_bytes }) => stored_bytes)),
      oldestReaderCommits: load.oldestReader,
      answersMeanwhile: load.asked,
      restoreSeconds: Math.round(restored.seconds),
      verifyDeepSeconds: Math.round(verified.seconds),
    }),
  )
})
