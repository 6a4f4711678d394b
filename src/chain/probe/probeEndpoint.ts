import type { NetworkConfig } from '../../config/config.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import { eventFilterOf } from '../../events/decodeLog.js'
import { asBlockNumber } from '../../protocol/units.js'
import { systemClock } from '../../telemetry/clocks.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { findBlock, readHead } from '../endpoints/readBlocks.js'
import { openHeadSocket } from '../rpc/headSocket.js'
import { classifyLogsFailure } from '../rpc/rangeErrors.js'
import { decodeChainId, quantity, type RpcBlock } from '../rpc/rpcBlocks.js'
import { isMethodMissing, isRevert, RpcFailure } from '../rpc/rpcFailure.js'
import { logsFilter } from '../rpc/rpcLogs.js'
import type { RpcCall } from '../rpc/rpcTransport.js'
import { contractCall } from '../state/contractCall.js'
import { assertContracts } from '../state/contractIdentity.js'
import { rootGetters } from '../state/contractReads.js'
import { NO_BLOCK_HASH } from '../state/tellsBlocksApart.js'
import { readContractLinks } from './contractLinks.js'
import { probeLogNumbering } from './probeLogNumbering.js'

/** What one question to an endpoint showed. `warn`: the service can do without. */
export interface ProbeFinding {
  readonly what: string
  readonly outcome: 'ok' | 'warn' | 'fail'
  readonly detail: string
}

/** How many widths are tried until one is served. */
const RANGE_TRIES = 12
/** How many batches are sent at most until it is known how large they may be. */
const BATCH_TRIES = 8
const SLOW_DOWN_MS = 1_000
const SLOW_DOWN_CAP_MS = 10_000
/** How far below the head state is asked for: nodes keep that of 128 blocks at least. */
const STATE_DEPTH = 64
const NO_TRANSACTION = `0x${'00'.repeat(32)}`

/**
 * Finds out with about ten calls what one endpoint of a network can do. The findings name the endpoint by its alias only.
 * @param position the endpoint's place in the configuration.
 * @param endpoint as `openEndpoint` opens it.
 * @throws nothing but the signal's reason.
 */
export async function probeEndpoint(
  network: NetworkConfig,
  position: number,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<ProbeFinding[]> {
  const findings: ProbeFinding[] = []
  const ask = async (what: string, question: () => Promise<Omit<ProbeFinding, 'what'>>): Promise<boolean> => {
    let finding: Omit<ProbeFinding, 'what'>
    try {
      finding = await question()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RpcFailure) && !(error instanceof FatalError)) throw error
      finding = { outcome: 'fail', detail: error.message }
    }
    findings.push({ what, ...finding })
    return finding.outcome !== 'fail'
  }
  const { proxy } = network.rpc[position]!
  if (proxy !== undefined)
    findings.push({ what: 'proxy', outcome: 'ok', detail: `asked through ${new URL(proxy).host}` })
  if (!(await ask('chain id', () => probeChainId(network, endpoint, signal)))) return findings
  let head: RpcBlock | undefined
  const hasHead = await ask('head', async () => {
    head = await readHead(endpoint, signal)
    return { outcome: 'ok', detail: `block ${head.number}` }
  })
  if (!hasHead || head === undefined) return findings
  const newest = head
  if (endpoint.serves('state')) {
    const areThere = await ask('contracts', () => probeContracts(network, newest, endpoint, signal))
    if (areThere && newest.number >= network.startBlock)
      await ask('contracts together', () => probeContractLinks(network, endpoint, signal))
    await ask('state at a block', () => probeState(network, newest, endpoint, signal))
  }
  await ask('finality', () => probeFinality(network, endpoint, signal))
  await ask('logs by block hash', () => probeLogsByHash(network, newest, endpoint, signal))
  await ask('index of logs', () => probeLogNumbering(newest, endpoint, signal))
  await ask('range of logs', () => probeLogRange(network, newest, endpoint, signal))
  await ask('batches', () => probeBatches(endpoint, signal))
  await ask('call traces', () => probeTraces(network, endpoint, signal))
  const { wsUrl, wsProxy } = network.rpc[position]!
  if (wsUrl !== undefined)
    await ask('new heads over WebSocket', () => probeNewHeads(wsUrl, wsProxy, network.rpcTimeoutMs))
  return findings
}

