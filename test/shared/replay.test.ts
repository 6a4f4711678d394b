import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ServiceProcess, startService } from '../support/serviceProcess.js'
import type { SyncStatus } from '../support/serviceWorld.js'
import { sharedPath } from '../support/sharedFolder.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'
import { checkAnswers } from './checkAnswers.js'
import { compareStatuses } from './compareStatuses.js'
import { servePerTransaction } from './perTransactionProxy.js'
import { type Replay, type ReplayNetwork, startReplay } from './replayServer.js'

interface PlacedRow {
  readonly deposit_count: number
  readonly log_index: number
  readonly tx_hash: string
}

interface Recorded {
  readonly replay: Replay
  readonly service: ServiceProcess
}

/**
 * A recorded set on free ports, and the real process that indexes it.
 * @param through a proxy before each node.
 */
async function serveRecorded(
  t: TestContext,
  set: string,
  head = 'all',
  through: (rpc: string) => string | Promise<string> = (rpc) => rpc,
): Promise<Recorded> {
  const replay = await startReplay(set, { head })
  t.after(() => replay.close())
  const folder = tempFolder(t)
  const file = join(folder, 'bds.toml')
  const networks: ReplayNetwork[] = []
  for (const network of Object.values(replay.info.networks))
    networks.push({ ...network, rpc: await through(network.rpc) })
  writeFileSync(file, tomlOf(join(folder, 'data'), networks))
  return { replay, service: await startService(t, file) }
}

function tomlOf(dataDir: string, networks: readonly ReplayNetwork[]): string {
  const tables = networks.map(
    (network) => `
[[networks]]
network_id = ${network.networkId}
chain_id = ${network.chainId}
rpc = ["${network.rpc}"]
bridge = "${network.bridge}"
global_exit_root_manager = "${network.globalExitRootManager}"
${network.rollupManager === undefined ? '' : `rollup_manager = "${network.rollupManager}"`}
start_block = ${network.startBlock}
finality = "latest"
`,
  )
  const head = `data_dir = "${dataDir}"\nprimary_network = 1\n[http]\nport = 0\n[ops]\nport = 0\n[pool]\nworkers = 1\n`
  return head + tables.join('')
}

/** Runs the checker as a process of its own, which must find no fault. */
async function assertRight({ replay, service }: Recorded, set: string, step: string): Promise<void> {
  const of = [
    '--service',
    service.url,
    '--set',
    sharedPath('replay', 'sets', set),
    '--wait',
    '60',
    '--strict',
  ]
  const { code, output } = await checkAnswers([...of, '--expected', replay.info.control])
  assert.equal(code, 0, `${step}:\n${output}\n${service.stderr.slice(-20).join('\n')}`)
  assert.match(output, /^[1-9]\d* passed, 0 failed$/m, step)
  assert.ok((await compareStatuses(service, replay.info, step)) > 0, step)
}

/** Moves the heads of the recorded chains and waits until every network of the service has reached its own. */
async function command(recorded: Recorded, path: string, body: object): Promise<void> {
  const { control } = recorded.replay.info
  const answer = await fetch(control + path, { method: 'POST', body: JSON.stringify(body) })
  assert.equal(answer.status, 200, `${path} ${JSON.stringify(body)}`)
  await inStep(recorded, `${path} ${JSON.stringify(body)}`)
}

/** Waits until every network whose chain has reached `start_block` is synced: before that nothing is ready on it. */
async function inStep({ replay, service }: Recorded, step: string): Promise<void> {
  const heads = (await (await fetch(`${replay.info.control}/state`)).json()) as {
    networks: Readonly<Record<string, { head: number }>>
  }
  await until(
    () => service.read<SyncStatus>('/bridge/v1/sync-status'),
    ({ networks }) =>
      networks.every(({ network_id, is_synced, synced_block }) => {
        const { head } = heads.networks[network_id]!
        return head < replay.info.networks[network_id]!.startBlock || (is_synced && synced_block === head)
      }),
    `every network at its head: ${step}`,
    60_000,
  )
}

