import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Hex } from 'viem'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import type { FakeWorld } from './fakeChain.js'
import { buildSmallWorld } from './fakeChainScenario.js'
import { account, type FakeDeposit, tokenAddress, userContract } from './fakeState.js'

export const olderSchemas = [4, 5, 7] as const

type OlderSchema = (typeof olderSchemas)[number]

/**
 * The chains that the stores in `test/fixtures` were made from: the small world, and behind it what later
 * schemas than the first of them store otherwise or besides: a local exit tree that was cut and grew again with a partly equal tail, claims set and unset by
 * an administrator, a claim of a deposit that was cut off, metadata of 6,000 bytes, remapped tokens, call-through senders. Those of
 * schema 7 have two roots that were removed besides, of which one was injected again.
 */
export function buildOlderWorld(schema: OlderSchema = 5): FakeWorld {
  const { world, ready, betweenRollups } = buildSmallWorld()
  const [l1, first, second] = [world.network(0), world.network(1), world.network(2)]
  const made: FakeDeposit[] = []
  const long: Hex = `0x${'ab'.repeat(6_000)}`
  first.mine((block) => {
    const tx = block.tx({ from: account(8), to: userContract(4) })
    for (const amount of [21n, 22n, 23n]) made.push(tx.deposit({ destinationNetwork: 2, amount }))
    tx.deposit({ destinationNetwork: 0, leafType: 1, metadata: long })
  })
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  second.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  second.mine((block) => block.tx({ from: account(9) }).claim({ deposit: made[2]! }))
  first.mine((block) => {
    const tx = block.tx({ from: account(1) })
    tx.backwardLet(made[0]!.depositCount + 1)
  })
  first.mine((block) => {
    const tx = block.tx({ from: account(1) })
    tx.forwardLet([made[1]!, { ...made[2]!, amount: 99n }])
  })
  second.mine((block) => block.tx({ from: account(1) }).setClaim(made[0]!))
  second.mine((block) => block.tx({ from: account(1) }).setClaim(betweenRollups, 'index'))
  second.mine((block) => block.tx({ from: account(1) }).unsetClaim(betweenRollups))
  first.mine((block) => block.tx({ from: account(3) }).claim({ deposit: ready }))
  first.mine((block) =>
    block.tx({ from: account(1) }).setSovereignToken(0, tokenAddress(1), tokenAddress(101)),
  )
  first.mine((block) => block.tx({ from: account(1) }).removeLegacyToken(tokenAddress(101)))
  if (schema >= 7) {
    const removed = [1n, 2n].map((amount) => {
      l1.mine((block) => block.tx().deposit({ destinationNetwork: 2, amount }))
      const globalExitRoot = l1.globalExitRoot()
      second.mine((block) => block.tx().injectGer(globalExitRoot))
      return globalExitRoot
    })
    for (const globalExitRoot of removed) second.mine((block) => block.tx().removeGer(globalExitRoot))
    second.mine((block) => block.tx().injectGer(removed[0]!))
  }
  for (const network of [l1, first, second]) network.mineEmpty(60 - network.blocks.length)
  return world
}

/** Unpacks the stores that a build of an older schema made from `buildOlderWorld` into a data folder. */
export function unpackOlderStores(schema: OlderSchema, dataDir: string, networkIds: readonly number[]): void {
  for (const networkId of networkIds) {
    const directory = shardDirectory(dataDir, networkId)
    mkdirSync(directory, { recursive: true })
    const packed = readFileSync(join('test', 'fixtures', `schema${schema}`, `${networkId}.mdb.gz`))
    writeFileSync(join(directory, 'data.mdb'), gunzipSync(packed))
  }
}
