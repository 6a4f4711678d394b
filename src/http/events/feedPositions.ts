import type { StatusBoardHandle, StatusRow } from '../../board/statusBoard.js'
import { changeReader, statusRow } from '../../board/statusBoard.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import { feedName } from '../../query/feed/feedRecords.js'

/** A place in one network's feed. */
export interface FeedPosition {
  readonly feedId: number
  /** Sequence of the last event that was read; 0 before the first. */
  readonly sequence: number
}

/** One position for each network: there is no order between events of two networks. */
export type FeedPositions = ReadonlyMap<NetworkId, FeedPosition>

/** One position as text: `network.feed:sequence`. */
const POSITION = /^(0|[1-9]\d{0,9})\.([0-9a-f]{12}):(0|[1-9]\d{0,14})$/

export function positionText(networkId: NetworkId, { feedId, sequence }: FeedPosition): string {
  return `${networkId}.${feedName(feedId)}:${sequence}`
}

/** @returns undefined for a text that no stream and no list has given. */
export function parsePositions(text: string): FeedPositions | undefined {
  const positions = new Map<NetworkId, FeedPosition>()
  for (const part of text.split(',')) {
    const [, network, feed, sequence] = POSITION.exec(part) ?? []
    if (network === undefined || positions.has(asNetworkId(Number(network)))) return undefined
    positions.set(asNetworkId(Number(network)), {
      feedId: Number.parseInt(feed!, 16),
      sequence: Number(sequence),
    })
  }
  return positions
}

/** Which events of a network's feed there are, as the status board tells it. */
export interface FeedExtent extends FeedPosition {
  readonly oldest: number
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
  const readAll = (): string => rows.map(([id, row]) => positionText(id, readExtent(row))).join(',')
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
