import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { compare } from '../../src/cli/compare/compareVerb.js'
import { serveFakeNetwork } from '../support/fakeEndpoint.js'
import { startDataWorld } from '../support/httpWorld.js'
import { fetchRaw } from '../support/rawHttp.js'
import { tempFolder } from '../support/tempFolder.js'

/* Our service beside another instance of it, in front of which stands a proxy that tells some things otherwise. */

// The verb reads its configuration from the environment as well, where settings of the tests are none of its own.
for (const name of Object.keys(process.env)) if (name.startsWith('BDS_TEST_')) delete process.env[name]

const world = await startDataWorld({ after })
const peer = await startDataWorld({ after })

interface Told {
  readonly status: number
  readonly body: string
}
type Change = (path: string, told: Told) => Told

const rpc = await Promise.all([0, 1, 2].map((id) => serveFakeNetwork(world.world.network(id))))
after(() => Promise.all(rpc.map(({ close }) => close())))

const file = join(tempFolder({ after }), 'bds.json')
writeFileSync(
  file,
  JSON.stringify({
    data_dir: './data',
    http: { host: '127.0.0.1', port: world.port },
    networks: [0, 1, 2].map((id) => {
      const { contracts, chainId } = world.world.network(id)
      return {
        network_id: id,
        chain_id: chainId,
        rpc: [rpc[id]!.url],
        bridge: contracts.bridge,
        global_exit_root_manager: contracts.globalExitRootManager,
        ...(id === 0 ? { rollup_manager: contracts.rollupManager } : {}),
        start_block: 0,
      }
    }),
  }),
)

