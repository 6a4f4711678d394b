import assert from 'node:assert/strict'
import type { TreeHasher } from '../../src/merkle/hasher.js'
import type { ClaimEvent, DepositEvent, IndexedBlock } from '../../src/protocol/chainEvent.js'
import { encodeHex } from '../../src/protocol/hex.js'
import type { NetworkId } from '../../src/protocol/units.js'
import type { BridgesQuery, ClaimsQuery } from '../../src/query/queries.js'
import { createSpelling, type Spell } from './addressSpelling.js'
import type { Listener } from './buildStores.js'
import {
  assertSearches,
  openDatabase,
  type SqliteDatabase,
  type SqliteStatement,
  type SqliteValue,
} from './sqliteDatabase.js'
import { SERVED } from './traffic.js'
import { UsableLeaves } from './usableLeaves.js'

/**
 * Answers the same questions with SQLite: schema, indexes and statements. What can be computed while writing is computed then:
 * values are stored as the answer spells them, claims are marked on their bridges, senders have a narrow table, and watermarks
 * of readiness are kept. A question only has to select, count and join.
 */

const SCHEMA = `
  CREATE TABLE metadata (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);
  CREATE TABLE bridges (
    id INTEGER PRIMARY KEY, -- network_id * 2^32 + deposit_count
    network_id INTEGER NOT NULL, deposit_count INTEGER NOT NULL, tx_hash TEXT NOT NULL,
    destination_network INTEGER NOT NULL, origin_address TEXT NOT NULL, destination_address TEXT NOT NULL,
    amount TEXT NOT NULL, block_timestamp INTEGER NOT NULL, block_number INTEGER NOT NULL, log_index INTEGER NOT NULL,
    leaf_type INTEGER NOT NULL, token_network INTEGER NOT NULL, token_address TEXT NOT NULL,
    metadata_id INTEGER NOT NULL, tx_sender TEXT NOT NULL, global_index TEXT NOT NULL,
    claimed INTEGER NOT NULL, claim_tx_hash TEXT
  );
  CREATE TABLE bridge_senders (
    network_id INTEGER NOT NULL, address TEXT NOT NULL, id INTEGER NOT NULL,
    destination_network INTEGER NOT NULL, claimed INTEGER NOT NULL,
    PRIMARY KEY (network_id, address, id)
  ) WITHOUT ROWID;
  CREATE TABLE claims (
    id INTEGER PRIMARY KEY, -- network_id * 2^32 + position
    network_id INTEGER NOT NULL, tx_hash TEXT NOT NULL, global_index TEXT NOT NULL, amount TEXT NOT NULL,
    block_timestamp INTEGER NOT NULL, block_number INTEGER NOT NULL, log_index INTEGER NOT NULL,
    origin_network INTEGER NOT NULL, deposit_count INTEGER NOT NULL, bridge_id INTEGER NOT NULL,
    destination_address TEXT NOT NULL, token_network INTEGER NOT NULL, token_address TEXT NOT NULL,
    from_address TEXT NOT NULL, tx_sender TEXT NOT NULL
  );
  CREATE TABLE claim_senders (
    network_id INTEGER NOT NULL, address TEXT NOT NULL, id INTEGER NOT NULL,
    PRIMARY KEY (network_id, address, id)
  ) WITHOUT ROWID;
  CREATE TABLE usable_indexes ( -- leaf l1_info_tree_index is accepted by the destination and covers what lies below covered
    destination_network INTEGER NOT NULL, covered INTEGER NOT NULL, l1_info_tree_index INTEGER NOT NULL,
    PRIMARY KEY (destination_network, covered)
  ) WITHOUT ROWID;
  CREATE TABLE watermarks (destination_network INTEGER PRIMARY KEY, ready_below INTEGER NOT NULL);`

/** Made when all rows are stored, which is many times faster. Each ends with the id, because answers are ordered by it. */
const INDEXES = `
  CREATE INDEX bridges_by_network ON bridges (network_id);
  CREATE INDEX bridges_by_destination ON bridges (network_id, destination_network);
  CREATE INDEX bridges_by_state ON bridges (network_id, claimed);
  CREATE INDEX bridges_by_destination_and_state ON bridges (network_id, destination_network, claimed);
  CREATE INDEX bridges_by_leaf_type ON bridges (network_id, leaf_type);
  CREATE INDEX bridges_by_receiver ON bridges (network_id, destination_address);
  CREATE INDEX bridges_by_transaction ON bridges (network_id, tx_hash);
  CREATE INDEX bridges_by_block ON bridges (network_id, block_number);
  CREATE INDEX claims_by_network ON claims (network_id);
  CREATE INDEX claims_by_source ON claims (network_id, origin_network);
  CREATE INDEX claims_by_receiver ON claims (network_id, destination_address);
  CREATE INDEX claims_by_transaction ON claims (network_id, tx_hash);`

