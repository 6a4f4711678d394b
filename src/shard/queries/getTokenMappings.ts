import { type Answer, success } from '../../query/answers.js'
import { encodeCursor, filterHash } from '../../query/cursor.js'
import type { TokenMappingsQuery } from '../../query/queries.js'
import { type Page, type TokenMappingRecord, tokenMappingTemplate } from '../../query/records.js'
import { cursorOutdated } from '../../query/refusals.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import { tokenKey } from '../../store/layout/keys.js'
import { listKinds } from '../../store/layout/tables.js'
import { listHas, listOf, type OrdinalList, wholeRange } from '../sets/ordinalList.js'
import {
  ordinalBoundBefore,
  type Strand,
  Timeline,
  type TimelineKey,
  type TimeOrder,
} from '../sets/timeline.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { ShardReaders } from './shardReaders.js'

interface ViewStrand extends Strand {
  readonly view: ShardView
}

/** Token mappings of one network or of all, sorted by time, then network, then ordinal; newest first unless the query asks otherwise. */
export function getTokenMappings(
  shards: ShardReaders,
  query: TokenMappingsQuery,
  template: RowTemplate = tokenMappingTemplate,
): Answer<Page<TokenMappingRecord>> {
  const { networkId, pageSize, isAscending = false } = query
  const asked = networkId === undefined ? shards.networkIds : [networkId]
  const strands = asked.map((id) => strandOf(shards, shards.get(id), query))
  const timeline = new Timeline(strands)
  const total = timeline.length
  let skipped = (query.pageNumber - 1) * pageSize
  if (query.cursor !== undefined) {
    const border = borderOf(query.cursor, strands)
    if (border === undefined) return cursorOutdated()
    skipped = isAscending ? timeline.rank(border) : total - timeline.rank(border)
  }
  const from = isAscending ? skipped : Math.max(0, total - skipped - pageSize)
  const to = isAscending ? Math.min(total, skipped + pageSize) : total - skipped
  const places = timeline.slice(from, to)
  if (!isAscending) places.reverse()
  const views = new Map(strands.map(({ view }) => [view.networkId as number, view]))
  return success({
    template,
    rows: places.map((place) => shards.tokenMappingRecords.get(views.get(place.networkId)!, place.ordinal)),
    page: query.cursor === undefined ? query.pageNumber : Math.floor(skipped / pageSize) + 1,
    limit: pageSize,
    total,
    nextCursor: (isAscending ? to >= total : from <= 0) ? null : cursorAfter(places.at(-1), strands, query),
  })
}

function strandOf(
  shards: ShardReaders,
  view: ShardView,
  { tokenAddress: eitherSide, originTokenAddress, tokenNetwork }: TokenMappingsQuery,
): ViewStrand {
  const { byOriginNetwork, order, length } = shards.tokenMappings.of(view)
  const tokenAddress = eitherSide ?? originTokenAddress
  const strand = (rows: OrdinalList) => ({ view, networkId: view.networkId, rows, order })
  if (tokenAddress === undefined && tokenNetwork === undefined) return strand(wholeRange(length))
  const ofNetwork =
    tokenNetwork === undefined ? wholeRange(length) : listOf(byOriginNetwork.get(tokenNetwork) ?? [])
  if (tokenAddress === undefined) return strand(placesOf(ofNetwork, order))
  // The address may be that of the wrapped token, or of the origin token on any network.
  const wrapped =
    eitherSide === undefined ? listOf([]) : view.list(listKinds.mappingsByWrappedToken, eitherSide)
  const networks = tokenNetwork === undefined ? byOriginNetwork.keys() : [tokenNetwork]
  const found = new Set(wrapped.slice(0, wrapped.length).filter((ordinal) => listHas(ofNetwork, ordinal)))
  for (const network of networks) {
    const ofToken = view.list(listKinds.mappingsByOriginToken, tokenKey(network, tokenAddress))
    for (const ordinal of ofToken.slice(0, ofToken.length)) found.add(ordinal)
  }
  return strand(placesOf(listOf([...found].sort((left, right) => left - right)), order))
}

/** Turns ordinals of a network into places in its order by time. */
function placesOf(ordinals: OrdinalList, { mixed }: TimeOrder): OrdinalList {
  if (mixed === undefined) return ordinals
  const places = ordinals.slice(0, ordinals.length).map((ordinal) => mixed.places[ordinal]!)
  return listOf(places.sort((left, right) => left - right))
}

/** The cursor for the rows after a page. @param last row of the page. @returns null when the page is empty. */
function cursorAfter(
  last: TimelineKey | undefined,
  strands: readonly ViewStrand[],
  query: TokenMappingsQuery,
): string | null {
  if (last === undefined) return null
  const { isAscending = false } = query
  return encodeCursor({
    isAscending,
    filterHash: filterHash('getTokenMappings', query),
    numbers: [
      countRewinds(strands),
      last.timestampSec,
      last.networkId,
      isAscending ? last.ordinal + 1 : last.ordinal,
    ],
  })
}

/** Number of rewinds of all networks together, so that a cursor need not name each. */
function countRewinds(strands: readonly ViewStrand[]): number {
  return strands.reduce((sum, { view }) => sum + view.state.epoch, 0)
}

/** The key between the rows already given and the rest; undefined when a rewind may have replaced rows before it since the cursor was made. */
function borderOf(cursor: readonly number[], strands: readonly ViewStrand[]): TimelineKey | undefined {
  const [seen = 0, timestampSec = 0, networkId = 0, ordinal = 0] = cursor
  const border = { timestampSec, networkId, ordinal }
  const missed = countRewinds(strands) - seen
  if (missed < 0) return undefined
  for (const strand of strands) {
    const { state } = strand.view
    // Each network may have had all the missed rewinds. Assuming too many only refuses a cursor that would still be right.
    const untouched = state.untouchedSince(Math.max(0, state.epoch - missed)).tokenMappings
    if (untouched < ordinalBoundBefore(strand, border)) return undefined
  }
  return border
}
