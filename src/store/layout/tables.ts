/**
 * Every table of a shard, as key → value. All integers are big-endian in keys (so that keys sort as their numbers do) and
 * little-endian in values. Keys grow in arrival order wherever they can. Files named in brackets hold the row layouts.
 *
 * Undo records on disk name a table by its position here: append new tables at the end, never reorder.
 */
export const tables = {
  /** text key → small values: schema, identity, checkpoint, counters, watermarks. */
  meta: 'meta',
  /** block u48 → hash 32, parent hash 32, timestamp u48: blocks with events and last blocks of batches, as far back as undo reaches. */
  headers: 'headers',
  /** first deposit count of the chunk u32 → up to DEPOSITS_PER_CHUNK packed deposits (`depositRow`). */
  deposits: 'deposits',
  /** first deposit count of the chunk u32 → caller and transaction sender per deposit (`senderRow`), for deposits below the watermark. */
  depositSenders: 'depositSenders',
  /** archive ordinal u32 → a deposit that BackwardLET cut off (`depositRow`). */
  archivedDeposits: 'archivedDeposits',
  /** dictionary id u32 → network u32, address 20, checksum mask 5: tokens (and message origins) of deposits and claims. */
  tokens: 'tokens',
  /** network u32, address 20 → dictionary id u32. */
  tokenIds: 'tokenIds',
  /** dictionary id u32 → metadata bytes. */
  metadata: 'metadata',
  /** keccak-256 of metadata 32 → dictionary id u32. */
  metadataIds: 'metadataIds',
  /** list kind u8, list key, chunk number u32 → LIST_CHUNK ordinals u32, ascending: the full chunks of a list. */
  lists: 'lists',
  /**
   * list kind u8, list key → length of the list u32, then the ordinals u32 after its last full chunk. Most lists are short and fit
   * into this entry.
   */
  listHeads: 'listHeads',
  /** first claim ordinal of the chunk u32 → up to CLAIMS_PER_CHUNK packed claims (`claimRow`). */
  claims: 'claims',
  /** first claim ordinal of the chunk u32 → caller and transaction sender per claim (`senderRow`), for claims below the watermark. */
  claimSenders: 'claimSenders',
  /** source network u32, deposit count / CLAIM_LINKS_PER_CHUNK u32 → per deposit: claim ordinal + 1 u32 (0 = not claimed). */
  claimLinks: 'claimLinks',
  /**
   * claim ordinal u32 → ordinal of what unset it u32 (`unsetClaims`), or 0 u8 (`REPLACED_CLAIM`): claims that are no longer in force. They are
   * few, and lists keep their ordinals.
   */
  claimsOutOfForce: 'claimsOutOfForce',
  /** injection ordinal u32 → global exit root 32, block u48, in the order of the events. */
  injectedGers: 'injectedGers',
  /** global exit root 32 → injection ordinal u32, in force u8. */
  gerStates: 'gerStates',
  /** tree u8, lineage u16, group u8, tile index u32 → one tile of TILE_BYTES. */
  treeTiles: 'treeTiles',
  /** lineage u16 → leaves shared with the lineage before u32 (the cut of a BackwardLET). */
  lineages: 'lineages',
  /**
   * hash kind u8 → the directory of its runs; hash kind u8, run u32, bucket u32 → entries (`hashRun`): finds rows by transaction
   * hash or leaf hash, and tree versions by local exit root.
   */
  hashRuns: 'hashRuns',
  /**
   * first index of the chunk u32 → up to L1_INFO_LEAVES_PER_CHUNK packed leaves (`l1InfoLeafRow`). Only network 0 fills this
   * table and the next four.
   */
  l1InfoLeaves: 'l1InfoLeaves',
  /** global exit root 32 → L1 info tree index u32. */
  l1InfoIndexByGer: 'l1InfoIndexByGer',
  /** rollup exit root 32 → version u32: the number of settlements that lead to it; UNRESOLVABLE_VERSION for roots that no settlements lead to. */
  rollupExitVersions: 'rollupExitVersions',
  /** network u32, version u32 → local exit root 32: the rollup's leaf from this version on. */
  settledLocalExitRoots: 'settledLocalExitRoots',
  /** network u32 → chain id u64, rollup address 20. */
  rollups: 'rollups',
  /** token mapping ordinal u32 → packed token mapping (`tokenMappingRow`). */
  tokenMappings: 'tokenMappings',
  /** block u48, part u16 → old value of each key that the block changed. Only the store itself writes it. */
  undo: 'undo',
  /** first claim ordinal of the chunk u32 → transaction hash 32 per claim. Apart from `claims`, because pages of bridges need only this of a claim. */
  claimHashes: 'claimHashes',
  /** local exit root 32 → lineage u32, leaf count u32: roots settled inside a block. `hashRuns` has the roots of block ends. */
  settledInsideBlocks: 'settledInsideBlocks',
  /**
   * lineage u16, first deposit count u32 → deposit count after the last one u32: a stretch of regrown deposits, at whose counts
   * this older lineage had the same leaves as the tree has now.
   */
  regrownStretches: 'regrownStretches',
  /** dictionary id u32 → length u32, keccak-256 32: the digest of metadata that is too long for pages of rows. */
  longMetadata: 'longMetadata',
  /**
   * kind u8, ordinal u32 (`senderRow`) → note u8: rows whose caller is provisional, or that have no sender because no endpoint
   * knows the transaction. Their senders are asked for again.
   */
  senderNotes: 'senderNotes',
  /** kind u8, ordinal u32 → caller and transaction sender from a later answer. They replace those of the sender table. */
  senderCorrections: 'senderCorrections',
  /** kind u8, address 20, ordinal u32 → 0 u8: rows that corrections add to the lists `depositsBySender` and `claimsBySender`. */
  senderAdditions: 'senderAdditions',
  /** sequence u48 → one event (`feedEvent`). Outside undo, and kept when the shard starts over: what is taken back is told. */
  feed: 'feed',
  /**
   * source network u32, deposit count u32 → what the feed has told of a deposit that can be claimed here (`claimableRow`). Outside undo, as
   * the feed is.
   */
  claimable: 'claimable',
  /** kind u8, number u32 → where and when the event of a row happened (`eventPlace` in `store/places`), of rows that do not tell it themselves. */
  eventPlaces: 'eventPlaces',
  /** removal ordinal u32 → global exit root that was taken out of the manager (`gerRemovalEntry` there). */
  gerRemovals: 'gerRemovals',
  /** unset ordinal u32 → an event that took a claim back (`unsetClaimRow` there). */
  unsetClaims: 'unsetClaims',
  /** token migration ordinal u32 → packed token migration (`tokenMigrationRow` there). */
  tokenMigrations: 'tokenMigrations',
} as const