/** 256 MB of cache, and a mapped file like ours. */
const PRAGMAS = [
  'journal_mode = WAL',
  'synchronous = NORMAL',
  'cache_size = -262144',
  'mmap_size = 34359738368',
]

/** While the database is filled: nothing is kept of a run that fails, and what is inserted out of order stays in memory. */
const FILLING_PRAGMAS = ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -2097152']

const BRIDGE_COLUMNS = `b.tx_hash, b.deposit_count, b.network_id AS origin_network, b.destination_network, b.origin_address,
  b.destination_address, b.amount, b.block_timestamp,
  b.claimed = 0 AND b.deposit_count < coalesce((SELECT ready_below FROM watermarks w
    WHERE w.destination_network = b.destination_network), 0) AS ready_for_claim,
  b.block_number, b.log_index, b.leaf_type, b.token_network, b.token_address, m.value AS metadata, b.tx_sender,
  b.global_index, b.claim_tx_hash,
  (SELECT l1_info_tree_index FROM usable_indexes u WHERE u.destination_network = b.destination_network
    AND u.covered > b.deposit_count ORDER BY u.covered LIMIT 1) AS l1_info_tree_index`
const BRIDGES_OF_PAGE = `CROSS JOIN bridges b ON b.id = page.id CROSS JOIN metadata m ON m.id = b.metadata_id`

const CLAIM_COLUMNS = `c.tx_hash, c.global_index, c.amount, c.block_timestamp, b.tx_hash AS bridge_tx_hash, c.block_number,
  c.log_index, c.origin_network, c.deposit_count, c.network_id AS destination_network, c.destination_address,
  c.token_network, c.token_address, c.from_address, c.tx_sender`
const CLAIMS_OF_PAGE = `CROSS JOIN claims c ON c.id = page.id LEFT JOIN bridges b ON b.id = c.bridge_id`

/** One or more disjoint sets of ids, each a search of one index. */
interface Selection {
  readonly arms: readonly string[]
  readonly values: readonly SqliteValue[]
}

/** First id of a network. */
const idOf = (networkId: number, count: number): number => networkId * 2 ** 32 + count

export class SqliteRival implements Listener {
  readonly #database: SqliteDatabase
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #spell: Spell
  readonly #leaves: UsableLeaves
  readonly #metadataIds = new Map<string, number>()
  readonly #claimCounts = new Map<number, number>()

  /** A new database, to be filled. */
  constructor(path: string, hasher: TreeHasher, schema = SCHEMA) {
    this.#spell = createSpelling((bytes) => hasher.hash(bytes))
    this.#leaves = new UsableLeaves(hasher)
    const isNew = schema !== ''
    this.#database = openDatabase(path, isNew ? FILLING_PRAGMAS : PRAGMAS)
    if (isNew) this.#database.exec(`${schema}; BEGIN`)
  }

  /** A database that was filled before. */
  static open(path: string, hasher: TreeHasher): SqliteRival {
    return new SqliteRival(path, hasher, '')
  }

  add(networkId: number, blocks: readonly IndexedBlock[]): void {
    for (const { header, events } of blocks)
      for (const event of events) {
        if (event.type === 'deposit') this.#addDeposit(networkId, header.timestampSec, event)
        if (event.type === 'claim') this.#addClaim(networkId, header.timestampSec, event)
        this.#leaves.add(networkId, event)
      }
  }

