import assert from 'node:assert/strict'
import { readFeedPlace } from '../../src/shard/position/feedPosition.js'
import { readFeed } from '../../src/shard/snapshot/feedReads.js'
import { decodeClaimableRow } from '../../src/store/feed/claimableRow.js'
import type { FeedEvent } from '../../src/store/feed/feedEvent.js'
import type { ReadView } from '../../src/store/shardStore.types.js'
import { hex, readClaims, readDeposits, readMappings } from './shardContents.js'
import type { TestNumbers } from './testNumbers.js'

/** Rows by name and key, as text. */
export type Holdings = Readonly<
  Record<'bridges' | 'claims' | 'mappings' | 'claimable', Readonly<Record<string, string>>>
>

/** The same from the tables. */
export function holdingsOf(view: ReadView): Holdings {
  return {
    bridges: sorted(bridgesOf(view)),
    claims: sorted(claimsOf(view)),
    mappings: sorted(mappingsOf(view)),
    claimable: sorted(claimableOf(view)),
  }
}

/** Where a row's event stands, by which rows of the store and of the feed are compared. */
interface Row {
  readonly block: number
  readonly text: string
}

/** What a user of one network's feed keeps, and how: all that an event does to it, and nothing that only the store knows. */
export class FeedUser {
  private readonly bridges = new Map<number, Row>()
  /** Claims in force, by deposit. */
  private readonly claims = new Map<string, Row>()
  /** By place of the event. */
  private readonly mappings = new Map<string, Row>()
  /** By deposit. */
  private readonly claimable = new Map<string, Row>()
  /** Reads of the lists so far. */
  rereads = 0
  #position = 0

  /** Reads the feed on, a random number of events at a time. */
  follow(view: ReadView, numbers: TestNumbers): void {
    for (;;) {
      const { newest, oldest } = readFeedPlace(view)!
      if (this.#position + 1 < oldest) {
        this.#readLists(view, newest)
        continue
      }
      const [entry] = readFeed(view, this.#position, 1 + numbers.below(4))
      if (entry === undefined) return
      assert.equal(entry.sequence, this.#position + 1, 'no number is left out')
      this.#position = entry.sequence
      if (entry.event.type === 'sync' && entry.event.isHistory) this.#readLists(view, newest)
      else this.#take(entry.event)
    }
  }

  /** To be compared with `holdingsOf`, when everything was read. */
  holdings(): Holdings {
    return {
      bridges: sorted(this.bridges),
      claims: sorted(this.claims),
      mappings: sorted(this.mappings),
      claimable: sorted(this.claimable),
    }
  }

  #take(event: FeedEvent): void {
    switch (event.type) {
      case 'bridge':
        this.bridges.set(event.depositCount, rowOf(event, [event.depositCount, hex(event.amount)]))
        break
      case 'claim': {
        const deposit = `${event.sourceNetwork}:${event.depositCount}`
        if (event.isInForce) this.claims.set(deposit, rowOf(event, [hex(event.globalIndex)]))
        else this.claims.delete(deposit)
        if (event.isInForce) this.claimable.delete(deposit)
        break
      }
      case 'claimable':
        this.claimable.set(`${event.sourceNetwork}:${event.depositCount}`, claimableRow(event))
        break
      case 'unclaimable':
        this.claimable.delete(`${event.sourceNetwork}:${event.depositCount}`)
        break
      case 'token_mapping':
        this.mappings.set(
          `${event.blockNumber}:${event.logIndex}`,
          rowOf(event, [event.isCurrent, event.isRemoved, hex(event.wrappedTokenAddress.bytes)]),
        )
        break
      case 'reorg':
        for (const count of this.bridges.keys()) if (count >= event.depositCount) this.bridges.delete(count)
        if (event.isCut) break
        for (const rows of [this.claims, this.mappings])
          for (const [key, { block }] of rows) if (block > event.ancestor) rows.delete(key)
        break
      case 'start_over':
        for (const rows of [this.bridges, this.claims, this.mappings, this.claimable]) rows.clear()
        break
    }
  }

  /** As a user reads the lists of the API, and goes on from the position that they name. */
  #readLists(view: ReadView, newest: number): void {
    this.rereads++
    this.#position = newest
    for (const [rows, stored] of [
      [this.bridges, bridgesOf(view)],
      [this.claims, claimsOf(view)],
      [this.mappings, mappingsOf(view)],
      [this.claimable, claimableOf(view)],
    ] as readonly [Map<unknown, Row>, Map<unknown, Row>][]) {
      rows.clear()
      for (const [key, row] of stored) rows.set(key, row)
    }
  }
}

interface Place {
  readonly blockNumber: number
  readonly logIndex: number
  readonly transactionHash: Uint8Array | string
}

function rowOf({ blockNumber, logIndex, transactionHash }: Place, values: readonly unknown[]): Row {
  const hash = typeof transactionHash === 'string' ? transactionHash : `0x${hex(transactionHash)}`
  return { block: blockNumber, text: [blockNumber, logIndex, hash, ...values].join(' ') }
}

const word = (value: bigint) => value.toString(16).padStart(64, '0')

function bridgesOf(view: ReadView): Map<number, Row> {
  return new Map(
    readDeposits(view).map((row) => [row.depositCount, rowOf(row, [row.depositCount, word(row.amount)])]),
  )
}

function claimsOf(view: ReadView): Map<string, Row> {
  return new Map(
    readClaims(view)
      .filter(({ isInForce }) => isInForce)
      .map((row) => [`${row.sourceNetwork}:${row.depositCount}`, rowOf(row, [word(row.globalIndex)])]),
  )
}

function mappingsOf(view: ReadView): Map<string, Row> {
  return new Map(
    readMappings(view).map((row) => [
      `${row.blockNumber}:${row.logIndex}`,
      rowOf(row, [row.isCurrent, row.isRemoved, row.wrappedTokenAddress.slice(2)]),
    ]),
  )
}

function claimableOf(view: ReadView): Map<string, Row> {
  return new Map(
    view
      .list('claimable', { start: new Uint8Array(8), end: new Uint8Array(9).fill(0xff) })
      .map(({ key, value }) => [
        [0, 4].map((at) => Buffer.from(key).readUInt32BE(at)).join(':'),
        claimableRow(decodeClaimableRow(value)),
      ]),
  )
}

/** A deposit of no block of this network. */
const claimableRow = ({ l1InfoTreeIndex }: { readonly l1InfoTreeIndex: number }): Row => ({
  block: -1,
  text: String(l1InfoTreeIndex),
})

const sorted = (rows: ReadonlyMap<unknown, Row>) =>
  Object.fromEntries([...rows].map(([key, { text }]) => [String(key), text]).sort())
