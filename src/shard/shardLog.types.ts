import type { Address, Hash } from '../protocol/chainEvent.js'
import type { BlockNumber, NetworkId } from '../protocol/units.js'
import type { TableName } from '../store/layout/tables.js'

/** Where a command stands in the log of its network. */
export interface LogPlace {
  /** Of the command's last message: whoever goes on behind it misses nothing and meets nothing twice. From 1 on. */
  readonly sequence: number
  /** 16 bytes. */
  readonly commandId: Uint8Array
}

/** What the first command of a log says: which log it is, and every setting that decides what its commands store. */
export interface LogSettings {
  /** 16 bytes that no other log has: a log that was deleted and made anew is another one. */
  readonly logId: Uint8Array
  readonly networkId: NetworkId
  readonly chainId: number
  readonly bridge: Address
  readonly globalExitRootManager: Address
  /** Network 0 only. */
  readonly rollupManager: Address | undefined
  readonly startBlock: BlockNumber
  readonly rollbackBlocks: number
  readonly finalityTag: 'latest' | 'safe' | 'finalized'
  /** Blocks below the tag. */
  readonly finalityDepth: number
  readonly gerInjection: 'auto' | 'event' | 'poll'
  /** Events of the feed that are kept. */
  readonly feedKeepEvents: number
}

/** Up to `entries` entries of a table from a key on, in the order of their keys. */
export interface TableStretch {
  readonly table: TableName
  /** The first key, or where it would stand. */
  readonly from: Uint8Array
  readonly entries: number
}

/** What a shard holds at one place of its log, so that another one can be compared with it. */
export interface ShardMark {
  readonly localExitRoot: Hash
  readonly deposits: number
  /** Claims in force. */
  readonly claims: number
  readonly l1InfoLeaves: number
  /** A part of the tables: all of them together would take too long. */
  readonly stretch: TableStretch
  /** SHA-256 over table `meta` and the stretch. */
  readonly digest: Hash
  /** Of the store that the digest was made from. Another one has other bytes, and only the numbers above are compared with it. */
  readonly schema: number
}
