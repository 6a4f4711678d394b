import { type Answer, success } from '../../errors/answers.js'
import type { BridgesQuery } from '../../protocol/queries.js'
import type { BridgeRecord, Page } from '../../protocol/records.js'
import type { ShardReaders } from '../reader.js'
import { networkNotServed } from '../refusals.js'
import { bridgeRow } from './bridgeRow.js'
import { selectBridges } from './selectBridges.js'

/** Deposits of one network, newest first. A page beyond the end is empty, with the same total. */
export function getBridges(shards: ShardReaders, query: BridgesQuery): Answer<Page<BridgeRecord>> {
  const source = shards.find(query.networkId)
  if (source === undefined) return networkNotServed(query.networkId)
  const { depositCounts, total } = selectBridges(shards, source, query)
  return success({
    rows: depositCounts.map((depositCount) => bridgeRow(shards, source, depositCount)),
    page: query.pageNumber,
    limit: query.pageSize,
    total,
  })
}
