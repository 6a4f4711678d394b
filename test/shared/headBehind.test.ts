import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FaultWorld } from './faultWorld.js'

interface Row {
  readonly origin_network: number
  readonly destination_network: number
  readonly deposit_count: number
  readonly ready_for_claim: boolean
}

interface Health {
  readonly status: string
  readonly reasons?: readonly string[]
}

const PUT_BACK_BLOCKS = 7
/**
 * Far longer than a head must stay below: five seconds where recorded blocks have no time between them, twice
 * twelve behind empty blocks.
 */
const NOTICED_WITHIN_MS = 45_000

async function readyRows(world: FaultWorld): Promise<Row[]> {
  const service = world.service!
  const rows: Row[] = []
  for (const networkId of [0, 1, 2]) {
    const path = `/bridge/v1/bridges?network_id=${networkId}&page_size=1000`
    const all = await service.read<{ bridges: Row[] }>(path)
    const filtered = await service.read<{ bridges: Row[] }>(`${path}&ready_for_claim=true`)
    const ready = all.bridges.filter(({ ready_for_claim }) => ready_for_claim)
    for (const row of filtered.bridges) assert.equal(row.ready_for_claim, true)
    rows.push(...ready)
  }
  return rows
}

/** Its HTTP status does not matter: right after a start it is a 503. */
const health = async (world: FaultWorld) => (await world.service!.get('/bridge/v1')).body as Health

for (const [set, network, finality] of [
  ['base', 1, 'latest'],
  ['base', 0, 'latest'],
  ['multi', 0, 'depth:10'],
  ['multi', 2, 'latest'],
] as const)
  test(`network ${network} of ${set}, put back by seven blocks with finality ${finality}, has nothing ready, over a restart too`, async (t) => {
    const world = await FaultWorld.open(t, { set, finality, emptyBlocks: finality === 'latest' ? 0 : 20 })
    await world.start()
    await world.caughtUp()
    const before = await readyRows(world)
    /** With finality `latest` the L1 head is now below a block that was final. */
    const isHeld = ({ destination_network }: Row) =>
      (network === 0 && finality === 'latest') || destination_network === network
    if (network === 0) assert.ok(before.some(isHeld))
    assert.equal(before.every(isHeld), network === 0 && finality === 'latest')
    const { head } = (await world.chains[0]!.heads())[network]!
    const isTold = async () => (await health(world)).reasons?.includes('behind') === true
    await world.first('/head', { network, to: head - PUT_BACK_BLOCKS })
    await world.until(isTold, (told) => told, 'behind', NOTICED_WITHIN_MS)
    const assertHeld = async () =>
      assert.deepEqual(
        await readyRows(world),
        before.filter((row) => !isHeld(row)),
      )
    await assertHeld()
    assert.equal((await health(world)).status, 'degraded')
    assert.equal((await world.service!.get('/readyz')).status, 200)
    const told = (await world.networks()).find(({ network_id }) => network_id === network)!
    assert.deepEqual(
      [told.current_block, told.synced_block, told.is_synced],
      [head - PUT_BACK_BLOCKS, head, false],
    )

    await world.service!.kill('SIGKILL')
    await world.start()
    const others = before.filter((row) => !isHeld(row)).map((row) => JSON.stringify(row))
    await world.until(
      async () => {
        for (const row of await readyRows(world))
          assert.ok(others.includes(JSON.stringify(row)), `ready meanwhile: ${JSON.stringify(row)}`)
        return isTold()
      },
      (isToldAgain) => isToldAgain,
      'behind after a restart',
      NOTICED_WITHIN_MS,
    )
    await assertHeld()

    await world.first('/head', { network, to: head })
    await world.caughtUp()
    assert.deepEqual(await readyRows(world), before)
    assert.equal(await isTold(), false)
    assert.doesNotMatch(world.service!.stderr.join(), /Warning/)
  })
