import { CLAIM_BYTES, CLAIM_HASH_BYTES } from '../../store/layout/claimRow.js'
import { DEPOSIT_BYTES } from '../../store/layout/depositRow.js'
import { metaKey } from '../../store/layout/keys.js'
import { type Counters, encodeCounters } from '../../store/layout/metaValues.js'
import { CLAIM_HASHES_PER_CHUNK, CLAIMS_PER_CHUNK, DEPOSITS_PER_CHUNK } from '../../store/layout/tables.js'
import type { WriteView } from '../../store/shardStore.types.js'
import { readCounters } from '../position/chainPosition.js'
import { ClaimLinks } from './claimLinks.js'
import type { Feed } from './feed.js'
import { HashRunAppender } from './hashRunAppender.js'
import { L1Exits } from './l1Exits.js'
import { ListAppender } from './listAppender.js'
import { LocalExitTree } from './localExitTree.js'
import type { PreparedBatch } from './prepareBatch.js'
import { RowAppender } from './rowAppender.js'
import { Senders } from './senderRows.js'
import type { WriterMemory } from './writerMemory.js'
import type { WriteTransaction } from './writeTransaction.js'

const NOTHING_PREPARED: PreparedBatch = {
  depositLeaves: new Uint8Array(0),
  metadataNumbers: new Int32Array(0),
  ownMetadataHashes: new Map(),
  globalExitRoots: new Uint8Array(0),
  l1InfoLeaves: new Uint8Array(0),
}

/**
 * Everything that one transaction shares. Its parts collect what a stretch of blocks changes, and `flush` writes it. A block whose undo
 * is kept is a stretch of its own, so that its undo has the values from before this very block.
 */
export class WriteContext implements WriteTransaction {
  readonly view: WriteView
  readonly memory: WriterMemory
  readonly feed: Feed
  readonly prepared: PreparedBatch
  readonly counters: Counters
  readonly lists: ListAppender
  readonly hashRuns: HashRunAppender
  readonly deposits: RowAppender
  readonly depositSenders: Senders
  readonly claims: RowAppender
  readonly claimHashes: RowAppender
  readonly claimSenders: Senders
  readonly claimLinks: ClaimLinks
  readonly localExitTree: LocalExitTree
  readonly l1: L1Exits
  #storedCounters: Uint8Array | undefined

  constructor(view: WriteView, memory: WriterMemory, feed: Feed, prepared: PreparedBatch = NOTHING_PREPARED) {
    this.view = view
    this.memory = memory
    this.feed = feed
    this.prepared = prepared
    this.counters = readCounters(view)
    this.#storedCounters = encodeCounters(this.counters)
    if (memory.addresses.trim()) memory.dictionaries.forget()
    this.lists = new ListAppender(view, memory.addresses)
    this.hashRuns = new HashRunAppender(view)
    this.deposits = new RowAppender(
      view,
      'deposits',
      DEPOSIT_BYTES,
      DEPOSITS_PER_CHUNK,
      this.counters.deposits,
    )
    const { networkId, addresses } = memory
    this.depositSenders = new Senders('deposit', view, { networkId, lists: this.lists, addresses })
    this.claims = new RowAppender(view, 'claims', CLAIM_BYTES, CLAIMS_PER_CHUNK, this.counters.claims)
    this.claimHashes = new RowAppender(
      view,
      'claimHashes',
      CLAIM_HASH_BYTES,
      CLAIM_HASHES_PER_CHUNK,
      this.counters.claims,
    )
    this.claimSenders = new Senders('claim', view, { networkId, lists: this.lists, addresses })
    this.claimLinks = new ClaimLinks(view)
    this.localExitTree = new LocalExitTree({
      view,
      counters: this.counters,
      hasher: memory.hasher,
      hashRuns: this.hashRuns,
      leaves: prepared.depositLeaves,
    })
    this.l1 = new L1Exits(this)
  }

  /** Writes what the parts have collected. @throws Refusal when a root differs from the published one. */
  flush(): void {
    this.deposits.flush()
    this.depositSenders.flush()
    this.claims.flush()
    this.claimHashes.flush()
    this.claimSenders.flush()
    this.claimLinks.flush()
    this.localExitTree.flush()
    this.l1.flush()
    this.lists.flush()
    this.hashRuns.flush()
    const counters = encodeCounters(this.counters)
    if (Buffer.compare(counters, this.#storedCounters!) === 0) return
    this.view.put('meta', metaKey('counters'), counters)
    this.#storedCounters = counters
  }
}
