import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import type { Answer } from '../../src/query/answers.js'
import type { BridgesQuery, ClaimsQuery, Paging } from '../../src/query/queries.js'
import type { Page } from '../../src/query/records.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaims } from '../../src/shard/queries/getClaims.js'
import { cursorNumbers } from '../support/cursorNumbers.js'
import { expectedBridges, expectedClaims } from '../support/expectedRows.js'
import { toHex } from '../support/indexedBlocks.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { RandomWorld } from '../support/randomWorld.js'
import { randomNumbers } from '../support/testNumbers.js'
import { matchesBridge, matchesClaim, randomBridgeFilters, randomClaimFilters } from './randomFilters.js'

type Row = { readonly transactionHash: Uint8Array; readonly logIndex: number; readonly depositCount: number }

const nameOf = ({ transactionHash, logIndex, depositCount }: Row) =>
  `${toHex(transactionHash)} ${logIndex} ${depositCount}`

/** A walk by cursor over all pages of one list, a page at a time, while the chains change. */
abstract class Walk {
  readonly indexed: IndexedWorld
  readonly networkId: NetworkId
  readonly #paging: Omit<Paging, 'cursor'>
  readonly #seen = new Set<string>()
  readonly #rewindsAtStart: number
  #cursor: readonly number[] | undefined
  /** Rows that matched each time the walk read a page. */
  #throughout: Set<string> | undefined
  end: 'no' | 'finished' | 'outdated' = 'no'

  constructor(indexed: IndexedWorld, networkId: NetworkId, random: () => number) {
    this.indexed = indexed
    this.networkId = networkId
    this.#rewindsAtStart = this.rewinds()
    this.#paging = {
      pageNumber: 1,
      pageSize: 1 + Math.floor(random() * 8),
      ...(random() < 0.5 ? { isAscending: true } : {}),
    }
  }

  /** Names of all rows that match now, by the model. */
  protected abstract matching(): string[]
  protected abstract ask(paging: Paging): Answer<Page<Row>>

  get wasRewound(): boolean {
    return this.rewinds() > this.#rewindsAtStart
  }

  step(): void {
    const matching = new Set(this.matching())
    this.#throughout =
      this.#throughout === undefined
        ? matching
        : new Set([...this.#throughout].filter((name) => matching.has(name)))
    const answer = this.ask({ ...this.#paging, ...(this.#cursor && { cursor: this.#cursor }) })
    if (!answer.ok) {
      assert.equal(answer.code, 'INVALID_PARAMETER')
      assert.ok(this.wasRewound, 'refused without a reorg')
      this.end = 'outdated'
      return
    }
    for (const row of answer.value.rows) {
      assert.ok(matching.has(nameOf(row)), `${nameOf(row)} does not match`)
      assert.ok(!this.#seen.has(nameOf(row)), `${nameOf(row)} was given twice`)
      this.#seen.add(nameOf(row))
    }
    const { nextCursor } = answer.value
    if (nextCursor === null) {
      for (const name of this.#throughout) assert.ok(this.#seen.has(name), `${name} was missed`)
      this.end = 'finished'
    } else this.#cursor = cursorNumbers(nextCursor)
  }

  protected rewinds(): number {
    return this.indexed.ask((shards) => shards.find(this.networkId)!.state.epoch)
  }
}

class BridgeWalk extends Walk {
  readonly #filters: Partial<BridgesQuery>

  constructor(indexed: IndexedWorld, networkId: NetworkId, random: () => number) {
    super(indexed, networkId, random)
    this.#filters =
      random() < 0.5 ? {} : randomBridgeFilters(random, expectedBridges(indexed.world, networkId, {}))
  }

  protected matching(): string[] {
    return expectedBridges(this.indexed.world, this.networkId, {})
      .filter((deposit) => matchesBridge(deposit, this.#filters))
      .map((deposit) => `${deposit.transactionHash} ${deposit.logIndex} ${deposit.depositCount}`)
  }

  protected ask(paging: Paging): Answer<Page<Row>> {
    const query = { networkId: this.networkId, ...this.#filters, ...paging }
    return this.indexed.ask((shards) => getBridges(shards, query))
  }
}

class ClaimWalk extends Walk {
  readonly #filters: Partial<ClaimsQuery>

  constructor(indexed: IndexedWorld, networkId: NetworkId, random: () => number) {
    super(indexed, networkId, random)
    this.#filters = random() < 0.4 ? {} : randomClaimFilters(random, expectedClaims(indexed.world, networkId))
  }

  protected matching(): string[] {
    return expectedClaims(this.indexed.world, this.networkId)
      .filter((claim) => matchesClaim(claim, this.networkId, this.#filters))
      .map((claim) => `${claim.transactionHash} ${claim.logIndex} ${claim.depositCount}`)
  }

  protected ask(paging: Paging): Answer<Page<Row>> {
    const query = { networkId: this.networkId, ...this.#filters, ...paging }
    return this.indexed.ask((shards) => getClaims(shards, query))
  }
}

interface Tally {
  finished: number
  outdated: number
  /** The walk finished although its network was reorganised during it. */
  survived: number
}

async function walkThrough(seed: number, tally: Tally): Promise<void> {
  const random = randomNumbers(seed ^ 0xc0de)
  const source = new RandomWorld(seed)
  const closing: Array<() => void | Promise<void>> = []
  try {
    const indexed = new IndexedWorld({ after: (body) => closing.unshift(body) }, source.world)
    for (let steps = 0; steps < 40; steps++) source.step()
    indexed.syncAll()
    let walks: Walk[] = []
    for (let round = 0; round < 25; round++) {
      const networkId = asNetworkId(Math.floor(random() * 3))
      if (round < 18) {
        walks.push(new BridgeWalk(indexed, networkId, random))
        walks.push(new ClaimWalk(indexed, networkId, random))
      }
      for (const walk of walks) if (random() < 0.5) walk.step()
      for (const walk of walks.filter(({ end }) => end !== 'no')) {
        if (walk.end === 'outdated') tally.outdated++
        else {
          tally.finished++
          if (walk.wasRewound) tally.survived++
        }
      }
      walks = walks.filter(({ end }) => end === 'no')
      for (let steps = 0; steps < 3; steps++) source.step()
      if (random() < 0.6) source.reorg()
      indexed.syncAll({ batchBlocks: 3 })
    }
  } finally {
    for (const close of closing) await close()
  }
}

test('a walk by cursor, while rows are added, removed and reorganised, lists every row that stays exactly once', async () => {
  const tally = { finished: 0, outdated: 0, survived: 0 }
  await fc.assert(
    fc.asyncProperty(fc.integer(), (seed) => walkThrough(seed, tally)),
    { numRuns: 6, includeErrorInReport: true, endOnFailure: true },
  )
  assert.ok(tally.finished > 60 && tally.survived > 5, JSON.stringify(tally))
})