  /** Call it when all rows are inserted. */
  finish(): void {
    for (const { destination, covered, index } of this.#leaves.usable)
      this.#run('INSERT OR IGNORE INTO usable_indexes VALUES (?, ?, ?)', [destination, covered, index])
    for (const [destination, covered] of this.#leaves.watermarks())
      this.#run('INSERT INTO watermarks VALUES (?, ?)', [destination, covered])
    this.#database.exec('COMMIT')
    this.#database.exec(INDEXES)
    this.#database.exec('ANALYZE')
    this.#statements.clear()
    for (const pragma of PRAGMAS) this.#database.pragma(pragma)
    // Negative control: the check of plans must refuse these.
    for (const sql of [
      'SELECT id FROM bridges WHERE amount = ?',
      'SELECT id FROM bridges WHERE network_id = ? ORDER BY amount',
    ])
      assert.throws(() => assertSearches(this.#database, sql, [0]), /would not search/, sql)
  }

  close(): void {
    this.#database.close()
  }

  /** The JSON that the service would send, without the cursor. */
  bridges(query: OfOne<BridgesQuery>): Buffer {
    const { arms, values } = selectBridges(query, this.#spell)
    const total = this.#count(arms, values)
    const rows = this.#page(BRIDGE_COLUMNS, BRIDGES_OF_PAGE, arms, values, query)
    for (const row of rows) row.ready_for_claim = row.ready_for_claim === 1
    return this.#answer({
      bridges: rows,
      pagination: { page: query.pageNumber, limit: query.pageSize, total },
    })
  }

  /** As `bridges`, for claims. */
  claims(query: OfOne<ClaimsQuery>): Buffer {
    const { arms, values } = selectClaims(query, this.#spell)
    const total = this.#count(arms, values)
    const rows = this.#page(CLAIM_COLUMNS, CLAIMS_OF_PAGE, arms, values, query)
    return this.#answer({
      claims: rows,
      pagination: { page: query.pageNumber, limit: query.pageSize, total },
    })
  }

  #count(arms: readonly string[], values: readonly SqliteValue[]): number {
    const sql = `SELECT ${arms.map((arm) => `(SELECT count(*) FROM ${arm})`).join(' + ')} AS total`
    return this.#searching(sql, values).get(...values)!.total as number
  }

  #page(
    columns: string,
    joins: string,
    arms: readonly string[],
    values: readonly SqliteValue[],
    { pageNumber, pageSize }: { readonly pageNumber: number; readonly pageSize: number },
  ): Record<string, unknown>[] {
    const ids = arms.map((arm) => `SELECT id FROM ${arm}`).join(' UNION ALL ')
    const sql = `SELECT ${columns} FROM (${ids} ORDER BY id DESC LIMIT ? OFFSET ?) page ${joins}`
    const all = [...values, pageSize, (pageNumber - 1) * pageSize]
    return this.#searching(sql, all).all(...all)
  }

  #answer(answer: unknown): Buffer {
    return Buffer.from(JSON.stringify(answer))
  }

  /** Prepares a statement and checks its plan: one that scans a table or sorts would be too slow to compare with. */
  #searching(sql: string, values: readonly SqliteValue[]): SqliteStatement {
    if (!this.#statements.has(sql)) assertSearches(this.#database, sql, values)
    return this.#prepared(sql)
  }

  #prepared(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #run(sql: string, values: readonly SqliteValue[]): void {
    this.#prepared(sql).run(...values)
  }

  #addDeposit(networkId: number, timestampSec: number, event: DepositEvent): void {
    const id = idOf(networkId, event.depositCount)
    const { caller, transactionSender } = event.sender!
    const isMessage = event.leafType === 1
    const sender = this.#spell(isMessage ? event.originAddress : caller!)
    const globalIndex = networkId === 0 ? 2n ** 64n : BigInt(networkId - 1) << 32n
    this.#run(`INSERT INTO bridges VALUES (${Array.from({ length: 19 }, () => '?').join(', ')})`, [
      id,
      networkId,
      event.depositCount,
      encodeHex(event.transactionHash),
      event.destinationNetwork,
      sender,
      this.#spell(event.destinationAddress),
      String(event.amount),
      timestampSec,
      event.blockNumber,
      event.logIndex,
      event.leafType,
      event.originNetwork,
      this.#spell(event.originAddress),
      this.#metadataId(event.metadata),
      this.#spell(transactionSender),
      `0x${(globalIndex + BigInt(event.depositCount)).toString(16).padStart(64, '0')}`,
      0,
      null,
    ])
    for (const address of new Set([sender, this.#spell(transactionSender)]))
      this.#run('INSERT INTO bridge_senders VALUES (?, ?, ?, ?, 0)', [
        networkId,
        address,
        id,
        event.destinationNetwork,
      ])
  }

  /** All bridges of the traffic come from network 0. */
  #addClaim(networkId: number, timestampSec: number, event: ClaimEvent): void {
    const depositCount = Number(event.globalIndex & 0xffff_ffffn)
    const bridgeId = idOf(0, depositCount)
    const position = this.#claimCounts.get(networkId) ?? 0
    this.#claimCounts.set(networkId, position + 1)
    const id = idOf(networkId, position)
    const transactionHash = encodeHex(event.transactionHash)
    const { caller, transactionSender } = event.sender!
    this.#run(`INSERT INTO claims VALUES (${Array.from({ length: 16 }, () => '?').join(', ')})`, [
      id,
      networkId,
      transactionHash,
      `0x${event.globalIndex.toString(16).padStart(64, '0')}`,
      String(event.amount),
      timestampSec,
      event.blockNumber,
      event.logIndex,
      0,
      depositCount,
      bridgeId,
      this.#spell(event.destinationAddress),
      event.originNetwork,
      this.#spell(event.originAddress),
      this.#spell(caller!),
      this.#spell(transactionSender),
    ])
    for (const address of new Set([this.#spell(caller!), this.#spell(transactionSender)]))
      this.#run('INSERT INTO claim_senders VALUES (?, ?, ?)', [networkId, address, id])
    this.#run('UPDATE bridges SET claimed = 1, claim_tx_hash = ? WHERE id = ?', [transactionHash, bridgeId])
    const bridge = this.#prepared('SELECT origin_address, tx_sender FROM bridges WHERE id = ?').get(bridgeId)!
    for (const address of new Set([bridge.origin_address as string, bridge.tx_sender as string]))
      this.#run('UPDATE bridge_senders SET claimed = 1 WHERE network_id = 0 AND address = ? AND id = ?', [
        address,
        bridgeId,
      ])
  }

  #metadataId(metadata: Uint8Array): number {
    const value = encodeHex(metadata)
    let id = this.#metadataIds.get(value)
    if (id === undefined) {
      id = this.#metadataIds.size + 1
      this.#metadataIds.set(value, id)
      this.#run('INSERT INTO metadata VALUES (?, ?)', [id, value])
    }
    return id
  }
}

