import type { NetworkConfig } from '../../config/config.types.js'
import { eventFilterOf } from '../../events/decodeLog.js'
import type { LogScanner } from '../../events/packedLogs.js'
import { asBlockNumber } from '../../protocol/units.js'
import { type Clock, systemClock } from '../../telemetry/clocks.js'
import type { IndexerCounts } from '../../telemetry/counts/indexerCounts.js'
import type { Logger } from '../../telemetry/logger.js'
import type { ChainClient } from '../chainClient.types.js'
import { Endpoint } from '../endpoints/endpoint.js'
import { EndpointPool } from '../endpoints/endpointPool.js'
import { FinalityTracker } from '../endpoints/finality.js'
import { findBlock } from '../endpoints/readBlocks.js'
import { RangeReader } from '../logs/rangeReader.js'
import { createHttpPost } from '../rpc/httpPost.js'
import { toHeader } from '../rpc/rpcBlocks.js'
import { SenderResolver } from '../senders/senderResolver.js'
import { assertContracts } from '../state/contractIdentity.js'
import { readKnownGlobalExitRoots } from '../state/contractReads.js'
import { ContractStates } from '../state/contractStates.js'
import { Silence } from './silence.js'

/** A healthy node answers eth_blockNumber in a fraction of this. */
const PROBE_MS = 1_500

export interface ChainClientOptions {
  readonly network: NetworkConfig
  readonly logger: Logger
  readonly clock?: Clock
  /** Opens the HTTP connection; tests pass another one. */
  readonly openPost?: typeof createHttpPost
  /** Reads long lists of logs. Without it they are parsed as JSON. */
  readonly scanner?: LogScanner
  /** Where its endpoints are counted; absent: nowhere. */
  readonly counts?: IndexerCounts
}

/** Builds the client of one network's chain from its endpoints. It opens no connection before the first call. */
export function createChainClient({
  network,
  logger,
  clock = systemClock,
  openPost = createHttpPost,
  scanner,
  counts,
}: ChainClientOptions): ChainClient {
  const { rpcTimeoutMs: timeoutMs, rpcMaxResponseBytes: maxBodyBytes } = network
  const { logRange, globalExitRootManager: manager } = network
  const isAlone = network.rpc.length === 1
  const filter = eventFilterOf(network)
  const logs = scanner && { scanner, filter }
  const byWeight = [...network.rpc].sort((a, b) => (b.weight ?? 1) - (a.weight ?? 1))
  const silence = new Silence(clock)
  const posting = {
    openPost: silence.around(openPost),
    timeoutMs,
    maxBodyBytes,
    logRange,
    isAlone,
    logs,
    clock,
    logger,
  }
  const counted = counts?.endpoints(byWeight.map(({ alias }) => alias)) ?? []
  const endpoints = byWeight.map(
    (config, order) => new Endpoint({ config, counts: counted[order], ...posting }),
  )
  for (const { alias, proxy } of byWeight)
    if (proxy !== undefined)
      logger.info('endpoint is asked through a proxy', { endpoint: alias, proxy: new URL(proxy).host })
  const pool = new EndpointPool({
    endpoints,
    chainId: network.chainId,
    networkId: network.networkId,
    clock,
    logger,
    ...(counts === undefined ? {} : { onServed: (alias: string) => counts.served(alias) }),
  })
  const states = new ContractStates(network, pool, clock, logger)
  const reader = new RangeReader(network, filter, clock, states)
  const finality = new FinalityTracker(network, pool, clock, logger)
  const senders = new SenderResolver(network, pool, clock, logger)
  const newestBlock = (signal: AbortSignal) =>
    pool.run((endpoint) => finality.readHead(endpoint, signal), signal)
  const closing = new AbortController()
  const joined = new WeakMap<AbortSignal, AbortSignal>()
  /** A signal that aborts with the caller's or with `close`. Kept per signal: callers use one for the whole process. */
  const until = (signal: AbortSignal): AbortSignal => {
    const known = joined.get(signal)
    if (known !== undefined) return known
    const both = AbortSignal.any([signal, closing.signal])
    joined.set(signal, both)
    return both
  }
  return {
    ...states.reads(until),
    async verifyIdentity(signal) {
      await pool.verifyAll(until(signal))
      await states.need((...asked) => assertContracts(network, ...asked), until(signal))
    },
    async getHead(signal) {
      pool.compareHeads(until(signal))
      const head = await newestBlock(until(signal))
      return toHeader(head)
    },
    async getHighestHead(wanted, signal) {
      const head = await newestBlock(until(signal))
      return toHeader(head.number >= wanted ? head : await pool.findHigher(head, wanted, until(signal)))
    },
    async getHeader(block, signal) {
      const found = await pool.run((endpoint) => findBlock(block, endpoint, until(signal)), until(signal))
      return found === undefined ? undefined : toHeader(found)
    },
    async getFinalizedBlock(head, signal) {
      return asBlockNumber(await finality.finalizedBlock(head, until(signal)))
    },
    reorged: (ancestor) => finality.reorged(ancestor),
    fetchRange(from, to, signal) {
      return pool.run((endpoint) => reader.read(endpoint, from, to, until(signal)), until(signal))
    },
    countPerTransactionFrom(block) {
      reader.positions.startAt(block)
    },
    readCarefully(from, to) {
      reader.readCarefully(from, to)
      pool.distrustCurrent()
    },
    resolveSenders(questions, signal, budget) {
      return senders.resolve(questions, until(signal), budget)
    },
    canTrace: () => senders.canTrace(),
    async findInjectedGers(globalExitRoots, block, signal) {
      const known = await states.need(
        (...asked) => readKnownGlobalExitRoots(manager, globalExitRoots, block, ...asked),
        until(signal),
        { takesNewest: true },
      )
      return known ?? globalExitRoots.map(() => false)
    },
    checkContradiction: (check, stored, ask, signal) =>
      states.checkContradiction(check, stored, ask, until(signal)),
    readsManyWords: () => states.readsManyWords(),
    distrust: () => pool.distrustCurrent(),
    isDown: () => pool.isDown(),
    awaitsAnswer: () => silence.awaitsAnswer,
    untilAsked: (signal) => silence.untilAsked(until(signal)),
    isSilent: () => silence.isSilent,
    async probe(signal) {
      const over = new AbortController()
      const either = AbortSignal.any([until(signal), over.signal])
      const asks = pool.endpoints.map((endpoint) => endpoint.call('eth_blockNumber', [], either))
      await Promise.race([Promise.any(asks), clock.sleep(PROBE_MS, either)]).catch(() => undefined)
      over.abort(new Error('the probe is over'))
    },
    close: () => closing.abort(new Error('the chain client is closed')),
  }
}