async function startProxy(context: TestContext, change: Change): Promise<string> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const { status, body } = await fetchRaw(peer.port, 'GET', path)
    const told = change(path, { status, body })
    response.writeHead(told.status, { 'content-type': 'application/json' }).end(told.body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(context: TestContext, ...args: string[]): Promise<Outcome> {
  const out: string[] = []
  const err: string[] = []
  const log = context.mock.method(console, 'log', (text: string) => void out.push(text))
  const error = context.mock.method(console, 'error', (text: string) => void err.push(text))
  try {
    const code = await compare.run([...args, '--settle', '0'])
    return { code, out: out.join('\n'), err: err.join('\n') }
  } finally {
    log.mock.restore()
    error.mock.restore()
  }
}

interface Found {
  readonly what: string
  readonly field: string
  readonly ours: string | null
  readonly theirs: string | null
  readonly chain: string
}

/** What is found where the other service answers through `change`. */
async function compared(context: TestContext, dialect: string, change: Change, ...args: string[]) {
  const proxy = await startProxy(context, change)
  const outcome = await run(
    context,
    ...['--with', `${proxy}/${dialect}/`, '--dialect', dialect, '--config', file, '--json'],
    ...args,
  )
  return { ...outcome, ...(JSON.parse(outcome.out) as { compared: object; differences: Found[] }) }
}

const same: Change = (_, told) => told

/** Changes the JSON of what is asked below a path. */
const changing =
  (part: string, edit: (json: ReturnType<typeof JSON.parse>) => unknown): Change =>
  (path, { status, body }) =>
    path.includes(part) && status === 200
      ? { status, body: JSON.stringify(edit(JSON.parse(body))) }
      : { status, body }

const brief = ({ differences }: { differences: readonly Found[] }) =>
  differences.map(({ what, field, chain }) => `${what}: ${field}: ${chain}`)

for (const dialect of ['aggkit', 'zkevm', 'proof'])
  test(`${dialect}: two services that tell the same are equal, in every record and proof`, async (context) => {
    const { code, differences, compared: counted } = await compared(context, dialect, same)
    assert.deepEqual([code, differences], [0, []])
    const deposits = [0, 1, 2].flatMap((id) => world.world.network(id).deposits()).length
    assert.equal(new Map(Object.entries(counted)).get('bridges'), deposits)
    assert.ok(Object(counted).proofs >= 4)
  })

test('aggkit: rows that are missing, or in another order, are told, and whom the chain supports', async (context) => {
  const { depositCount } = world.ready
  const missing = await compared(
    context,
    'aggkit',
    changing('/bridges?network_id=0', ({ bridges, count }) => ({
      bridges: bridges.filter((row: { deposit_count: number }) => row.deposit_count !== depositCount),
      count: count - 1,
    })),
  )
  assert.equal(missing.code, 6)
  assert.deepEqual(brief(missing), [`bridge ${depositCount} of network 0: row: ours`])
  const turned = await compared(
    context,
    'aggkit',
    changing('/bridges?network_id=1&page', ({ bridges, count }) => ({ bridges: bridges.reverse(), count })),
  )
  assert.deepEqual(brief(turned), ['bridges of network 1: order: ours'])
})

test('aggkit: a claim that was never made, and a token that is not the one, are told by the contracts', async (context) => {
  const { ready } = world
  const invented = await compared(
    context,
    'aggkit',
    changing('/claims?network_id=1', ({ claims, count }) => ({
      claims: [{ ...claims[0], block_num: 9999, global_index: String(ready.globalIndex) }, ...claims],
      count: count + 1,
    })),
  )
  assert.deepEqual(brief(invented), [`claim of ${ready.globalIndex} on network 1: row: ours`])
  const other = `0x${'ab'.repeat(20)}`
  const { differences } = await compared(
    context,
    'aggkit',
    changing('/token-mappings?network_id=1', ({ token_mappings, count }) => ({
      token_mappings: token_mappings.map((row: object) => ({ ...row, wrapped_token_address: other })),
      count,
    })),
  )
  assert.deepEqual(
    differences.map(({ field, ours, theirs, chain }) => [field, ours, theirs, chain]),
    [
      ['row', 'is there', null, 'ours'],
      ['row', null, 'is there', 'ours'],
    ],
  )
})

test('aggkit: a field that differs is held against the receipt', async (context) => {
  const { depositCount } = world.ready
  const { differences } = await compared(
    context,
    'aggkit',
    changing('/bridges?network_id=0', ({ bridges, count }) => ({
      bridges: bridges.map((row: { deposit_count: number }) =>
        row.deposit_count === depositCount ? { ...row, amount: '4' } : row,
      ),
      count,
    })),
    '--sample',
    '0',
  )
  const [first, ...more] = differences
  assert.deepEqual([first?.field, first?.ours, first?.theirs, first?.chain], ['amount', '3', '4', 'ours'])
  assert.deepEqual(more, [])
})

test('aggkit: a proof with a wrong sibling is told, with the sibling, and is none that the chain supports', async (context) => {
  const { networkId, depositCount } = world.ready
  const wrong = `0x${'cd'.repeat(32)}`
  const found = await compared(
    context,
    'aggkit',
    changing(`/claim-proof?network_id=${networkId}&deposit_count=${depositCount}&`, (proof) => ({
      ...proof,
      proof_local_exit_root: proof.proof_local_exit_root.with(3, wrong),
    })),
  )
  assert.deepEqual(brief(found), [
    `bridge ${depositCount} of network ${networkId}: proof of the local exit root: ours`,
  ])
  assert.equal(found.differences[0]?.theirs, `3: ${wrong}`)
})

for (const dialect of ['zkevm', 'proof'])
  test(`${dialect}: a wrong sibling, and a bridge that is claimed without a claim, are told`, async (context) => {
    const { networkId, depositCount } = world.betweenRollups
    const [network, count] = dialect === 'zkevm' ? ['net_id', 'deposit_cnt'] : ['networkId', 'depositCount']
    const wrong = await compared(
      context,
      dialect,
      changing(`/merkle-proof?${network}=${networkId}&${count}=${depositCount}`, ({ proof }) => ({
        proof: { ...proof, rollup_merkle_proof: proof.rollup_merkle_proof.with(0, `0x${'cd'.repeat(32)}`) },
      })),
    )
    assert.equal(wrong.code, 6)
    assert.deepEqual(brief(wrong), [
      `bridge ${depositCount} of network ${networkId}: proof of the rollup exit root: ours`,
    ])
    const claimed = await compared(
      context,
      dialect,
      changing(`/bridge?net_id=${networkId}&deposit_cnt=${depositCount}`, ({ deposit }) => ({
        deposit: { ...deposit, claim_tx_hash: `0x${'ee'.repeat(32)}` },
      })),
    )
    assert.ok(brief(claimed).includes(`bridge ${depositCount} of network ${networkId}: claim_tx_hash: ours`))
  })

test('zkevm: a row that a list of a receiver lacks is told', async (context) => {
  const receiver = world.claimed.destinationAddress
  const found = await compared(
    context,
    'zkevm',
    changing(`/claims/${receiver}`, ({ total_cnt, claims }) => ({
      claims: claims.slice(1),
      total_cnt: String(total_cnt - 1),
    })),
    '--addresses',
    receiver,
  )
  assert.deepEqual(
    [...new Set(found.differences.map(({ field, chain }) => `${field}: ${chain}`))],
    ['row: ours'],
  )
})

test('without a configuration proofs are folded, and what only the chain knows is not decided', async (context) => {
  const { networkId, depositCount } = world.ready
  const proxy = await startProxy(
    context,
    changing(`/claim-proof?network_id=${networkId}&deposit_count=${depositCount}&`, (proof) => ({
      ...proof,
      proof_local_exit_root: proof.proof_local_exit_root.with(0, `0x${'cd'.repeat(32)}`),
    })),
  )
  const { code, out } = await run(
    context,
    ...[
      '--with',
      `${proxy}/aggkit`,
      '--dialect',
      'aggkit',
      '--base',
      `http://127.0.0.1:${world.port}/aggkit`,
    ],
    ...['--networks', '0'],
  )
  assert.equal(code, 6)
  assert.match(
    out,
    /proof of the local exit root\n.*\n.*\n {2}the chain supports us: .*no root was looked up/,
  )
  assert.match(out, /\ndifferences: 1$/)
})

test('keys that only one of both has are noted, and are no difference', async (context) => {
  const { code, out } = await compared(
    context,
    'aggkit',
    changing('/claims?network_id=1', ({ claims, count }) => ({
      claims: claims.map(({ from_address: _, ...claim }: { from_address: string }) => ({
        ...claim,
        mainnet_exit_root: '0x00',
      })),
      count,
    })),
  )
  assert.equal(code, 0)
  assert.match(
    out,
    /"notes":\["of some claims only our service tells from_address","of some claims only the other service tells mainnet_exit_root"\]/,
  )
})

test('a network that the other service does not serve is said, and is no difference', async (context) => {
  const unsupported = { status: 400, body: '{"error":"unsupported network id: 2"}' }
  const { code, out } = await compared(context, 'aggkit', (path, told) =>
    path.includes('network_id=2') ? unsupported : told,
  )
  assert.equal(code, 0)
  assert.match(out, /"notes":\["the other service does not serve network 2/)
})

test('a service that fails, or is none, is said without the secrets of its address', async (context) => {
  const failing = await startProxy(context, () => ({ status: 500, body: '{"error":"database is locked"}' }))
  const base = ['--dialect', 'aggkit', '--config', file]
  const secret = failing.replace('http://', 'http://user:secret-word@')
  const refused = await run(context, '--with', `${secret}/key-9f8e7d6c5b4a/?token=abcdef123456`, ...base)
  assert.equal(refused.code, 5)
  assert.match(refused.err, /^bds: the other service \(127\.0\.0\.1:\d+\) answered 500: database is locked$/)
  assert.doesNotMatch(refused.err + refused.out, /secret-word|9f8e7d|abcdef/)
  const page = await startProxy(context, () => ({ status: 200, body: '<html>' }))
  const none = await run(context, '--with', `${page}/aggkit`, ...base)
  assert.equal(none.code, 5)
  assert.match(none.err, /answered 200 to \/bridge\/v1\/bridges, and no JSON$/)
  await assert.rejects(run(context, '--with', 'nonsense', ...base), { message: /--with is not an address/ })
  await assert.rejects(run(context, '--with', failing, '--dialect', 'other'), { message: /--dialect other/ })
})
