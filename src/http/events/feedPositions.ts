import type { StatusBoardHandle, StatusRow } from '../../board/statusBoard.js'
import { changeReader, statusRow } from '../../board/statusBoard.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import { feedName } from '../../query/feed/feedRecords.js'
import { readDecimal } from '../wire/decimal.js'

/** A place in one network's feed. */
export interface FeedPosition {
  readonly feedId: number
  /** Sequence of the last event that was read; 0 before the first. */
  readonly sequence: number
}

/** One position for each network: there is no order between events of two networks. */
export type FeedPositions = ReadonlyMap<NetworkId, FeedPosition>

// One position as text: `network.feed:sequence`.
const MAX_NETWORK_DIGITS = 10
const MAX_NETWORK = 0xffff_ffff
const FEED = /^[0-9a-f]{12}$/
const MAX_SEQUENCE_DIGITS = 15

export function positionText(networkId: NetworkId, { feedId, sequence }: FeedPosition): string {
  return `${networkId}.${feedName(feedId)}:${sequence}`
}

/** @returns undefined for a text that no stream and no list has given. */
export function parsePositions(text: string): FeedPositions | undefined {
  const positions = new Map<NetworkId, FeedPosition>()
  for (let from = 0, to = 0; to < text.length || from === 0; from = to + 1) {
    to = text.indexOf(',', from)
    if (to < 0) to = text.length
    const dot = text.indexOf('.', from)
    const colon = text.indexOf(':', from)
    const network = readDecimal(text, from, dot, MAX_NETWORK_DIGITS)
    const sequence = readDecimal(text, colon + 1, to, MAX_SEQUENCE_DIGITS)
    const feed = text.slice(dot + 1, colon)
    if (network < 0 || network > MAX_NETWORK || sequence < 0 || !FEED.test(feed)) return undefined
    if (positions.has(asNetworkId(network))) return undefined
    positions.set(asNetworkId(network), { feedId: Number.parseInt(feed, 16), sequence })
  }
  return positions
}

/** Which events of a network's feed there are, as the status board tells it. */
export interface FeedExtent extends FeedPosition {
  readonly oldest: number
}

/** Where a reader of lists may go on from: they hold all that was told up to there. */
function readListed(row: StatusRow): FeedPosition {
  const { feedId, sequence } = readExtent(row)
  // Behind the end: it is set before, and taken back after what it waits for.
  return { feedId, sequence: Math.min(sequence, row.get('feedAhead') ?? sequence) }
}

export function readExtent(row: StatusRow): FeedExtent {
  // In the order that is the opposite of that in which they are written.
  const sequence = row.get('feedNewest')
  const oldest = row.get('feedOldest')
  return { feedId: row.get('feedId'), oldest, sequence }
}

/**
 * @returns a function that tells where all feeds are now, as `X-Feed-Position` has it. To be called before lists are read: what they
 * hold is then as new as that, or newer.
 */
export function createPositionReader(status: StatusBoardHandle): () => string {
  const readChanges = changeReader(status)
  const rows = status.networkIds.map((id) => [asNetworkId(id), statusRow(status, id)] as const)
  const readAll = (): string => rows.map(([id, row]) => positionText(id, readListed(row))).join(',')
  let changes = readChanges()
  let text = readAll()
  return () => {
    const now = readChanges()
    if (now !== changes) {
      changes = now
      text = readAll()
    }
    return text
  }
}
