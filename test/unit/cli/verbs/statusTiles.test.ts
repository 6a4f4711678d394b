import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BlockRates, renderTiles, type StatusView } from '../../../../src/cli/verbs/statusTiles.js'
import type { NetworkSyncRecord } from '../../../../src/query/healthRecords.js'

const BEHIND: NetworkSyncRecord = {
  network_id: 1,
  current_block: 19_234_567,
  synced_block: 19_200_000,
  is_synced: false,
  finalized_block: 19_234_500,
  lag_seconds: 7_200,
  head_age_seconds: 12,
  halted: null,
  contract_deposit_count: 1_234,
  contracts_compared: true,
  indexed_deposit_count: 1_200,
  indexed_claim_count: 3,
  unresolved_senders: 0,
  endpoints: [
    { endpoint: '1-a', in_use: true, resting: null },
    { endpoint: '1-b', in_use: false, resting: 'timeout' },
  ],
  reasons: ['syncing'],
}

const VIEW: StatusView = {
  origin: 'http://127.0.0.1:5577',
  networks: [BEHIND],
  startBlocks: new Map([[1, 19_165_433]]),
  rates: new Map([[1, 100]]),
  aliases: new Map([['1-a', 'own']]),
}

test('a tile shows head, indexed, lag, rate, time left and how much of the range from start_block is done', () => {
  // 34,567 blocks of 69,134 are left: half of them; at 100 a second they take 346 s.
  assert.deepEqual(renderTiles(VIEW, 80), [
    'http://127.0.0.1:5577  0 of 1 networks in sync',
    '┌─ network 1 ────────────────────────────────┐',
    '│ state     syncing                          │',
    '│ head      19,234,567                       │',
    '│ indexed   19,200,000                       │',
    '│ final     19,234,500                       │',
    '│ lag       34,567 blocks, 2 h 0 min         │',
    '│ rate      100 blocks/s, 6 min left         │',
    '│ deposits  1,200, on chain 1,234            │',
    '│ claims    3                                │',
    '│ senders   all known                        │',
    '│ endpoint  1-a (own); 1 of 2 resting        │',
    '│ progress  ████████████░░░░░░░░░░░░  50 %   │',
    '└────────────────────────────────────────────┘',
  ])
})

const rowOf = (view: StatusView, label: string): string | undefined =>
  renderTiles(view, 80)
    .find((line) => line.startsWith(`│ ${label} `))
    ?.slice(12, -1)
    .trim()

test('without a head no head, lag and progress are shown, and no network says that it is in sync', () => {
  const dead = {
    ...BEHIND,
    current_block: 0,
    synced_block: 0,
    lag_seconds: null,
    head_age_seconds: null,
    finalized_block: null,
  }
  const view = { ...VIEW, networks: [dead], rates: new Map([[1, 0]]) }
  assert.deepEqual(
    ['state', 'head', 'lag', 'rate', 'progress'].map((label) => rowOf(view, label)),
    ['waiting for its first head', '-', '-', '0.0 blocks/s', '-'],
  )
  const cutOff = { ...view, networks: [{ ...dead, reasons: ['rpc', 'syncing'] as const }] }
  assert.deepEqual([rowOf(cutOff, 'state'), rowOf(cutOff, 'lag')], ['rpc: no endpoint answers', '-'])
})

test('while the service is silent its last answer is shown as such, and no state of it', () => {
  const view = { ...VIEW, fault: { text: 'does not answer', forSec: 90 } }
  assert.equal(
    renderTiles(view, 80)[0],
    'http://127.0.0.1:5577  does not answer (for 2 min); what it told last:',
  )
  assert.deepEqual([rowOf(view, 'state'), rowOf(view, 'endpoint')], ['unknown', '-'])
  assert.deepEqual(renderTiles({ ...view, networks: [] }, 80), [
    'http://127.0.0.1:5577  does not answer (for 2 min)',
  ])
})

test('as many tiles stand beside each other as the terminal is wide', () => {
  const networks = [0, 1, 2].map((network_id) => ({ ...BEHIND, network_id }))
  for (const [columns, perRow] of [
    [40, 1],
    [92, 1],
    [93, 2],
    [140, 3],
  ] as const) {
    const lines = renderTiles({ ...VIEW, networks }, columns)
    assert.equal(
      lines.filter((line) => line.includes('─ network')).length,
      Math.ceil(3 / perRow),
      String(columns),
    )
    assert.ok(
      lines.slice(1).every((line) => line.length <= Math.max(columns, 46)),
      String(columns),
    )
  }
})

test('what another server answers moves no cursor and breaks no tile', () => {
  const reasons = ['\u001b[2J\n\u009b31m'] as unknown as NonNullable<NetworkSyncRecord['reasons']>
  const lines = renderTiles({ ...VIEW, networks: [{ ...BEHIND, reasons }] }, 80)
  assert.equal(lines.length, 14)
  assert.doesNotMatch(lines.join(''), /\p{Cc}/u)
})

test('a rate is that of the last half minute, and none where blocks were taken back', () => {
  const rates = new BlockRates()
  const at = (synced_block: number) => [{ ...BEHIND, synced_block }]
  rates.add(at(100), 0)
  assert.equal(rates.rates().get(1), undefined)
  rates.add(at(200), 10_000)
  assert.equal(rates.rates().get(1), 10)
  rates.add(at(1_200), 35_000)
  assert.equal(rates.rates().get(1), 40, 'the first sample is forgotten: 1,000 blocks in 25 s')
  rates.add(at(50), 40_000)
  assert.equal(rates.rates().get(1), undefined)
})
