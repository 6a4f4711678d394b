import { type Answer, success } from '../../errors/answers.js'
import type { BridgesQuery } from '../../protocol/queries.js'
import type { BridgeRecord, Page } from '../../protocol/records.js'
import { LazyPage } from '../lazyPage.js'
import { PackedBridges } from '../packedBridges.js'
import { pageOf } from '../pageOf.js'
import type { ShardReaders } from '../reader.js'
import { networkNotServed } from '../refusals.js'
import type { ShardView } from '../shardView.js'
import { bridgeRow } from './bridgeRow.js'
import { selectBridges } from './selectBridges.js'

/** Deposits of one network, newest first unless asked otherwise. A page beyond the end is empty, with the same total. */
export function getBridges(shards: ShardReaders, query: BridgesQuery): Answer<Page<BridgeRecord>> {
  const source = shards.find(query.networkId)
  if (source === undefined) return networkNotServed(query.networkId)
  const { state } = source
  const frame = {
    operation: 'getBridges' as const,
    ...rangeOf(source, query),
    rewindCount: state.rewindCount,
    untouchedSince: (rewindCount: number) => state.untouchedSince(rewindCount).deposits,
  }
  const page = pageOf(selectBridges(shards, source, query), frame, query)
  if (!page.ok) return page
  const { ordinals } = page.value
  return success(
    new LazyPage(page.value, new PackedBridges(shards, source, ordinals), (depositCount) =>
      bridgeRow(shards, source, depositCount),
    ),
  )
}

/** Deposits are in the order of their blocks: a range of blocks or of time is one of deposit counts. */
function rangeOf(source: ShardView, query: BridgesQuery): { from: number; below: number } {
  const { fromBlock, toBlock, fromTimestampSec, toTimestampSec } = query
  const { deposits } = source
  return {
    from: Math.max(
      fromBlock === undefined ? 0 : deposits.firstFromBlock(fromBlock),
      fromTimestampSec === undefined ? 0 : deposits.firstFromTimestamp(fromTimestampSec),
    ),
    below: Math.min(
      toBlock === undefined ? Number.POSITIVE_INFINITY : deposits.firstFromBlock(toBlock + 1),
      toTimestampSec === undefined
        ? Number.POSITIVE_INFINITY
        : deposits.firstFromTimestamp(toTimestampSec + 1),
    ),
  }
}
