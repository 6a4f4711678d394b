import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeFeedPage } from '../../src/api/present/feedPage.js'
import { JsonWriter } from '../../src/api/present/jsonWriter.js'
import { createStatusBoard } from '../../src/board/statusBoard.js'
import { NO_VERSION } from '../../src/board/version.js'
import { EventFilter, type ToldEvent } from '../../src/http/events/eventFilter.js'
import { EventHub, type EventReader } from '../../src/http/events/eventHub.js'
import { parsePositions, positionText } from '../../src/http/events/feedPositions.js'
import type { PoolRequest } from '../../src/pool/requestLanes.js'
import { asNetworkId, type BlockNumber } from '../../src/protocol/units.js'
import type { FeedQuery } from '../../src/query/queries.js'
import { readFeedPlace } from '../../src/shard/position/feedPosition.js'
import { readFeed } from '../../src/shard/queries/readFeed.js'
import type { ShardReaders } from '../../src/shard/queries/shardReaders.js'
import { readFeed as listFeed } from '../../src/shard/snapshot/feedReads.js'
import type { ReadView } from '../../src/store/shardStore.types.js'
import { createKeepingLogger } from '../support/keepingLogger.js'
import { RandomChain } from '../support/randomChain.js'
import { readClaims, readDeposits } from '../support/shardContents.js'
import { TestNumbers } from '../support/testNumbers.js'
import { batchOf, openTestShard, type TestShard } from '../support/testShard.js'

const SEEDS = 100
const STEPS = 30
const NETWORK = asNetworkId(1)
/** Events on their way, above which a connection counts as slow. */
const SLOW = 6

type Wire = Readonly<Record<string, unknown>>

/** What a user of the stream holds, from the JSON alone, over connections that break with what is on its way. */
class Client {
  readonly bridges = new Map<number, string>()
  readonly claims = new Map<string, { readonly block: number; readonly text: string }>()
  readonly #hub: EventHub
  readonly #lists: (client: Client) => string
  /** Where it is, as the last event that has arrived says. */
  position: string
  rereads = 0
  connects = 0
  /** What the server has sent and the client has not got yet. */
  #onItsWay: { readonly event: ToldEvent; readonly ids: string }[] = []
  #reader: EventReader | undefined

  /** @param lists fills a client's maps, and tells the position that the lists name. */
  constructor(hub: EventHub, lists: (client: Client) => string) {
    this.#hub = hub
    this.#lists = lists
    this.position = lists(this)
  }

  connect(): void {
    const filter = new EventFilter({}, [NETWORK])
    const positions = this.#hub.begin(filter, parsePositions(this.position)!)
    if ('ok' in positions) {
      this.reread()
      return
    }
    const reader: EventReader = {
      filter,
      send: (event, ids) => void this.#onItsWay.push({ event, ids }),
      ping: () => undefined,
      isBehind: () => this.#onItsWay.length > SLOW,
      end: () => this.break(),
    }
    this.#reader = reader
    this.connects++
    this.#hub.add(reader, positions)
  }

