import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { type ServiceProcess, startBds, startService } from '../../support/serviceProcess.js'
import { inStep, sendersKnown, serveWorld } from '../../support/serviceWorld.js'

async function bds(context: TestContext, ...args: string[]) {
  const { exited, stdout, stderr } = startBds(context, args)
  const { code } = await exited
  return { code, stdout, stderr: stderr.join('\n') }
}

type Row = Readonly<Record<string, unknown>>

/** What the API answers, oldest first, page by page. */
async function asked(service: ServiceProcess, path: string, field: string, filter: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const answer = await service.read<Record<string, Row[]> & { pagination: { next_cursor: string | null } }>(
      `/bridge/v1/${path}?order=asc&page_size=3&${filter}${cursor}`,
    )
    rows.push(...answer[field]!)
    if (answer.pagination.next_cursor === null) return rows
    cursor = `&cursor=${answer.pagination.next_cursor}`
  }
}

test('an export has the records of the API, with each of its filters, while the service runs and after it', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const service = await startService(t, file)
  await inStep(service, world)
  await sendersKnown(service)
  const all = await asked(service, 'bridges', 'bridges', 'network_id=0')
  const some = all[1]!
  const claims = await asked(service, 'claims', 'claims', 'network_id=1')
  const filters: [list: string, field: string, filter: Readonly<Record<string, unknown>>][] = [
    ['bridges', 'bridges', { network_id: 0 }],
    ['bridges', 'bridges', { network_id: 1 }],
    ['bridges', 'bridges', { network_id: 0, ready_for_claim: true }],
    ['bridges', 'bridges', { network_id: 0, ready_for_claim: false }],
    ['bridges', 'bridges', { network_id: 0, claimed: true, leaf_type: 0 }],
    ['bridges', 'bridges', { network_id: 0, network_ids: '1,2', from_block: some.block_number }],
    [
      'bridges',
      'bridges',
      { network_id: 0, to_block: some.block_number, to_timestamp: some.block_timestamp },
    ],
    ['bridges', 'bridges', { network_id: 0, from_timestamp: some.block_timestamp }],
    ['bridges', 'bridges', { network_id: 0, deposit_count: '0,2' }],
    ['bridges', 'bridges', { network_id: 0, tx_hash: some.tx_hash }],
    ['bridges', 'bridges', { network_id: 0, from_address: some.tx_sender }],
    ['bridges', 'bridges', { network_id: 0, to_address: some.destination_address }],
    ['claims', 'claims', { network_id: 1 }],
    ['claims', 'claims', { network_id: 1, global_index: claims[0]!.global_index }],
    ['claims', 'claims', { network_id: 1, network_ids: 0, from_address: claims[0]!.from_address }],
    ['token-mappings', 'token_mappings', {}],
    ['token-mappings', 'token_mappings', { network_id: 1, token_network: 0 }],
  ]
  const expected: Row[][] = []
  for (const [list, field, filter] of filters)
    expected.push(
      await asked(service, list, field, new URLSearchParams(filter as Record<string, string>).toString()),
    )
  assert.ok(expected.filter((rows) => rows.length > 0).length > 10)
  const compare = async () => {
    for (const [at, [list, , filter]] of filters.entries()) {
      const flags = Object.entries(filter).map(([name, value]) => `--${name.replaceAll('_', '-')}=${value}`)
      const { code, stdout, stderr } = await bds(t, 'export', list, '--config', file, ...flags)
      assert.equal(code, 0, stderr)
      assert.deepEqual(
        stdout.map((line) => JSON.parse(line) as Row),
        expected[at],
        `${list} ${flags.join(' ')}`,
      )
    }
  }
  await compare()
  const networks = await Promise.all(
    world.networkIds.map((networkId) => asked(service, 'bridges', 'bridges', `network_id=${networkId}`)),
  )
  await service.kill('SIGTERM')
  const everything = await bds(t, 'export', 'bridges', '--config', file)
  assert.deepEqual(
    everything.stdout.map((line) => JSON.parse(line) as Row),
    networks.flat(),
  )
  const newest = await bds(t, 'export', 'bridges', '--config', file, '--network-id', '0', '--order', 'desc')
  assert.deepEqual(newest.stdout.map((line) => JSON.parse(line) as Row).reverse(), all)

  const csv = join(dirname(file), 'claims.csv')
  const written = await bds(
    t,
    'export',
    'claims',
    '--config',
    file,
    '--network-id=1',
    '--format=csv',
    `--out=${csv}`,
  )
  assert.deepEqual(
    [written.code, written.stdout],
    [0, [`${claims.length} records in ${csv}`]],
    written.stderr,
  )
  const [head, ...lines] = readFileSync(csv, 'utf8').trimEnd().split('\r\n')
  const names = head!.split(',')
  assert.deepEqual(
    lines.map((line) => line.split(',')),
    claims.map((claim) => names.map((name) => String(claim[name] ?? ''))),
  )
})

test('what the API refuses is a usage error in its words, and a failed export leaves no file', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const cases: [args: string[], message: RegExp][] = [
    [[], /^bds: expected bds export bridges, claims, token-mappings\n/],
    [['bridges', '--network-id', '9'], /^bds: Network ID 9 is not supported\n/],
    [
      ['bridges', '--from-address', '0x1'],
      /^bds: from_address "?0x1"? is not 0x followed by 40 hexadecimal digits\n/,
    ],
    [['claims', '--leaf-type', '0'], /^bds: --leaf-type is a filter of bridges only\n/],
    [['bridges', '--format', 'xml'], /^bds: --format xml is not ndjson or csv\n/],
    [
      ['bridges', '--form-address', '0x1'],
      /^bds: unknown flag --form-address: did you mean --from-address\?\n/,
    ],
  ]
  for (const [args, message] of cases) {
    const { code, stderr } = await bds(t, 'export', '--config', file, ...args)
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  const out = join(dirname(file), 'bridges.ndjson')
  const none = await bds(t, 'export', 'bridges', '--config', file, '--out', out)
  assert.equal(none.code, 4, none.stderr)
  assert.match(none.stderr, /^bds: \S+ holds no data$/)
  assert.deepEqual([existsSync(out), existsSync(`${out}.partial`)], [false, false])
})
