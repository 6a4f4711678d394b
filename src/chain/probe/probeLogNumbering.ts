import type { Endpoint } from '../endpoints/endpoint.js'
import type { RpcBlock } from '../rpc/rpcBlocks.js'
import { decodeLogs } from '../rpc/rpcLogs.js'

/** At most so many receipts are read: two with logs show how logs are numbered. */
const MOST_RECEIPTS = 16

/** Finds out from receipts of the newest block whether its logs are numbered per block, as usual, or per transaction. */
export async function probeLogNumbering(
  { number, transactionHashes }: RpcBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<{ readonly outcome: 'ok'; readonly detail: string }> {
  const calls = transactionHashes
    .slice(0, MOST_RECEIPTS)
    .map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const firsts: number[] = []
  for (const outcome of await endpoint.callAll(calls, signal)) {
    const receipt = (outcome.ok ? outcome.result : undefined) as
      | { readonly logs?: unknown }
      | null
      | undefined
    const [first] = decodeLogs(receipt?.logs ?? [], number, number, endpoint.alias)
    if (first !== undefined) firsts.push(first.logIndex)
  }
  if (firsts.length < 2) return { outcome: 'ok', detail: `not shown by block ${number}` }
  const isPerBlock = firsts.every((first, at) => at === 0 || first > firsts[at - 1]!)
  if (isPerBlock) return { outcome: 'ok', detail: 'numbered per block' }
  return {
    outcome: 'ok',
    detail: 'numbered per transaction: log_index is transaction index · 65536 + index',
  }
}