  /** The connection is gone, and with it what was on its way. */
  break(): void {
    if (this.#reader !== undefined) this.#hub.remove(this.#reader)
    this.#reader = undefined
    this.#onItsWay = []
  }

  /** So many events arrive. */
  receive(count: number): void {
    for (let left = count; left > 0; left--) {
      const next = this.#onItsWay.shift()
      if (next === undefined) break
      this.position = next.ids
      const event = JSON.parse(next.event.text) as Wire
      if (event.type === 'sync' && event.is_history === true) {
        this.reread()
        return
      }
      this.#take(event)
    }
    if (this.#reader === undefined) this.connect()
    else this.#hub.drained(this.#reader)
  }

  reread(): void {
    this.break()
    this.rereads++
    this.position = this.#lists(this)
    this.connect()
  }

  #take(event: Wire): void {
    const deposit = `${String(event.origin_network)}:${String(event.deposit_count)}`
    switch (event.type) {
      case 'bridge':
        this.bridges.set(event.deposit_count as number, `${String(event.tx_hash)} ${String(event.amount)}`)
        break
      case 'claim':
        if (event.in_force === true)
          this.claims.set(deposit, {
            block: event.block_number as number,
            text: `${String(event.tx_hash)} ${String(event.global_index)}`,
          })
        else this.claims.delete(deposit)
        break
      case 'reorg': {
        const gone = event.deposit_count as number
        for (const count of this.bridges.keys()) if (count >= gone) this.bridges.delete(count)
        const ancestor = (event.ancestor_block as number | null) ?? -1
        if (event.is_cut === true) break
        for (const [key, { block }] of this.claims) if (block > ancestor) this.claims.delete(key)
        break
      }
      case 'start_over':
        this.bridges.clear()
        this.claims.clear()
    }
  }
}

const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

function bridgesOf(view: ReadView): [number, string][] {
  return readDeposits(view).map((row) => [row.depositCount, `${row.transactionHash} ${row.amount}`])
}

function claimsOf(view: ReadView) {
  return readClaims(view)
    .filter(({ isInForce }) => isInForce)
    .map((row) => {
      const text = `${row.transactionHash} ${word(row.globalIndex)}`
      return [`${row.sourceNetwork}:${row.depositCount}`, { block: row.blockNumber, text }] as const
    })
}

/** Changes the shard somehow. */
function step({ writer }: TestShard, chain: RandomChain, numbers: TestNumbers): void {
  const choice = numbers.below(100)
  if (choice < 75) {
    const from = chain.blocks.length
    for (let count = 1 + numbers.below(3); count > 0; count--) chain.grow(5)
    writer.applyBlocks(batchOf(chain.blocks.slice(from)))
  } else if (choice < 94) {
    const ancestor = chain.blocks.length - numbers.below(Math.min(8, chain.blocks.length + 1))
    if (writer.checkpoint() === undefined) return
    writer.revertTo(ancestor as BlockNumber)
    chain.dropAbove(ancestor)
  } else if (choice < 98) writer.noteCatchingUp(numbers.chance(0.4))
  else {
    writer.startOver({ count: 1, notBeforeMs: undefined })
    chain.dropAbove(0)
  }
}

test('over connections that are slow, and break with what is on its way, the events alone say what the tables hold', async () => {
  let [rereads, connects, compared] = [0, 0, 0]
  for (let seed = 1; seed <= SEEDS; seed++) {
    const folder = mkdtempSync(join(tmpdir(), 'bds-test-'))
    const numbers = new TestNumbers(seed)
    const chain = new RandomChain(seed)
    const status = createStatusBoard([NETWORK])
    const shard = openTestShard(folder, NETWORK, status, seed % 3 === 0 ? 25 : 1_000_000)
    const newest = () => shard.read((view) => readFeedPlace(view)!)
    let pending = 0
    const submit = ({ query, deliver }: PoolRequest): boolean => {
      pending++
      setImmediate(() => {
        pending--
        const body = shard.read((view) => pageOf(view, query as FeedQuery))
        const facts = {
          coding: 'identity',
          tag: body,
          retryAfterSec: 0,
          life: undefined,
          fault: undefined,
        } as const
        deliver({ status: 200, body, version: NO_VERSION, ...facts })
      })
      return true
    }
    step(shard, chain, numbers)
    const hub = new EventHub({
      status,
      pool: { submit },
      logger: createKeepingLogger().logger,
      countAnswers: () => 0,
    })
    const client = new Client(hub, ({ bridges, claims }) =>
      shard.read((view) => {
        bridges.clear()
        claims.clear()
        for (const [key, row] of bridgesOf(view)) bridges.set(key, row)
        for (const [key, row] of claimsOf(view)) claims.set(key, row)
        const { feedId, newest: sequence } = readFeedPlace(view)!
        return positionText(NETWORK, { feedId, sequence })
      }),
    )
    client.connect()
    for (let count = 0; count < STEPS; count++) {
      step(shard, chain, numbers)
      if (numbers.chance(0.5)) await new Promise(setImmediate)
      client.receive(numbers.below(8))
      if (numbers.chance(0.2)) client.break()
      if (numbers.chance(0.6)) continue
      const at = newest()
      const end = positionText(NETWORK, { feedId: at.feedId, sequence: at.newest })
      for (let turns = 0; client.position !== end; turns++) {
        assert.ok(turns < 10_000, `seed ${seed}: at ${client.position}, not at ${end}`)
        client.receive(1 + numbers.below(8))
        await new Promise(setImmediate)
      }
      if (shard.status.get('catchingUp') === 1) continue
      const name = `seed ${seed}, step ${count}`
      assert.deepEqual([...client.bridges].sort(), shard.read(bridgesOf).sort(), name)
      assert.deepEqual([...client.claims].sort(), [...shard.read(claimsOf)].sort(), name)
      compared++
    }
    rereads += client.rereads
    connects += client.connects
    hub.close()
    while (pending > 0) await new Promise(setImmediate)
    await shard.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  assert.ok(
    connects > 3 * SEEDS && rereads > SEEDS / 5 && compared > 5 * SEEDS,
    `${connects} ${rereads} ${compared}`,
  )
})

function pageOf(view: ReadView, query: FeedQuery): Uint8Array {
  const shards = {
    get: () => ({
      feedPlace: readFeedPlace(view),
      listFeed: (after: number, limit: number) => listFeed(view, after, limit),
    }),
  } as unknown as ShardReaders
  const answer = readFeed(shards, query)
  assert.ok(answer.ok)
  const writer = new JsonWriter()
  writeFeedPage(writer, answer.value)
  return writer.bytes.slice(0, writer.length)
}
