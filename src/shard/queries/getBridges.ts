import { type Answer, success } from '../../query/answers.js'
import type { BridgesQuery } from '../../query/queries.js'
import type { BridgeRecord, Page } from '../../query/records.js'
import { networkNotServed } from '../../query/refusals.js'
import { PackedPage } from '../rows/packedPage.js'
import { type OrdinalStretch, within } from '../sets/listAlgebra.js'
import type { ShardView } from '../snapshot/shardView.js'
import { makeBridgeRecord } from './bridgeRecord.js'
import { pageOf } from './pageOf.js'
import { selectBridges } from './selectBridges.js'
import type { ShardReaders } from './shardReaders.js'

/** Deposits of one network, newest first unless the query asks otherwise. A page beyond the end is empty, with the same total. */
export function getBridges(shards: ShardReaders, query: BridgesQuery): Answer<Page<BridgeRecord>> {
  const source = shards.find(query.networkId)
  if (source === undefined) return networkNotServed(query.networkId)
  const matching = selectBridges(shards, source, query)
  const isExact = isOfTime(query) && source.state.doTimesFall
  const list = isExact ? within(matching, ofTime(shards, source, query)) : matching
  const frame = {
    operation: 'getBridges' as const,
    from: firstOf(source, query, isExact),
    below: endOf(source, query, isExact),
    state: source.state,
    rows: 'deposits' as const,
  }
  const page = pageOf(list, frame, query)
  if (!page.ok) return page
  const isAlone = query.depositCounts?.length === 1
  return success(
    new PackedPage(
      page.value,
      (writer) => shards.rowPackers.bridges(writer, source),
      (depositCount) => makeBridgeRecord(shards, source, depositCount, isAlone),
    ),
  )
}

function isOfTime({ fromTimestampSec, toTimestampSec }: BridgesQuery): boolean {
  return fromTimestampSec !== undefined || toTimestampSec !== undefined
}

function ofTime(shards: ShardReaders, source: ShardView, query: BridgesQuery): OrdinalStretch[] {
  const { fromTimestampSec = 0, toTimestampSec = Number.POSITIVE_INFINITY } = query
  return shards.depositTimes(source).within(source, fromTimestampSec, toTimestampSec)
}

/**
 * The first deposit in the query's range of blocks and times. Deposits are in the order of their blocks, so a range of blocks is a
 * range of deposit counts; so is a range of times, unless times fall.
 * @param isExact true when times fall: the list then has only deposits of the range of times already.
 */
function firstOf(
  { deposits }: ShardView,
  { fromBlock, fromTimestampSec }: BridgesQuery,
  isExact: boolean,
): number {
  const inBlocks = fromBlock === undefined ? 0 : deposits.firstFromBlock(fromBlock)
  return fromTimestampSec === undefined || isExact
    ? inBlocks
    : Math.max(inBlocks, deposits.firstFromTimestamp(fromTimestampSec))
}

function endOf({ deposits }: ShardView, { toBlock, toTimestampSec }: BridgesQuery, isExact: boolean): number {
  const inBlocks = toBlock === undefined ? Number.POSITIVE_INFINITY : deposits.firstFromBlock(toBlock + 1)
  return toTimestampSec === undefined || isExact
    ? inBlocks
    : Math.min(inBlocks, deposits.firstFromTimestamp(toTimestampSec + 1))
}
