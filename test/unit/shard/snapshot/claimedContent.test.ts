import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { bothTexts } from '../../../support/bothTexts.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import type { FakeDeposit } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

interface CutWorld {
  readonly world: FakeWorld
  /** Amounts as first deposited. The present tree repeats the first and the last, and has another amount at count 1. */
  readonly made: readonly FakeDeposit[]
  readonly forwarded: string
}

/** Network 1 makes three deposits and settles them, is cut to one leaf and grows again with another deposit at count 1. */
function cutWorld(claims: (made: readonly FakeDeposit[]) => readonly FakeDeposit[]): CutWorld {
  const world = createFakeWorld({ networks: [1] })
  const [l1, first] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().createRollup(1, 1001))
  const made: FakeDeposit[] = []
  first.mine((block) => {
    for (const amount of [5n, 6n, 7n]) made.push(block.tx().deposit({ amount, destinationNetwork: 0 }))
  })
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  for (const deposit of claims(made)) l1.mine((block) => block.tx().claim({ deposit }))
  first.mine((block) => block.tx().backwardLet(1))
  const { transactions } = first.mine((block) =>
    block.tx().forwardLet([{ ...made[1]!, amount: 66n }, made[2]!]),
  )
  return { world, made, forwarded: transactions[0]!.hash }
}

type Row = Readonly<Record<string, unknown>>

/** Oldest first, and the same from records and from stored bytes. */
function rowsOf(context: TestContext, world: FakeWorld): { bridges: Row[]; claims: Row[] } {
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const ask = (operation: 'getBridges' | 'getClaims', networkId: number) => {
    const query = { networkId: asNetworkId(networkId), pageNumber: 1, pageSize: 100, isAscending: true }
    const [plain, packed] = bothTexts(indexed, operation, query)
    assert.equal(packed, plain)
    return JSON.parse(packed) as { bridges: Row[]; claims: Row[] }
  }
  return { bridges: ask('getBridges', 1).bridges, claims: ask('getClaims', 0).claims }
}

test('a deposit whose global index was claimed with the content of an archived deposit reports that, and is never ready', (context) => {
  const { world } = cutWorld((made) => made)
  const { bridges, claims } = rowsOf(context, world)
  const shown = bridges.map((row) => [row.ready_for_claim, row.claim_tx_hash, row.claim_matches])
  const [first, second, third] = claims.map(({ tx_hash }) => tx_hash)
  assert.deepEqual(shown, [
    [false, first, undefined],
    [false, second, false],
    [false, third, undefined],
  ])
})

test('a claim names the bridge whose content it claimed: the listed deposit, or the archived one', (context) => {
  const { world, made, forwarded } = cutWorld((deposits) => deposits)
  const named = rowsOf(context, world).claims.map((row) => row.bridge_tx_hash)
  assert.deepEqual(named, [made[0]!.transactionHash, made[1]!.transactionHash, forwarded])
})

test("a claim never names a bridge to another network that took the claimed deposit's count", (context) => {
  const world = createFakeWorld({ networks: [1, 2] })
  const [l1, first] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().createRollup(1, 1001))
  let made: FakeDeposit | undefined
  first.mine((block) => (made = block.tx().deposit({ amount: 5n, destinationNetwork: 0 })))
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  l1.mine((block) => block.tx().claim({ deposit: made! }))
  first.mine((block) => block.tx().backwardLet(0))
  first.mine((block) => block.tx().forwardLet([{ ...made!, destinationNetwork: 2 }]))
  const { bridges, claims } = rowsOf(context, world)
  assert.equal(claims[0]!.bridge_tx_hash, made!.transactionHash)
  // Each network records by itself what was claimed on it.
  assert.equal(bridges[0]!.claim_tx_hash, null)
})

test('a claim of content that no deposit ever had at its count names no bridge', (context) => {
  const { world } = cutWorld((made) => [{ ...made[1]!, amount: 999n }])
  const { bridges, claims } = rowsOf(context, world)
  assert.equal(claims[0]!.bridge_tx_hash, null)
  assert.equal(bridges[1]!.claim_matches, false)
})

test('a claim that an administrator set has no content, so it claims the listed deposit', (context) => {
  const { world, made, forwarded } = cutWorld(() => [])
  world.network(0).mine((block) => block.tx().setClaim(made[1]!))
  const { bridges, claims } = rowsOf(context, world)
  assert.equal(claims[0]!.bridge_tx_hash, forwarded)
  assert.equal(bridges[1]!.claim_matches, undefined)
})
