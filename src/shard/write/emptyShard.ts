import { type MetaName, metaKey } from '../../store/layout/keys.js'
import { decodeStartOvers, encodeStartOvers } from '../../store/layout/metaValues.js'
import { type TableName, tables } from '../../store/layout/tables.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import { noteRewind } from '../position/chainPosition.js'
import type { StartOvers } from '../shardCommand.types.js'

/**
 * Meta entries that stay when a shard is emptied: what identifies chain, store and log, numbers that must never fall for readers, and what
 * is known of the chain's head and not of stored blocks.
 */
const KEPT_NAMES: ReadonlySet<MetaName> = new Set([
  'schema',
  'identity',
  'origin',
  'epoch',
  'commits',
  'startOvers',
  'senderCorrections',
  'log',
  'haltReason',
  'headPlace',
  'feed',
  'feedFile',
  'lastReorg',
])

/** Tables that stay: what was told was told. */
const KEPT_TABLES: ReadonlySet<TableName> = new Set(['meta', 'feed'])

const ALL_KEYS = { start: Uint8Array.of(0), end: Uint8Array.of(0xff) }

/** Empties the shard inside the transaction. Readers see it as a reorg of every block. */
export function emptyShard(view: WriteView, startOvers: StartOvers): void {
  view.setUndoBlock(undefined)
  for (const table of Object.keys(tables) as TableName[]) if (!KEPT_TABLES.has(table)) view.clear(table)
  const kept = [...KEPT_NAMES].map((name) => Buffer.from(metaKey(name)).toString('latin1'))
  for (const { key } of view.list('meta', ALL_KEYS))
    if (!kept.includes(Buffer.from(key).toString('latin1'))) view.remove('meta', key)
  noteRewind(view, { deposits: 0, claims: 0, tokenMappings: 0 }, { isReorg: true })
  putStartOvers(view, startOvers)
}

export function readStartOvers(view: ReadView): StartOvers | undefined {
  const stored = view.get('meta', metaKey('startOvers'))
  return stored === undefined ? undefined : decodeStartOvers(stored)
}

export function putStartOvers(view: WriteView, startOvers: StartOvers): void {
  view.put('meta', metaKey('startOvers'), encodeStartOvers(startOvers))
}
