import { type Answer, success } from '../../query/answers.js'
import type { BridgesQuery } from '../../query/queries.js'
import { type BridgeRecord, bridgeTemplate, type Page } from '../../query/records.js'
import { type RowTemplate, showsField } from '../../query/rowTemplate.js'
import { showsMoreOfBridge } from '../rows/bridgeRows.js'
import { type NetworkRows, PackedPage } from '../rows/packedPage.js'
import { type OrdinalStretch, within } from '../sets/listAlgebra.js'
import type { ShardView } from '../snapshot/shardView.js'
import { makeBridgeRecord } from './bridgeRecord.js'
import { pageOf } from './pageOf.js'
import { pageOfAll } from './pageOfAll.js'
import { selectBridges } from './selectBridges.js'
import type { ShardReaders } from './shardReaders.js'

/** Deposits of one network, newest first unless the query asks otherwise, or of several by time. A page beyond the end is empty, with the same total. */
export function getBridges(
  shards: ShardReaders,
  query: BridgesQuery,
  template: RowTemplate = bridgeTemplate,
): Answer<Page<BridgeRecord>> {
  if (query.networkId === undefined) return success(bridgesOfAll(shards, query, template))
  const source = shards.get(query.networkId)
  const matching = selectBridges(shards, source, query)
  const isFilteredByTime = hasTimeFilter(query) && source.state.doTimesFall
  const wanted = isFilteredByTime ? within(matching, stretchesInTime(shards, source, query)) : matching
  const frame = {
    operation: 'getBridges' as const,
    from: firstOf(source, query, isFilteredByTime),
    below: endOf(source, query, isFilteredByTime),
    state: source.state,
    rows: 'deposits' as const,
  }
  const page = pageOf(wanted, frame, query)
  if (!page.ok) return page
  const isWhole = query.depositCounts?.length === 1 || !saysLengths(template)
  const list = bridgeList(shards, source, template, isWhole)
  return success(new PackedPage(page.value, template, [{ ordinals: page.value.ordinals, list }]))
}

function bridgesOfAll(shards: ShardReaders, query: BridgesQuery, template: RowTemplate): Page<BridgeRecord> {
  const networkIds = query.sourceNetworks ?? shards.networkIds
  const isWhole = !saysLengths(template)
  const strands = networkIds.map((networkId) => {
    const view = shards.get(networkId)
    const { deposits } = view
    return {
      list: bridgeList(shards, view, template, isWhole),
      rows: selectBridges(shards, view, { ...query, networkId }),
      timeOf: (depositCount: number) => deposits.getTimestampSec(depositCount),
    }
  })
  return pageOfAll(strands, query, template)
}

/** @param isWhole as `isAlone` of `makeBridgeRecord`. */
function bridgeList(
  shards: ShardReaders,
  source: ShardView,
  template: RowTemplate,
  isWhole: boolean,
): NetworkRows<BridgeRecord> {
  return {
    packer: (writer) => shards.rowPackers.of('bridges', writer, source, template),
    makeRow: (depositCount) =>
      makeBridgeRecord(shards, source, depositCount, isWhole, showsMoreOfBridge(template)),
  }
}

/** Whether rows have a place for the length of metadata that is too long to be shown. Rows without one show it whole. */
function saysLengths(template: RowTemplate): boolean {
  return showsField(template, 'metadataLength')
}

function hasTimeFilter({ fromTimestampSec, toTimestampSec }: BridgesQuery): boolean {
  return fromTimestampSec !== undefined || toTimestampSec !== undefined
}

function stretchesInTime(shards: ShardReaders, source: ShardView, query: BridgesQuery): OrdinalStretch[] {
  const { fromTimestampSec = 0, toTimestampSec = Number.POSITIVE_INFINITY } = query
  return shards.depositTimes(source).within(source, fromTimestampSec, toTimestampSec)
}

/**
 * The first deposit in the query's range of blocks and times. Deposits are in the order of their blocks, so a range of blocks is a
 * range of deposit counts. So is a range of times, unless times fall.
 * @param isFilteredByTime true when times fall: deposits outside the range of times were already taken out of the list.
 */
function firstOf(
  { deposits }: ShardView,
  { fromBlock, fromTimestampSec }: BridgesQuery,
  isFilteredByTime: boolean,
): number {
  const inBlocks = fromBlock === undefined ? 0 : deposits.firstFromBlock(fromBlock)
  return fromTimestampSec === undefined || isFilteredByTime
    ? inBlocks
    : Math.max(inBlocks, deposits.firstFromTimestamp(fromTimestampSec))
}

function endOf(
  { deposits }: ShardView,
  { toBlock, toTimestampSec }: BridgesQuery,
  isFilteredByTime: boolean,
): number {
  const inBlocks = toBlock === undefined ? Number.POSITIVE_INFINITY : deposits.firstFromBlock(toBlock + 1)
  return toTimestampSec === undefined || isFilteredByTime
    ? inBlocks
    : Math.min(inBlocks, deposits.firstFromTimestamp(toTimestampSec + 1))
}
