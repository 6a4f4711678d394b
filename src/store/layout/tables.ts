/**
 * Every table of a shard: its key, its value and why it is there. All integers are big-endian in keys (so that order in
 * the store is order of the number) and little-endian in values. Keys grow in arrival order wherever they can.
 *
 * Row layouts stand in files of their own beside this one; this page and they must agree.
 */
export const tables = {
  /** text key → small values: schema, identity, checkpoint, counters, watermarks. */
  meta: 'meta',
  /** block u48 → hash 32, parent hash 32, timestamp u48. Blocks with events and batch ends of the window that may be undone. */
  headers: 'headers',
  /** first deposit count of the chunk u32 → up to DEPOSITS_PER_CHUNK packed deposits (`depositRow`). */
  deposits: 'deposits',
  /** first deposit count of the chunk u32 → caller and transaction sender per deposit; only resolved ones (a prefix). */
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
   * list kind u8, list key → number of ordinals u32, then the ordinals u32 after the last full chunk: most lists are
   * short, so one entry holds them whole.
   */
  listHeads: 'listHeads',
  /** first claim ordinal of the chunk u32 → up to CLAIMS_PER_CHUNK packed claims (`claimRow`). */
  claims: 'claims',
  /** first claim ordinal of the chunk u32 → caller and transaction sender per claim; only resolved ones (a prefix). */
  claimSenders: 'claimSenders',
  /** source network u32, deposit count / CLAIM_LINKS_PER_CHUNK u32 → per deposit: claim ordinal + 1 u32 (0 = not claimed). */
  claimLinks: 'claimLinks',
  /** claim ordinal u32 → 0 u8: claims that are no longer in force (unset, or superseded). Few; lists keep their ordinals. */
  claimsOutOfForce: 'claimsOutOfForce',
  /** injection ordinal u32 → global exit root 32, block u48: in the order of the destination's events. */
  injectedGers: 'injectedGers',
  /** global exit root 32 → injection ordinal u32, in force u8. */
  gerStates: 'gerStates',
  /** tree u8, lineage u16, group u8, tile index u32 → TILE_BYTES of complete nodes. */
  treeTiles: 'treeTiles',
  /** lineage u16 → leaves shared with the lineage before u32 (the cut of a BackwardLET). */
  lineages: 'lineages',
  /**
   * hash kind u8 → the directory of its runs; hash kind u8, run u32, bucket u32 → entries (`hashRun`). What is looked
   * up by transaction hash or exit root.
   */
  hashRuns: 'hashRuns',
  /** first index of the chunk u32 → up to L1_INFO_LEAVES_PER_CHUNK packed leaves. Network 0 only, like all below. */
  l1InfoLeaves: 'l1InfoLeaves',
  /** global exit root 32 → L1 info tree index u32. */
  l1InfoIndexByGer: 'l1InfoIndexByGer',
  /** rollup exit root 32 → version u32: number of settlements that make it; UNRESOLVABLE_VERSION for roots of no tree. */
  rollupExitVersions: 'rollupExitVersions',
  /** network u32, version u32 → local exit root 32: what the rollup's leaf is from this version on. */
  settledLocalExitRoots: 'settledLocalExitRoots',
  /** network u32 → chain id u64, rollup address 20. */
  rollups: 'rollups',
  /** token mapping ordinal u32 → packed token mapping. */
  tokenMappings: 'tokenMappings',
  /** block u48, part u16 → old value of each key that the block changed: written by the store alone. */
  undo: 'undo',
  /** first claim ordinal of the chunk u32 → transaction hash 32 per claim: a page of bridges names the claims, and needs no more of them. */
  claimHashes: 'claimHashes',
  /** exit root 32 → lineage u32, leaf count u32: roots inside a block that were settled (`hashRuns` has those of block ends). */
  settledInsideBlocks: 'settledInsideBlocks',
  /**
   * lineage u16, deposit count u32 → deposit count behind the stretch u32: counts above every cut since at which the older
   * lineage had today's leaf.
   */
  regrownStretches: 'regrownStretches',
  /** dictionary id u32 → length u32, keccak-256 32: of metadata that are too long for a list. */
  longMetadata: 'longMetadata',
  /**
   * kind u8, ordinal u32 (`senderRow`) → note u8: rows whose sender was filled in for want of better, or is nobody
   * as no endpoint knows the transaction. They are asked for again.
   */
  senderNotes: 'senderNotes',
  /** kind u8, ordinal u32 → caller and transaction sender from a later answer: they replace those of the sender table. */
  senderCorrections: 'senderCorrections',
  /** kind u8, address 20, ordinal u32 → 0 u8: what corrections add to the lists of `depositsBySender` and `claimsBySender`. */
  senderAdditions: 'senderAdditions',
} as const

