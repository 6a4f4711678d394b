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
  const frame = {
    operation: 'getBridges' as const,
    from: firstOf(source, query),
    below: endOf(source, query),
    state: source.state,
    rows: 'deposits' as const,
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
function firstOf({ deposits }: ShardView, { fromBlock, fromTimestampSec }: BridgesQuery): number {
  const inBlocks = fromBlock === undefined ? 0 : deposits.firstFromBlock(fromBlock)
  return fromTimestampSec === undefined
    ? inBlocks
    : Math.max(inBlocks, deposits.firstFromTimestamp(fromTimestampSec))
}

function endOf({ deposits }: ShardView, { toBlock, toTimestampSec }: BridgesQuery): number {
  const inBlocks = toBlock === undefined ? Number.POSITIVE_INFINITY : deposits.firstFromBlock(toBlock + 1)
  return toTimestampSec === undefined
    ? inBlocks
    : Math.min(inBlocks, deposits.firstFromTimestamp(toTimestampSec + 1))
}
