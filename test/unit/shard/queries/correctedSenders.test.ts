import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Hex } from 'viem'
import type { Sender } from '../../../../src/protocol/chainEvent.js'
import { decodeHex } from '../../../../src/protocol/hex.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { THRESHOLDS } from '../../../../src/shard/queries/shardReaders.js'
import { bothTexts } from '../../../support/bothTexts.js'
import { cursorNumbers } from '../../../support/cursorNumbers.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const [signer, contract, receiver] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}` as Hex) as [
  Hex,
  Hex,
  Hex,
]
const operations = ['getBridges', 'getClaims'] as const
type Operation = (typeof operations)[number]

interface Page {
  readonly rows: readonly Record<string, unknown>[]
  readonly total: number
  readonly nextCursor: string | null
}

/** Deposits of the L1, all claimed on network 1, whose senders the test sets. */
class World {
  readonly indexed: IndexedWorld
  readonly #world = createFakeWorld({ networks: [1] })
  readonly #operation: Operation

  constructor(context: TestContext, operation: Operation) {
    this.indexed = new IndexedWorld(context, this.#world)
    this.#operation = operation
  }

  get writer() {
    return this.indexed.writer(this.networkId)
  }

  get networkId(): number {
    return this.#operation === 'getBridges' ? 0 : 1
  }

  mine(count: number): void {
    const [l1, l2] = [this.#world.network(0), this.#world.network(1)]
    const first = l1.deposits().length
    for (let mined = 0; mined < count; mined++)
      l1.mine((block) =>
        block.tx({ from: signer }).deposit({ destinationNetwork: 1, destinationAddress: receiver }),
      )
    if (this.#operation === 'getClaims')
      for (const deposit of l1.deposits().slice(first))
        l2.mine((block) => block.tx({ from: signer }).claim({ deposit }))
    this.indexed.syncAll({ withSenders: false })
  }

  /** A reorg that keeps this many rows. */
  keep(rows: number): void {
    const network = this.#world.network(this.networkId)
    const made = this.#operation === 'getBridges' ? network.deposits() : network.claims()
    network.reorg({ depth: network.head.number - made[rows]!.blockNumber + 1, blocks: 'empty' })
    this.indexed.sync(this.networkId, { withSenders: false })
  }

  /** Resolves every open row with tx.from for now. */
  fallBack(): void {
    const open = this.writer.unresolvedSenders(1_000)
    const sender = senderOf(signer, true)
    this.writer.resolveSenders(open.map((row) => ({ ...row, sender })))
  }

  /** @param ordinals of noted rows. */
  correct(ordinals: readonly number[], sender: Sender): void {
    const rows = this.writer
      .notedSenders({ limit: 1_000 })
      .filter(({ ordinal }) => ordinals.includes(ordinal))
    assert.equal(rows.length, ordinals.length)
    this.writer.correctSenders(rows.map((row) => ({ row, sender })))
  }

  /** A page, which must be the same packed and row by row. */
  ask(query: object = {}): Page {
    const asked = {
      networkId: asNetworkId(this.networkId),
      pageNumber: 1,
      pageSize: 1_000,
      isAscending: true,
      ...query,
    }
    const [packed, plain] = bothTexts(this.indexed, this.#operation, asked)
    assert.equal(packed, plain)
    const answer = JSON.parse(packed) as Record<string, unknown>
    const rows = answer[this.#operation === 'getBridges' ? 'bridges' : 'claims']
    return {
      rows: rows as Page['rows'],
      total: (answer.pagination as { total: number }).total,
      nextCursor: (answer.pagination as { next_cursor: string | null }).next_cursor,
    }
  }

  /** Rows of one address, by their index in the whole list. */
  of(address: Hex, query: object = {}): readonly number[] {
    const { rows, total } = this.ask({ fromAddress: decodeHex(address)!, ...query })
    const hashes = this.ask().rows.map(hashOf)
    if (!('pageSize' in query)) assert.equal(total, rows.length)
    return rows.map((row) => hashes.indexOf(hashOf(row)))
  }

  /** Callers as shown. */
  callers(): readonly unknown[] {
    return this.ask().rows.map((row) =>
      this.#operation === 'getBridges' ? row.origin_address : row.from_address,
    )
  }
}

const hashOf = (row: Record<string, unknown>) => `${row.tx_hash ?? row.claim_tx_hash}`
const senderOf = (caller: Hex, isProvisional = false): Sender => ({
  caller: decodeHex(caller)!,
  transactionSender: decodeHex(signer)!,
  ...(isProvisional ? { isProvisional } : {}),
})

for (const operation of operations) {
  test(`${operation}: a corrected caller is in its row, and the row is found by the caller and by tx.from`, (context) => {
    const world = new World(context, operation)
    world.mine(6)
    world.fallBack()
    assert.deepEqual(world.of(contract), [])
    assert.deepEqual(world.callers(), Array(6).fill(signer))
    world.correct([1, 4], senderOf(contract))
    assert.deepEqual(world.callers(), [signer, contract, signer, signer, contract, signer])
    assert.deepEqual(world.of(contract), [1, 4])
    assert.deepEqual(world.of(signer), [0, 1, 2, 3, 4, 5], 'lists only get more, and nothing twice')
    assert.equal(world.writer.senderNotes().provisional, 4)
  })

  test(`${operation}: a walk by cursor continues across a correction, with all rows ahead and none twice`, (context) => {
    for (const isAscending of [true, false]) {
      const world = new World(context, operation)
      world.mine(8)
      world.fallBack()
      world.correct([2, 5, 6], senderOf(contract))
      const fromAddress = decodeHex(contract)!
      const query = { fromAddress, pageSize: 2, isAscending }
      const walked: unknown[] = []
      let cursor: string | null = null
      do {
        const bytes = cursor === null ? {} : { cursor: cursorNumbers(cursor) }
        const page = world.ask({ ...query, ...bytes })
        walked.push(...page.rows.map(hashOf))
        if (cursor === null) world.correct(isAscending ? [0, 7] : [7, 1], senderOf(contract))
        cursor = page.nextCursor
      } while (cursor !== null)
      const hashes = world.ask().rows.map(hashOf)
      const rows = walked.map((hash) => hashes.indexOf(hash as string))
      assert.deepEqual(rows, isAscending ? [2, 5, 6, 7] : [6, 5, 2, 1])
      assert.equal(world.ask(query).total, 5)
    }
  })

  test(`${operation}: a caller that is confirmed to be tx.from removes the note and changes no row`, (context) => {
    const world = new World(context, operation)
    world.mine(2)
    world.fallBack()
    world.correct([0, 1], senderOf(signer))
    assert.deepEqual(world.callers(), [signer, signer])
    assert.deepEqual(world.of(signer), [0, 1])
    assert.deepEqual(world.writer.senderNotes(), { provisional: 0, unknown: 0 })
  })

  test(`${operation}: rows of a transaction that no endpoint knew have null, and their sender once it turns up`, (context) => {
    const world = new World(context, operation)
    world.mine(3)
    const open = world.writer.unresolvedSenders(10)
    world.writer.resolveSenders(
      open.map((row) => ({ ...row, sender: row.ordinal === 1 ? null : senderOf(signer) })),
    )
    assert.deepEqual(world.callers(), [signer, null, signer])
    assert.deepEqual(world.of(signer), [0, 2])
    world.correct([1], senderOf(signer, true))
    assert.deepEqual(world.callers(), [signer, signer, signer])
    assert.deepEqual(world.of(signer), [0, 1, 2])
    assert.deepEqual(world.writer.senderNotes(), { provisional: 1, unknown: 0 })
    world.correct([1], senderOf(contract))
    assert.deepEqual(world.callers(), [signer, contract, signer])
    assert.deepEqual(world.of(contract), [1])
    assert.deepEqual(world.of(signer), [0, 1, 2])
  })

  test(`${operation}: pages and cursors list each row once, with corrected rows among others`, (context) => {
    const world = new World(context, operation)
    world.mine(150)
    const own = (ordinal: number) => ordinal % 3 === 0
    const late = (ordinal: number) => ordinal % 7 === 5 && !own(ordinal)
    const open = world.writer.unresolvedSenders(1_000)
    world.writer.resolveSenders(
      open.map((row) => ({
        ...row,
        sender: own(row.ordinal) ? senderOf(contract) : senderOf(signer, true),
      })),
    )
    const corrected = Array.from({ length: 150 }, (_, ordinal) => ordinal).filter(late)
    world.correct(corrected, senderOf(contract))
    const expected = Array.from({ length: 150 }, (_, ordinal) => ordinal).filter(
      (ordinal) => own(ordinal) || late(ordinal),
    )
    for (const pageSize of [7, 40]) {
      const pages: number[] = []
      for (let pageNumber = 1; pages.length < expected.length; pageNumber++) {
        const page = world.of(contract, { pageSize, pageNumber })
        assert.ok(page.length > 0)
        pages.push(...page)
      }
      assert.deepEqual(pages, expected)
    }
    assert.deepEqual(world.of(contract), expected)
  })

  test(`${operation}: a kept list of several filters is made again after a correction`, (context) => {
    const world = new World(context, operation)
    world.indexed.readers.thresholds = { ...THRESHOLDS, rowsWorthReading: 0, worthKeeping: 0 }
    world.mine(5)
    world.fallBack()
    const ask = () => world.of(contract, { toAddress: decodeHex(receiver)! })
    world.correct([4], senderOf(contract))
    assert.deepEqual(ask(), [4])
    world.correct([1], senderOf(contract))
    assert.deepEqual(ask(), [1, 4])
    world.mine(2)
    world.fallBack()
    world.correct([6], senderOf(contract))
    assert.deepEqual(ask(), [1, 4, 6])
    world.keep(4)
    assert.deepEqual(ask(), [1])
    world.correct([3], senderOf(contract))
    assert.deepEqual(ask(), [1, 3])
  })

  test(`${operation}: a correction survives a reorg above its row, and is removed with its row`, (context) => {
    const world = new World(context, operation)
    world.mine(4)
    world.fallBack()
    world.correct([1, 3], senderOf(contract))
    world.keep(3)
    assert.deepEqual(world.callers(), [signer, contract, signer])
    assert.deepEqual(world.of(contract), [1])
    world.keep(1)
    assert.deepEqual(world.callers(), [signer])
    assert.deepEqual(world.of(contract), [])
    world.mine(1)
    world.fallBack()
    assert.deepEqual(world.of(contract), [], 'another row under the same number')
  })

  test(`${operation}: a row that a reorg replaced since the question is not corrected`, (context) => {
    const world = new World(context, operation)
    world.mine(3)
    world.fallBack()
    const asked = world.writer.notedSenders({ limit: 10 })
    world.keep(1)
    world.mine(2)
    world.fallBack()
    world.writer.correctSenders(asked.map((row) => ({ row, sender: senderOf(contract) })))
    assert.equal(world.callers()[0], contract)
    assert.ok(
      world
        .callers()
        .slice(1)
        .every((caller) => caller === signer),
    )
  })
}
