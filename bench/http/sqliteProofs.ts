import { createZeroHashes } from '../../src/merkle/branch.js'
import type { TreeHasher } from '../../src/merkle/hasher.js'
import { hashDepositLeaves } from '../../src/merkle/leafHashes.js'
import type { DepositEvent, IndexedBlock } from '../../src/protocol/chainEvent.js'
import { encodeHex } from '../../src/protocol/hex.js'
import type { Listener } from '../query/buildStores.js'
import { openDatabase, type SqliteDatabase, type SqliteStatement } from '../query/sqliteDatabase.js'

/** Claim proofs out of SQLite: every node of the newest tree, spelled as the answer has it, and the newest L1 info leaf. */
const SCHEMA = `
  CREATE TABLE nodes (id INTEGER PRIMARY KEY, hash TEXT NOT NULL); -- level * 2^32 + position
  CREATE TABLE zero_hashes (level INTEGER PRIMARY KEY, hash TEXT NOT NULL);
  CREATE TABLE l1_info_leaves (l1_info_tree_index INTEGER PRIMARY KEY, value TEXT NOT NULL);`

const DEPTH = 32
const ZERO_WORD = `0x${'00'.repeat(32)}`
const LEVEL = 2 ** 32

/** Collects the deposits' leaves on the way. */
export class ProofCollector implements Listener {
  private readonly hasher: TreeHasher
  private readonly leaves: Uint8Array[] = []

  constructor(hasher: TreeHasher) {
    this.hasher = hasher
  }

  add(networkId: number, blocks: readonly IndexedBlock[]): void {
    if (networkId !== 0) return
    for (const { events } of blocks) {
      const deposits = events.filter((event): event is DepositEvent => event.type === 'deposit')
      const hashes = hashDepositLeaves(this.hasher, deposits)
      for (let at = 0; at < deposits.length; at++) this.leaves.push(hashes.slice(32 * at, 32 * at + 32))
    }
  }

  /** Writes all nodes into the database. */
  finish(path: string): void {
    const database = openDatabase(path, ['journal_mode = WAL', 'synchronous = OFF'])
    database.exec(SCHEMA)
    database.exec('BEGIN')
    const zeros = createZeroHashes(this.hasher)
    const insertZero = database.prepare('INSERT INTO zero_hashes VALUES (?, ?)')
    for (let level = 0; level < DEPTH; level++) insertZero.run(level, encodeHex(zeros[level]!))
    const insert = database.prepare('INSERT INTO nodes VALUES (?, ?)')
    let nodes: readonly Uint8Array[] = this.leaves
    for (let level = 0; level < DEPTH; level++) {
      for (const [position, node] of nodes.entries()) insert.run(level * LEVEL + position, encodeHex(node))
      const lower = nodes
      nodes = Array.from({ length: Math.ceil(lower.length / 2) }, (_, at) =>
        this.hasher.hashPair(lower[2 * at]!, lower[2 * at + 1] ?? zeros[level]!),
      )
    }
    database.exec('COMMIT')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
  }
}

/** Answers `/claim-proof` for network 0 and the newest leaf. */
export class SqliteProofs {
  private readonly database: SqliteDatabase
  private readonly node: SqliteStatement
  private readonly leaf: SqliteStatement
  private readonly zeros: readonly string[]

  constructor(path: string) {
    this.database = openDatabase(path, ['mmap_size = 34359738368', 'cache_size = -262144'])
    this.node = this.database.prepare('SELECT hash FROM nodes WHERE id = ?')
    this.leaf = this.database.prepare('SELECT value FROM l1_info_leaves WHERE l1_info_tree_index = ?')
    this.zeros = this.database
      .prepare('SELECT hash FROM zero_hashes ORDER BY level')
      .all()
      .map(({ hash }) => hash as string)
  }

  /** @param value the leaf as the answer spells it. */
  addLeaf(l1InfoTreeIndex: number, value: unknown): void {
    this.database
      .prepare('INSERT INTO l1_info_leaves VALUES (?, ?)')
      .run(l1InfoTreeIndex, JSON.stringify(value))
  }

  prove(depositCount: number, l1InfoTreeIndex: number): Buffer {
    const branch: string[] = []
    for (let level = 0; level < DEPTH; level++) {
      // Positions above 2^31 do not come, but their shift would be wrong.
      const sibling = (Math.floor(depositCount / 2 ** level) ^ 1) >>> 0
      branch.push((this.node.get(level * LEVEL + sibling)?.hash as string | undefined) ?? this.zeros[level]!)
    }
    const globalIndex = (2n ** 64n + BigInt(depositCount)).toString(16).padStart(64, '0')
    return Buffer.from(
      JSON.stringify({
        proof: {
          smtProofLocalExitRoot: branch,
          smtProofRollupExitRoot: Array<string>(DEPTH).fill(ZERO_WORD),
          l1InfoTreeLeaf: JSON.parse(this.leaf.get(l1InfoTreeIndex)!.value as string) as unknown,
          globalIndex: `0x${globalIndex}`,
          leafHash: this.node.get(depositCount)!.hash,
        },
      }),
    )
  }
}
