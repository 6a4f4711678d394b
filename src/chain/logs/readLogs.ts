import { PackedLogs } from '../../events/packedLogs.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { behind, blockCall, expectBlock, readBlocks } from '../endpoints/readBlocks.js'
import { classifyLogsFailure } from '../rpc/rangeErrors.js'
import { quantity, type RpcBlock } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { areInOrder, decodeLogs, type logsFilter, type RpcLog } from '../rpc/rpcLogs.js'
import { isTooMuch, readLogsByReceipt } from './logsByReceipt.js'

/** Logs of a window with the headers that were read in the same request. */
export interface LogsWindow {
  readonly to: number
  /** By number. The header of `to` is always there. */
  readonly headers: Map<number, RpcBlock>
  readonly logs: readonly RpcLog[] | PackedLogs
  /** Another node than that of the headers may have answered the logs: if it lacks the newest blocks, logs are missing. */
  readonly areLogsApart: boolean
  /** The blooms of all receipts of the only block, if its logs were read by them. */
  readonly receiptsBloom?: Uint8Array
}

/** After so many refusals of one window the endpoint counts as failing. The number is enough to halve 10,000 blocks down to one, twice. */
const MAX_REFUSALS = 30

export interface WindowQuestion {
  readonly from: number
  readonly to: number
  /** Blocks above this one are read with their headers. */
  readonly headersAbove: number
  readonly filter: ReturnType<typeof logsFilter>
}

/**
 * Reads the logs of blocks `from` … `to`, or of fewer blocks from `from` on if the endpoint demands it. Headers and logs go in
 * one batch where possible, headers first. So one node answers both, and a node that lacks the last block answers null for it
 * instead of only leaving its logs out.
 * @throws RpcFailure
 */
export async function readLogsWindow(
  { from, to: last, headersAbove, filter }: WindowQuestion,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<LogsWindow> {
  for (let refusals = 0; ; refusals++) {
    const to = Math.min(last, from + endpoint.logRange.span - 1)
    const span = to - from + 1
    const numbers: number[] = []
    for (let number = Math.max(from, headersAbove + 1); number < to; number++) numbers.push(number)
    numbers.push(to)
    const getLogs = {
      method: 'eth_getLogs',
      params: [{ ...filter, fromBlock: quantity(from), toBlock: quantity(to) }],
    }
    const { size: sizeBefore, isSteady } = endpoint.batchSize
    try {
      const outcomes = await endpoint.callAll([...numbers.map(blockCall), getLogs], signal)
      const headers = new Map<number, RpcBlock>()
      const unknown = numbers.filter((number, index) => {
        const header = expectBlock(outcomes[index]!, number, endpoint)
        if (header !== undefined) headers.set(number, header)
        return header === undefined
      })
      // One node answers a request: if it lacks a block, its list lacks the logs of that block as well.
      const { size } = endpoint.batchSize
      const areLogsApart = size === 1 || size !== sizeBefore || !isSteady
      const isWithLogs = unknown.at(-1) === to ? size > 1 : size > numbers.length
      if (unknown.length > 0 && isWithLogs) throw behind(endpoint, unknown[0]!)
      for (const header of await readBlocks(unknown, endpoint, signal)) headers.set(header.number, header)
      const outcome = outcomes[numbers.length]!
      if (!outcome.ok) {
        if (span === 1 && isTooMuch(outcome.failure)) {
          const { logs, bloom } = await readLogsByReceipt(headers.get(to)!, filter, endpoint, signal)
          return { to, headers, logs, areLogsApart: false, receiptsBloom: bloom }
        }
        if (refusals === MAX_REFUSALS || !narrowWindow(outcome.failure, span, from, endpoint))
          throw outcome.failure
        continue
      }
      const raw = outcome.result
      const isReady = raw instanceof PackedLogs && areInOrder(raw, from, to)
      const logs = isReady ? raw : decodeLogs(raw, from, to, endpoint.alias)
      endpoint.logRange.succeeded(span, logs.length)
      return { to, headers, logs, areLogsApart }
    } catch (error) {
      if (error instanceof RpcFailure && countsAgainstWidth(error)) endpoint.logRange.unanswered(span)
      throw error
    }
  }
}

/**
 * Narrows the endpoint's window by what its refusal says.
 * @returns true when the (perhaps narrower) window should be asked for at once.
 * @throws RpcFailure `behind` or `gone`.
 */
function narrowWindow(failure: RpcFailure, span: number, from: number, endpoint: Endpoint): boolean {
  const problem = classifyLogsFailure(failure, span)
  switch (problem.type) {
    case 'tooWide':
    case 'tooMany':
      endpoint.logRange.shrink(problem, span)
      return true
    case 'beyondHead':
      throw behind(endpoint, from + span - 1)
    case 'historyGone':
      throw new RpcFailure('gone', `${endpoint.alias}: logs of block ${from} are no longer kept`)
    case 'rateLimit':
      return false
    case 'unknown':
      // The same window once more, then halves: a refusal that we can't read mostly means "too wide".
      if (span === 1) return false
      endpoint.logRange.refused(span)
      return true
  }
}

/** A missing or broken answer may be due to the window's width. */
function countsAgainstWidth(failure: RpcFailure): boolean {
  return failure.kind === 'timeout' || failure.kind === 'network' || failure.kind === 'body'
}
