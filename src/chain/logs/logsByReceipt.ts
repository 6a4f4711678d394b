import type { Endpoint } from '../endpoints/endpoint.js'
import { behind } from '../endpoints/readBlocks.js'
import { classifyLogsFailure } from '../rpc/rangeErrors.js'
import type { RpcBlock } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { decodeLogs, type logsFilter, type RpcLog } from '../rpc/rpcLogs.js'
import type { RpcCall } from '../rpc/rpcTransport.js'
import { addBloom, BLOOM_BYTES } from './bloom.js'

/** Receipts held in memory at once: logs of other contracts are dropped before the next receipts are read. */
const RECEIPTS_AT_ONCE = 50

/** The answer is larger than the endpoint sends, or than we read: the call must be split. */
export function isTooMuch(failure: RpcFailure): boolean {
  const { type } = classifyLogsFailure(failure, 1)
  return type === 'tooMany' || type === 'tooWide'
}

export interface LogsByReceipt {
  readonly logs: RpcLog[]
  /** The blooms of all receipts together. If it equals the header's, no receipt lacks a log. */
  readonly bloom: Uint8Array
}

/**
 * Reads our logs of one block transaction by transaction, for a block whose logs are too much for one answer.
 * @throws RpcFailure `tooMuch` when the logs of one transaction are too much.
 */
export async function readLogsByReceipt(
  block: RpcBlock,
  filter: ReturnType<typeof logsFilter>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<LogsByReceipt> {
  const addresses = new Set(filter.address)
  const topics = new Set(filter.topics[0])
  const isOurs = ({ address, topics: [topic = ''] }: RpcLog): boolean =>
    addresses.has(address) && topics.has(topic.toLowerCase())
  const logs: RpcLog[] = []
  const bloom = new Uint8Array(BLOOM_BYTES)
  const hashes = block.transactionHashes
  for (let at = 0; at < hashes.length; at += RECEIPTS_AT_ONCE) {
    const calls = hashes
      .slice(at, at + RECEIPTS_AT_ONCE)
      .map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
    for (const raw of await readReceipts(calls, block, endpoint, signal)) {
      const receipt = receiptOf(raw, block, endpoint)
      addBloom(bloom, receipt.logsBloom)
      for (const log of decodeLogs(receipt.logs, block.number, block.number, endpoint.alias))
        if (isOurs(log)) logs.push(log)
    }
  }
  return { logs, bloom }
}

async function readReceipts(
  calls: readonly RpcCall[],
  block: RpcBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const failed = (error: unknown): unknown =>
    error instanceof RpcFailure && isTooMuch(error) ? tooMuch(block, endpoint) : error
  try {
    const outcomes = await endpoint.callAll(calls, signal)
    return outcomes.map((outcome) => {
      if (!outcome.ok) throw failed(outcome.failure)
      return outcome.result
    })
  } catch (error) {
    if (!(error instanceof RpcFailure) || !isTooMuch(error)) throw error
  }
  // Together the receipts were too much: one by one.
  const receipts: unknown[] = []
  for (const { method, params } of calls)
    receipts.push(
      await endpoint.call(method, params, signal).catch((error: unknown) => Promise.reject(failed(error))),
    )
  return receipts
}

function receiptOf(raw: unknown, block: RpcBlock, endpoint: Endpoint): Readonly<Record<string, unknown>> {
  const receipt = (typeof raw === 'object' && raw !== null ? raw : {}) as Readonly<Record<string, unknown>>
  const { blockHash } = receipt
  if (typeof blockHash !== 'string' || blockHash.toLowerCase() !== block.hash)
    throw behind(endpoint, block.number)
  return receipt
}

function tooMuch(block: RpcBlock, endpoint: Endpoint): RpcFailure {
  return new RpcFailure(
    'tooMuch',
    `${endpoint.alias}: the logs of one transaction in block ${block.number} are larger than rpc_max_response_bytes, or than the endpoint sends`,
  )
}