/** A list of one network. */
type OfOne<Query extends { readonly networkId?: NetworkId }> = Query & { readonly networkId: NetworkId }

function selectBridges(query: OfOne<BridgesQuery>, spell: Spell): Selection {
  const { networkId, fromAddress, toAddress, transactionHash, depositCounts, networkIds, leafType } = query
  const arms: string[] = []
  const values: SqliteValue[] = []
  const destinations = networkIds ?? (query.readyForClaim === undefined ? [undefined] : SERVED)
  for (const destination of destinations) {
    const terms = ['network_id = ?']
    values.push(networkId)
    const add = (term: string, value: SqliteValue): void => {
      terms.push(term)
      values.push(value)
    }
    if (fromAddress !== undefined) add('address = ?', spell(fromAddress))
    if (toAddress !== undefined) add('destination_address = ?', spell(toAddress))
    if (transactionHash !== undefined) add('tx_hash = ?', encodeHex(transactionHash))
    if (depositCounts !== undefined) add('id = ?', idOf(networkId, depositCounts[0]!))
    if (destination !== undefined) add('destination_network = ?', destination)
    if (leafType !== undefined) add('leaf_type = ?', leafType)
    if (query.claimed !== undefined) add('claimed = ?', query.claimed ? 1 : 0)
    if (query.readyForClaim === true) {
      terms.push('claimed = 0')
      add(
        `id < ${idOf(networkId, 0)} + (SELECT ready_below FROM watermarks WHERE destination_network = ?)`,
        destination!,
      )
    }
    const first = '(SELECT min(id) FROM bridges WHERE network_id = ? AND block_number >= ?)'
    if (query.fromBlock !== undefined) {
      add(`id >= ${first}`, networkId)
      values.push(query.fromBlock)
    }
    if (query.toBlock !== undefined) {
      add(`id < ${first}`, networkId)
      values.push(query.toBlock + 1)
    }
    arms.push(`${fromAddress === undefined ? 'bridges' : 'bridge_senders'} WHERE ${terms.join(' AND ')}`)
  }
  return { arms, values }
}

function selectClaims(
  { networkId, fromAddress, toAddress, transactionHash, networkIds }: OfOne<ClaimsQuery>,
  spell: Spell,
): Selection {
  const terms = ['network_id = ?']
  const values: SqliteValue[] = [networkId]
  const add = (term: string, value: SqliteValue): void => {
    terms.push(term)
    values.push(value)
  }
  if (fromAddress !== undefined) add('address = ?', spell(fromAddress))
  if (toAddress !== undefined) add('destination_address = ?', spell(toAddress))
  if (transactionHash !== undefined) add('tx_hash = ?', encodeHex(transactionHash))
  if (networkIds !== undefined) add('origin_network = ?', networkIds[0]!)
  return {
    arms: [`${fromAddress === undefined ? 'claims' : 'claim_senders'} WHERE ${terms.join(' AND ')}`],
    values,
  }
}
