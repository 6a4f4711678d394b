import { PackedLogs } from '../../events/packedLogs.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { behind, blockCall, expectBlock, readBlocks } from '../endpoints/readBlocks.js'
import { classifyLogsFailure } from '../rpc/rangeErrors.js'
import { type BlockHead, quantity } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { areInOrder, decodeLogs, type logsFilter, type RpcLog } from '../rpc/rpcLogs.js'
import { isTooMuch, readLogsByReceipt } from './logsByReceipt.js'

/** Logs of a window with the headers that were asked for in the same breath. */
export interface LogsWindow {
  readonly to: number
  /** By number; the header of `to` is always there. */
  readonly headers: Map<number, BlockHead>
  /** Packed where they came so. */
  readonly logs: readonly RpcLog[] | PackedLogs
  /** They may have come from another node than the headers, one that lacks the newest blocks: then the list is short. */
  readonly areLogsApart: boolean
}

/** Refusals that one window may collect before the endpoint counts as failing: from 10,000 blocks to one in halves, twice. */
const MAX_REFUSALS = 30

export interface WindowQuestion {
  readonly from: number
  readonly to: number
  /** Blocks above this one come with their headers. */
  readonly headersAbove: number
  readonly filter: ReturnType<typeof logsFilter>
}

/**
 * Logs of [from, to], or of a shorter window from `from` on when the endpoint wants it shorter. Headers and logs go in
 * one batch where batches are taken, headers first: so one node answers for both, and a node that lacks the last block
 * shows it by a null instead of an incomplete list.
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
    const { size: sizeBefore, isSettled } = endpoint.batchSize
    try {
      const outcomes = await endpoint.callAll([...numbers.map(blockCall), getLogs], signal)
      const headers = new Map<number, BlockHead>()
      const unknown = numbers.filter((number, index) => {
        const header = expectBlock(outcomes[index]!, number, endpoint)
        if (header !== undefined) headers.set(number, header)
        return header === undefined
      })
      // One node answered a request: where it lacks a block, its list of logs is short as well.
      const { size } = endpoint.batchSize
      const areLogsApart = size === 1 || size !== sizeBefore || !isSettled
      const isWithLogs = unknown.at(-1) === to ? size > 1 : size > numbers.length
      if (unknown.length > 0 && isWithLogs) throw behind(endpoint, unknown[0]!)
      for (const header of await readBlocks(unknown, endpoint, signal)) headers.set(header.number, header)
      const outcome = outcomes[numbers.length]!
      if (!outcome.ok) {
        if (span === 1 && isTooMuch(outcome.failure))
          return {
            to,
            headers,
            logs: await readLogsByReceipt(headers.get(to)!, filter, endpoint, signal),
            areLogsApart: false,
          }
        if (refusals === MAX_REFUSALS || !narrows(outcome.failure, span, from, endpoint))
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
 * Makes the endpoint's window fit what it said.
 * @returns true when a question for the (maybe narrower) window makes sense at once.
 * @throws RpcFailure `behind` or `gone`.
 */
function narrows(failure: RpcFailure, span: number, from: number, endpoint: Endpoint): boolean {
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
      // Once more as it was, then in halves: an unreadable refusal is mostly one more wording of "too wide".
      if (span === 1) return false
      endpoint.logRange.refused(span)
      return true
  }
}

/** No or a broken answer to a wide question may be due to its width. */
function countsAgainstWidth(failure: RpcFailure): boolean {
  return failure.kind === 'timeout' || failure.kind === 'network' || failure.kind === 'body'
}