for (const set of ['base', 'v12-v9-legacy', 'multi'])
  test(`every answer about the recorded chains of ${set} is right`, async (t) => {
    const recorded = await serveRecorded(t, set)
    await inStep(recorded, 'the whole history')
    const files = ['--service', recorded.service.url, '--set', sharedPath('replay', 'sets', set)]
    const { code, output } = await checkAnswers([...files, '--wait', '60', '--strict'])
    assert.equal(code, 0, `${output}\n${recorded.service.stderr.slice(-20).join('\n')}`)
    assert.match(output, /^[1-9]\d* passed, 0 failed$/m)
    const statuses = await compareStatuses(recorded.service, recorded.replay.info, 'the whole history')
    assert.ok(statuses > 15, `${statuses} statuses`)
    assert.deepEqual(await recorded.service.kill('SIGINT'), { code: 0, signal: null })
  })

test('every answer is right from nodes that number logs per transaction, and log positions are by transaction', async (t) => {
  const recorded = await serveRecorded(t, 'multi', 'all', (rpc) => servePerTransaction(t, rpc))
  await inStep(recorded, 'the whole history')
  const files = ['--service', recorded.service.url, '--set', sharedPath('replay', 'sets', 'multi')]
  const { code, output } = await checkAnswers([...files, '--wait', '60', '--strict'])
  assert.equal(code, 0, `${output}\n${recorded.service.stderr.slice(-20).join('\n')}`)
  const { expected } = recorded.replay.set
  for (const networkId of [0, 1, 2]) {
    const { bridges } = await recorded.service.read<{ bridges: readonly PlacedRow[] }>(
      `/bridge/v1/bridges?network_id=${networkId}&page_size=1000&order=asc`,
    )
    let isPlaced = false
    for (const { deposit_count, tx_hash, log_index } of bridges) {
      const known = expected.bridges.find(
        (bridge) =>
          bridge.sourceNetwork === networkId &&
          bridge.txHash === tx_hash &&
          bridge.depositCount === deposit_count,
      )
      // The transaction is all that identifies a leaf of ForwardLET.
      if (known === undefined) continue
      const receipt = await readReceipt(recorded.replay.info.networks[networkId]!.rpc, tx_hash)
      const told = known.logIndex - Number(receipt.logs[0]!.logIndex)
      const place = Number(receipt.transactionIndex) * 65_536 + told
      isPlaced ||= log_index !== told
      assert.equal(log_index, isPlaced ? place : told, `deposit ${deposit_count} of network ${networkId}`)
    }
    assert.ok(isPlaced, `network ${networkId}`)
  }
})

interface Receipt {
  readonly transactionIndex: string
  readonly logs: readonly { readonly logIndex: string }[]
}

async function readReceipt(rpc: string, hash: string): Promise<Receipt> {
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(rpc, { method: 'POST', body: JSON.stringify(call), headers })
  return ((await answer.json()) as { readonly result: Receipt }).result
}

/** The heads at first, and the layer 2 that is reorganised: in `multi` its exit tree is cut as well. */
const growing = [
  { set: 'base', head: 'step:40', network: 2, depth: 4 },
  { set: 'multi', head: 'step:98', network: 1, depth: 7 },
]
for (const { set, head, network, depth } of growing)
  test(`every answer stays right while the recorded chains of ${set} grow and are reorganised`, async (t) => {
    const recorded = await serveRecorded(t, set, head)
    await inStep(recorded, 'in the middle of the history')
    await assertRight(recorded, set, 'in the middle of the history')
    const steps: [path: string, body: object][] = [
      ['/head', { advance: 30 }],
      ['/reorg', { network: 0, depth: 6, mode: 'drop', after: 'replay' }],
      ['/head', { advance: 10 }],
      ['/reorg', { network, depth, mode: 'shift', txHash: 'new' }],
      ['/reorg', { network: 0, depth: 8, mode: 'keep' }],
      ['/head', { to: 'all' }],
    ]
    for (const [path, body] of steps) {
      await command(recorded, path, body)
      await assertRight(recorded, set, `${path} ${JSON.stringify(body)}`)
    }
  })
