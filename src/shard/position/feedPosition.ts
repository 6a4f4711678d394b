import { readUint48 } from '../../store/layout/bytes.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeFeedPlace, encodeFeedPlace, type FeedPlace } from '../../store/layout/metaValues.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'

/** The feed of a log is named after it. @param logId 16 bytes, random ones. */
export function feedIdOfLog(logId: Uint8Array): number {
  return readUint48(logId, 0)
}

/** undefined: the shard has no feed, since nothing has begun one. */
export function readFeedPlace(view: Pick<ReadView, 'get'>): FeedPlace | undefined {
  const stored = view.get('meta', metaKey('feed'))
  return stored === undefined ? undefined : decodeFeedPlace(stored)
}

/** Whether the feed was told of all that could be claimed when the network had caught up: from then on it is told of each change. */
export function isClaimableTold(view: Pick<ReadView, 'get'>): boolean {
  return view.get('meta', metaKey('claimableTold')) !== undefined
}

export function putClaimableTold(view: Pick<WriteView, 'putUnseen' | 'removeUnseen'>, isTold: boolean): void {
  if (isTold) view.putUnseen('meta', metaKey('claimableTold'), Uint8Array.of(1))
  else view.removeUnseen('meta', metaKey('claimableTold'))
}

/** Unseen: no other answer depends on the feed, and no reorg takes it back. */
export function putFeedPlace(view: Pick<WriteView, 'putUnseen'>, place: FeedPlace): void {
  view.putUnseen('meta', metaKey('feed'), encodeFeedPlace(place))
}
