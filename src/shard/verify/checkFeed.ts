import { decodeClaimableRow } from '../../store/feed/claimableRow.js'
import { decodeFeedEvent } from '../../store/feed/feedEvent.js'
import { readUint48BigEndian } from '../../store/layout/bytes.js'
import { readFeedPlace } from '../position/feedPosition.js'
import { DamageError, entriesOf, expectEqual, type VerifyContext } from './check.js'

/** Checks that the feed has each event from the oldest to the newest, and that each can be read, as what it has told of claimable deposits. */
export function checkFeed({ view }: VerifyContext): string {
  const place = readFeedPlace(view)
  let next = place?.oldest ?? 1
  for (const { key, value } of entriesOf(view, 'feed')) {
    expectEqual('event of the feed', next, readUint48BigEndian(key, 0))
    decodeFeedEvent(value)
    next++
  }
  if (next !== (place?.newest ?? 0) + 1)
    throw new DamageError(`event ${next} of the feed is missing: the newest is ${place?.newest ?? 'none'}`)
  let claimable = 0
  for (const { value } of entriesOf(view, 'claimable')) {
    decodeClaimableRow(value)
    claimable++
  }
  return `${next - (place?.oldest ?? 1)} events, ${claimable} claimable deposits`
}
