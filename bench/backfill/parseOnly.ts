import { LogRange } from '../../src/chain/endpoints/logRange.js'
import { quantity } from '../../src/chain/rpc/rpcBlocks.js'
import { logsFilter } from '../../src/chain/rpc/rpcLogs.js'
import { eventTopics } from '../../src/events/eventTopics.js'
import {
  type BackfillCounts,
  type BenchNetwork,
  BLOCKS_LEFT_OUT,
  type ContenderTask,
  WINDOW_BLOCKS,
} from './contenders.js'
import { networkFilter } from './networkFilter.js'

interface ParsedLog {
  readonly topics: readonly string[]
}

/**
 * The lower bound of what reading a history costs: the calls of our pipeline, with windows of the same width, whose answers
 * are parsed by `response.json()` and dropped.
 */
export async function parseOnly(task: ContenderTask): Promise<BackfillCounts & { logs: number }> {
  const counts = { deposits: 0, claims: 0, logs: 0 }
  await Promise.all(task.networks.map((network) => readNetwork(network, counts)))
  return counts
}

async function readNetwork(
  network: BenchNetwork,
  counts: { deposits: number; claims: number; logs: number },
): Promise<void> {
  const filter = logsFilter(networkFilter(network))
  const range = new LogRange(WINDOW_BLOCKS)
  const last = network.lastBlock - BLOCKS_LEFT_OUT
  for (let from = 1; from <= last; ) {
    const to = Math.min(last, from + range.span - 1)
    const calls = [
      { method: 'eth_getBlockByNumber', params: [quantity(to), false] },
      { method: 'eth_getLogs', params: [{ ...filter, fromBlock: quantity(from), toBlock: quantity(to) }] },
    ]
    const response = await fetch(network.rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
    })
    const replies = (await response.json()) as [unknown, { result: readonly ParsedLog[] }]
    const logs = replies[1].result
    range.succeeded(to - from + 1, logs.length)
    counts.logs += logs.length
    for (const { topics } of logs)
      if (topics[0] === eventTopics.BridgeEvent) counts.deposits++
      else if (topics[0] === eventTopics.ClaimEvent) counts.claims++
    from = to + 1
  }
}
