import { decodeFeedEvent, type FeedEvent } from '../../store/feed/feedEvent.js'
import { readUint48BigEndian } from '../../store/layout/bytes.js'
import { feedKey } from '../../store/layout/keys.js'
import type { ReadView } from '../../store/shardStore.types.js'

export interface FeedEntry {
  readonly sequence: number
  readonly event: FeedEvent
}

/**
 * The events behind `after`, oldest first, at most `limit`. Whether the feed still has all of them, its place tells: `readFeedPlace` of
 * the same snapshot. @returns copies.
 */
export function readFeed(view: ReadView, after: number, limit: number): FeedEntry[] {
  return view
    .list('feed', { start: feedKey(after + 1), end: feedKey(2 ** 48 - 1), limit })
    .map(({ key, value }) => ({ sequence: readUint48BigEndian(key, 0), event: decodeFeedEvent(value) }))
}