export type TableName = keyof typeof tables

// A value of n · 4096 − 16 bytes fills its overflow pages exactly; ≤ 4080 bytes is one page. Rows per chunk = ⌊4080 / row⌋.
/** 119 bytes each. */
export const DEPOSITS_PER_CHUNK = 34
/** 50 bytes each. Two smaller chunks would share a page only if LMDB did not split pages of two into pages of one. */
export const SENDERS_PER_CHUNK = 81
/** 118 bytes each. */
export const CLAIMS_PER_CHUNK = 34
/** 32 bytes each. */
export const CLAIM_HASHES_PER_CHUNK = 127
/** 4 bytes each. */
export const CLAIM_LINKS_PER_CHUNK = 1_020
/** 180 bytes each. */
export const L1_INFO_LEAVES_PER_CHUNK = 22
export const LIST_CHUNK = 256
export const UNRESOLVABLE_VERSION = 0xffff_ffff

/** Kinds of chunked ordinal lists. Numbers are on disk: never reuse one (4 and 8 were transactions, which have hash runs now). */
export const listKinds = {
  /** key: address 20 → deposit counts whose caller or transaction sender it is (behind the sender watermark). */
  depositsBySender: 1,
  /** key: network u32 → deposit counts. */
  depositsByDestinationNetwork: 2,
  /** key: address 20 → deposit counts. */
  depositsByDestinationAddress: 3,
  /** key: address 20 → claim ordinals whose caller or transaction sender it is (behind the sender watermark). Claim lists hold
   *  claims out of force too: readers skip them by `claimsOutOfForce`. */
  claimsBySender: 5,
  /** key: address 20 → claim ordinals. */
  claimsByDestinationAddress: 6,
  /** key: source network u32 → claim ordinals. */
  claimsBySourceNetwork: 7,
  /** key: network u32, address 20 of the token at home → token mapping ordinals. */
  mappingsByOriginToken: 9,
  /** key: address 20 → token mapping ordinals. */
  mappingsByWrappedToken: 10,
  /** no key → ordinals of claims set by an administrator (SetClaim): readers leave out those whose deposit is not known yet. */
  claimsSetByAdministrator: 11,
  /** key: leaf hash 32 → archive ordinals: finds the archived deposit that a ForwardLET leaf repeats. */
  archivedByLeafHash: 12,
  /** key: leaf type u8, other than 0 → deposit counts. Most deposits are assets (0): those are the rest. */
  depositsByLeafType: 13,
} as const

export type ListKind = (typeof listKinds)[keyof typeof listKinds]

/** Kinds of hash runs. Numbers are on disk. */
export const hashKinds = {
  /** first 8 bytes of the transaction hash → deposit count: readers compare the rest with the row. */
  depositsByTransaction: 1,
  /** first 8 bytes of the transaction hash → claim ordinal. */
  claimsByTransaction: 2,
  /** exit root 32 → lineage u32, leaf count u32: roots of this network's local exit tree. The newest entry counts. */
  localExitRoots: 3,
} as const

export type HashKind = (typeof hashKinds)[keyof typeof hashKinds]
