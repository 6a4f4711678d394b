import { encodeGlobalIndexBytes } from '../../protocol/globalIndex.js'
import { shownMetadata } from '../../protocol/metadata.js'
import { asBlockNumber, type NetworkId } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import { type FeedPage, type FeedRecord, feedName } from '../../query/feed/feedRecords.js'
import type { FeedQuery } from '../../query/queries.js'
import type { FeedEvent } from '../../store/feed/feedEvent.js'
import type { ShardReaders } from './shardReaders.js'

/** The events behind one of them, as far as the feed still has them: `oldest` tells whether it does. */
export function readFeed(shards: ShardReaders, { networkId, after, limit }: FeedQuery): Answer<FeedPage> {
  const view = shards.get(networkId)
  const place = view.feedPlace
  if (place === undefined) return success({ feedId: 0, oldest: 1, newest: 0, events: [] })
  const name = feedName(place.feedId)
  const events = view.listFeed(after, limit).map(({ sequence, event }) => ({
    sequence,
    record: recordOf(networkId, `${networkId}.${name}:${sequence}`, event),
  }))
  return success({ ...place, events })
}

function recordOf(networkId: NetworkId, id: string, event: FeedEvent): FeedRecord {
  switch (event.type) {
    case 'bridge':
      return {
        ...event,
        ...shownMetadata(event.metadata),
        ...{ id, networkId },
        originAddress: event.sender?.caller ?? null,
        transactionSender: event.sender?.transactionSender ?? null,
        globalIndex: encodeGlobalIndexBytes(networkId, event.depositCount),
      }
    case 'claim':
      return {
        ...event,
        ...{ id, networkId },
        amount: event.content?.amount ?? null,
        destinationAddress: event.content?.destinationAddress ?? null,
        tokenNetwork: event.content?.tokenNetwork ?? null,
        tokenAddress: event.content?.tokenAddress ?? null,
        caller: event.sender?.caller ?? null,
        transactionSender: event.sender?.transactionSender ?? null,
      }
    case 'claimable':
    case 'unclaimable': {
      const globalIndex = encodeGlobalIndexBytes(event.sourceNetwork, event.depositCount)
      return { ...event, id, networkId, globalIndex }
    }
    case 'token_mapping':
      return { ...event, ...shownMetadata(event.metadata), id, wrappedNetwork: networkId }
    case 'reorg':
      return { ...event, id, networkId, ancestor: event.ancestor < 0 ? null : asBlockNumber(event.ancestor) }
    default:
      return { ...event, id, networkId }
  }
}