export type TableName = keyof typeof tables

// A value of n · 4096 − 16 bytes fills its overflow pages exactly; ≤ 4080 bytes is one page. Rows per chunk = ⌊4080 / row⌋.
/** 119 bytes each. */
export const DEPOSITS_PER_CHUNK = 34
/** 50 bytes each. Chunks of half a page would save nothing: LMDB splits a page of two such chunks into two pages. */
export const SENDERS_PER_CHUNK = 81
/** 118 bytes each. */
export const CLAIMS_PER_CHUNK = 34
/** 32 bytes each. */
export const CLAIM_HASHES_PER_CHUNK = 127
/** 4 bytes each. */
export const CLAIM_LINKS_PER_CHUNK = 1_020
/** 180 bytes each. */
export const L1_INFO_LEAVES_PER_CHUNK = 22
/** Ordinals in one full chunk of a list, 4 bytes each. */
export const LIST_CHUNK = 256

/** The version that stands for a rollup exit root to which no known settlements lead. */
export const UNRESOLVABLE_VERSION = 0xffff_ffff

/** Kinds of chunked ordinal lists. The numbers are on disk: never reuse one (4 and 8 were lists by transaction, now hash runs). */
export const listKinds = {
  /** key: address 20 → deposit counts below the watermark whose caller or transaction sender has this address. */
  depositsBySender: 1,
  /** key: network u32 → deposit counts. */
  depositsByDestinationNetwork: 2,
  /** key: address 20 → deposit counts. */
  depositsByDestinationAddress: 3,
  /**
   * key: address 20 → claim ordinals below the watermark whose caller or transaction sender has this address. All lists of claims
   * also hold claims out of force: readers leave out those in `claimsOutOfForce`.
   */
  claimsBySender: 5,
  /** key: address 20 → claim ordinals. */
  claimsByDestinationAddress: 6,
  /** key: source network u32 → claim ordinals. */
  claimsBySourceNetwork: 7,
  /** key: network u32, address 20 of the origin token → token mapping ordinals. */
  mappingsByOriginToken: 9,
  /** key: address 20 → token mapping ordinals. */
  mappingsByWrappedToken: 10,
  /** no key → ordinals of claims that an administrator set (SetClaim): readers leave out those whose deposit is not stored yet. */
  claimsSetByAdministrator: 11,
  /** key: leaf hash 32 → archive ordinals: finds the archived deposit that a ForwardLET leaf repeats. */
  archivedByLeafHash: 12,
  /** key: leaf type u8 other than 0 → deposit counts. Leaf type 0 (most deposits) has no list: it is all the others. */
  depositsByLeafType: 13,
  /** key: address 20 → token migration ordinals. */
  migrationsByLegacyToken: 14,
} as const

export type ListKind = (typeof listKinds)[keyof typeof listKinds]

/** Kinds of hash runs. The numbers are on disk: never reuse one. */
export const hashKinds = {
  /** first 8 bytes of the transaction hash → deposit count. Readers compare the whole hash with the row's. */
  depositsByTransaction: 1,
  /** first 8 bytes of the transaction hash → claim ordinal. */
  claimsByTransaction: 2,
  /** local exit root 32 → lineage u32, leaf count u32: roots of this network's tree at block ends. The newest entry of a root counts. */
  localExitRoots: 3,
  /** first 8 bytes of the leaf hash → deposit count. Readers compare the whole hash with the tree's leaf. */
  depositsByLeafHash: 4,
} as const

export type HashKind = (typeof hashKinds)[keyof typeof hashKinds]
