import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { metaKey } from './layout/keys.js'
import { encodeFeedPlace } from './layout/metaValues.js'
import type { ReadView, ShardStoreWriter, WriteView } from './shardStore.types.js'

/**
 * Begins a store's feed where there is none: in a new store, and in one that was upgraded. Begins another one where the store's file is not
 * the one of its last start: it was restored or copied, and the numbers behind its newest event may have been given to other events since.
 * The feed of a log is that of all instances, and never changes.
 */
export function ensureFeed(store: ShardStoreWriter, directory: string): void {
  if (store.get('meta', metaKey('log')) !== undefined) return
  const file = String(statSync(join(directory, 'data.mdb'), { bigint: true }).ino)
  if (store.get('meta', metaKey('feed')) !== undefined && knownFile(store) === file) return
  try {
    beginFeed(store, randomBytes(6).readUIntBE(0, 6), (view) =>
      view.putUnseen('meta', metaKey('feedFile'), Buffer.from(file)),
    )
  } catch (error) {
    // A full disk stops no store that is there already: it is served, and its feed begins with the next start.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

/** Has the next start begin another feed, whichever file the store is in by then: a restored one may have the inode of its backup's source. */
export function endFeed(store: Pick<ShardStoreWriter, 'transact'>): void {
  store.transact((view) => view.removeUnseen('meta', metaKey('feedFile')))
}

/** @param feedId 48 random bits: an id of an event is then one of this feed and of no other. @param also done in the same transaction. */
export function beginFeed(
  store: Pick<ShardStoreWriter, 'transact' | 'get'>,
  feedId: number,
  also: (view: WriteView) => void = () => undefined,
): void {
  store.transact((view) => {
    if (view.get('meta', metaKey('feed')) !== undefined) {
      view.clear('feed')
      view.clear('claimable')
      view.removeUnseen('meta', metaKey('claimableTold'))
    }
    view.putUnseen('meta', metaKey('feed'), encodeFeedPlace({ feedId, oldest: 1, newest: 0 }))
    also(view)
  })
}

function knownFile(store: Pick<ReadView, 'get'>): string | undefined {
  const stored = store.get('meta', metaKey('feedFile'))
  return stored === undefined ? undefined : Buffer.from(stored).toString()
}
