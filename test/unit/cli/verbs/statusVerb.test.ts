import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderStatus } from '../../../../src/cli/verbs/statusVerb.js'
import type { NetworkSyncRecord } from '../../../../src/query/healthRecords.js'

const IN_STEP: NetworkSyncRecord = {
  network_id: 1,
  current_block: 100,
  synced_block: 100,
  is_synced: true,
  finalized_block: 90,
  lag_seconds: 0,
  head_age_seconds: 12,
  halted: null,
  contract_deposit_count: 5,
  contracts_compared: true,
  indexed_deposit_count: 5,
  indexed_claim_count: 3,
  unresolved_senders: 0,
  endpoints: [],
}

const stateOf = (change: Partial<NetworkSyncRecord>): string =>
  renderStatus([{ ...IN_STEP, ...change }])
    .split('\n')[1]!
    .split(/ {2,}/)
    .at(-1)!

test('the state of a network names its fault, and says syncing only when there is no fault', () => {
  const outOfSync = { is_synced: false } as const
  assert.equal(stateOf({}), 'in sync')
  assert.equal(stateOf(outOfSync), 'syncing')
  assert.equal(stateOf({ ...outOfSync, reasons: ['syncing'] }), 'syncing')
  assert.equal(stateOf({ ...outOfSync, reasons: ['rpc', 'syncing'] }), 'rpc: no endpoint answers')
  assert.equal(stateOf({ ...outOfSync, reasons: ['behind'] }), 'behind: the head is below what is indexed')
  assert.equal(stateOf({ reasons: ['stalled'] }), 'in sync; stalled: no new block comes')
  const halted = { ...outOfSync, halted: 'missing_log', reasons: ['halted', 'rpc'] } as const
  assert.equal(stateOf(halted), 'halted: missing_log; rpc: no endpoint answers')
  assert.equal(stateOf({ ...outOfSync, halted: 'disk_full', reasons: ['disk'] }), 'halted: disk_full')
})

test('no lag is shown while the head is unknown', () => {
  const cells = (change: Partial<NetworkSyncRecord>) => {
    const [titles, row] = renderStatus([{ ...IN_STEP, ...change }]).split('\n')
    const at = titles!.indexOf(' lag') + ' lag'.length
    return row!.slice(at - 4, at).trim()
  }
  assert.equal(cells({ synced_block: 98 }), '2')
  assert.equal(cells({ is_synced: false, reasons: ['rpc'] }), '-')
})

test('endpoints stand below the networks, with what the operator calls them, and a service that tells none has none', () => {
  const endpoints = [
    { endpoint: '1-a', in_use: true, resting: 'rateLimit' },
    { endpoint: '1-b', in_use: false, resting: 'timeout' },
    { endpoint: '1-c', in_use: false, resting: null },
    { endpoint: '1-\u001b[2J', in_use: true, resting: null },
  ]
  const [, below] = renderStatus([{ ...IN_STEP, endpoints }], new Map([['1-b', 'spare node']])).split('\n\n')
  assert.deepEqual(below?.split('\n'), [
    '        endpoint  state',
    '             1-a  in use; resting: rateLimit',
    '1-b (spare node)  resting: timeout',
    '             1-c  stands by',
    '     1-\\u001b[2J  in use',
  ])
  const { endpoints: _, ...earlier } = IN_STEP
  assert.equal(renderStatus([earlier as NetworkSyncRecord]).split('\n').length, 2)
})

test('what another server answers moves no cursor and begins no line', () => {
  // As any server may send it: a cleared screen, a C1 control, a text shown backwards, a line of its own.
  const reasons = ['\u001b[2J', '\u009b31m', '\u202egnp', 'a\nb'] as unknown as NetworkSyncRecord['reasons']
  const table = renderStatus([{ ...IN_STEP, reasons: reasons! }])
  assert.equal(table.split('\n').length, 2)
  assert.doesNotMatch(table.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u)
  assert.ok(table.endsWith('in sync; \\u001b[2J; \\u009b31m; \\u202egnp; a\\u000ab'), table)
})