type Answer = Promise<Omit<ProbeFinding, 'what'>>

async function probeChainId(network: NetworkConfig, endpoint: Endpoint, signal: AbortSignal): Answer {
  const chainId = decodeChainId(await endpoint.call('eth_chainId', [], signal))
  if (chainId === network.chainId) return { outcome: 'ok', detail: String(chainId) }
  return { outcome: 'fail', detail: `${chainId ?? 'unreadable'}, configured is ${network.chainId}` }
}

async function probeContracts(
  network: NetworkConfig,
  head: RpcBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Answer {
  if (head.number < network.startBlock)
    return {
      outcome: 'warn',
      detail: `not asked: the chain has not reached start_block ${network.startBlock}`,
    }
  await assertContracts(network, endpoint, signal)
  return { outcome: 'ok', detail: `code at every address, networkID() is ${network.networkId}` }
}

async function probeContractLinks(network: NetworkConfig, endpoint: Endpoint, signal: AbortSignal): Answer {
  const { asked, answered, wrong } = await readContractLinks(network, endpoint, signal)
  if (wrong.length > 0) return { outcome: 'fail', detail: wrong.join('; ') }
  const found = answered === 0 ? 'not known' : 'as configured'
  return { outcome: 'ok', detail: `${found}: ${answered} of ${asked} getters answer` }
}

/** Asks for state a few blocks below the head, and at a hash that no block has (EIP-1898). The second must be refused. */
async function probeState(
  { bridge, startBlock }: NetworkConfig,
  head: RpcBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Answer {
  if (head.number < startBlock) return { outcome: 'warn', detail: 'not asked: no contract yet' }
  const block = asBlockNumber(Math.max(startBlock, head.number - STATE_DEPTH))
  const calls = [block, { blockHash: NO_BLOCK_HASH }].map((at) => contractCall(bridge, rootGetters[0]!, at))
  const [atBlock, atNone] = await endpoint.callAll(calls, signal)
  if (atNone!.ok && typeof atNone!.result === 'string' && atNone!.result.length >= 66)
    return {
      outcome: 'warn',
      detail: 'answered even for a block that does not exist: this endpoint is not asked for state',
    }
  if (atBlock!.ok || isRevert(atBlock!.failure))
    return { outcome: 'ok', detail: `answered at block ${block}` }
  return {
    outcome: 'warn',
    detail: `refused at block ${block}: this endpoint can't be used to compare what is stored with the contracts`,
  }
}

async function probeFinality(network: NetworkConfig, endpoint: Endpoint, signal: AbortSignal): Answer {
  const { tag } = network.finality
  if (tag === 'latest') return { outcome: 'ok', detail: 'counted from the head, no tag is needed' }
  const block = await orRefused(findBlock(tag, endpoint, signal))
  if (block !== undefined && block.number > 0)
    return { outcome: 'ok', detail: `${tag} is block ${block.number}` }
  return { outcome: 'warn', detail: `${tag} is not offered: blocks are counted instead` }
}

async function probeLogsByHash(
  network: NetworkConfig,
  head: RpcBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Answer {
  const filter = { ...logsFilter(eventFilterOf(network)), blockHash: head.hash }
  const logs = await orRefused(endpoint.call('eth_getLogs', [filter], signal))
  if (Array.isArray(logs) || logs === null) return { outcome: 'ok', detail: 'offered' }
  return { outcome: 'warn', detail: 'not offered: logs are read by block range only' }
}

async function probeLogRange(
  network: NetworkConfig,
  head: RpcBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Answer {
  const filter = logsFilter(eventFilterOf(network))
  const wanted = endpoint.logRange.span
  let span = Math.max(1, Math.min(wanted, head.number + 1))
  const widest = span
  for (let tries = 0; tries < RANGE_TRIES; tries++) {
    const range = { fromBlock: quantity(head.number - span + 1), toBlock: quantity(head.number) }
    try {
      await endpoint.call('eth_getLogs', [{ ...filter, ...range }], signal)
    } catch (error) {
      if (!(error instanceof RpcFailure) || span === 1) throw error
      const problem = classifyLogsFailure(error, span)
      if (problem.type === 'rateLimit' || error.kind === 'network') throw error
      const stated = problem.type === 'tooWide' ? problem.maxBlocks : undefined
      span = Math.max(1, stated ?? Math.floor(span / 2))
      continue
    }
    if (span === widest) return { outcome: 'ok', detail: `${span} blocks at once` }
    return {
      outcome: 'warn',
      detail: `${span} blocks at once, fewer than log_range ${wanted}: backfill takes longer`,
    }
  }
  return { outcome: 'fail', detail: `eth_getLogs refuses ${span} blocks` }
}

/** Sends batches until it is known how large they may be, as the service does. */
async function probeBatches(endpoint: Endpoint, signal: AbortSignal): Answer {
  const { batchSize } = endpoint
  const wanted = batchSize.max
  if (wanted === 1) return { outcome: 'ok', detail: 'not asked for (max_batch = 1)' }
  const calls = new Array<RpcCall>(wanted).fill({ method: 'eth_chainId', params: [] })
  for (let tries = 1, isSure = false; !isSure; tries++)
    try {
      await endpoint.callAll(calls, signal)
      isSure = batchSize.isSteady || tries >= BATCH_TRIES
    } catch (error) {
      // Perhaps it is the size of the batch that the endpoint minds: the next tries show it.
      if (!(error instanceof RpcFailure) || error.kind !== 'rateLimit' || tries >= BATCH_TRIES) throw error
      await systemClock.sleep(Math.min(error.retryAfterMs ?? SLOW_DOWN_MS, SLOW_DOWN_CAP_MS), signal)
    }
  const { size } = batchSize
  if (size === wanted) return { outcome: 'ok', detail: `${size} calls at once` }
  if (size === 1) return { outcome: 'warn', detail: 'refused: every call is a request of its own' }
  return {
    outcome: 'warn',
    detail: `${size} calls at once, fewer than the ${wanted} wanted: set max_batch = ${size} to spare the service this search`,
  }
}

async function probeTraces(network: NetworkConfig, endpoint: Endpoint, signal: AbortSignal): Answer {
  if (network.callTraces === 'off') return { outcome: 'ok', detail: 'not asked for (call_traces = "off")' }
  try {
    await endpoint.call('debug_traceTransaction', [NO_TRANSACTION, { tracer: 'callTracer' }], signal)
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error
    if (isMethodMissing(error))
      return {
        outcome: 'warn',
        detail:
          'debug_traceTransaction is not offered: where a contract calls the bridge, tx.from stands for the caller',
      }
    // Any other refusal is about the transaction, which does not exist: so there is a tracer.
    if (error.kind !== 'rpc') throw error
  }
  return { outcome: 'ok', detail: 'debug_traceTransaction is offered' }
}

async function probeNewHeads(url: string, proxy: string | undefined, timeoutMs: number): Answer {
  const fault = await new Promise<string | undefined>((resolve) => {
    const close = openHeadSocket({
      url,
      proxy,
      timeoutMs,
      onSubscribed() {
        close()
        resolve(undefined)
      },
      onHead: () => undefined,
      onEnd: resolve,
    })
  })
  if (fault === undefined) return { outcome: 'ok', detail: 'offered' }
  return { outcome: 'warn', detail: `not offered (${fault}): the endpoint is polled instead` }
}

/** @returns undefined when the endpoint refuses. @throws other failures. */
async function orRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RpcFailure && (error.kind === 'rpc' || error.kind === 'http')) return undefined
    throw error
  }
}
