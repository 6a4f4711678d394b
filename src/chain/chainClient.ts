import type { NetworkConfig } from '../config/config.types.js'
import { eventFilterOf } from '../protocol/decodeLog.js'
import type { LogScanner } from '../protocol/packedLogs.js'
import { asBlockNumber } from '../protocol/units.js'
import type { Logger } from '../telemetry/logger.js'
import type { ChainClient } from './chainClient.types.js'
import { type Clock, systemClock } from './clock.js'
import {
  readClaimedWords,
  readDepositCount,
  readEmergencyState,
  readGerHashChains,
  readGlobalExitRootEntries,
  readKnownGlobalExitRoots,
  readLocalExitRoot,
} from './contractReads.js'
import { Endpoint } from './endpoint.js'
import { EndpointPool } from './endpointPool.js'
import { FinalityTracker } from './finality.js'
import { createHttpPost } from './httpPost.js'
import { assertContracts } from './identity.js'
import { RangeReader } from './rangeReader.js'
import { findBlock, readHead } from './readBlocks.js'
import { toHeader } from './rpcBlocks.js'
import { SenderResolver } from './senders.js'

export interface ChainClientOptions {
  readonly network: NetworkConfig
  readonly logger: Logger
  readonly clock?: Clock
  /** What posts the questions; another one in tests. */
  readonly openPost?: typeof createHttpPost
  /** Reads long lists of logs; without it they are parsed as JSON. */
  readonly scanner?: LogScanner
}

/** One network's chain behind all of its endpoints. It opens no connection before the first question. */
export function createChainClient({
  network,
  logger,
  clock = systemClock,
  openPost = createHttpPost,
  scanner,
}: ChainClientOptions): ChainClient {
  const { rpcTimeoutMs: timeoutMs, logRange, bridge, globalExitRootManager: manager } = network
  const isAlone = network.rpc.length === 1
  const filter = eventFilterOf(network)
  const logs = scanner && { scanner, filter }
  const byWeight = [...network.rpc].sort((a, b) => (b.weight ?? 1) - (a.weight ?? 1))
  const endpoints = byWeight.map(
    (config) => new Endpoint({ config, timeoutMs, logRange, isAlone, openPost, logs, clock, logger }),
  )
  const pool = new EndpointPool({
    endpoints,
    chainId: network.chainId,
    networkId: network.networkId,
    clock,
    logger,
  })
  const reader = new RangeReader(network, filter, clock)
  const finality = new FinalityTracker(network.finality, pool, clock, logger)
  const senders = new SenderResolver(network, pool, clock, logger)
  const closing = new AbortController()
  const joined = new WeakMap<AbortSignal, AbortSignal>()
  /** Ends with the caller's signal, and with `close`. One per signal: callers use one for the life of the process. */
  const until = (signal: AbortSignal): AbortSignal => {
    const known = joined.get(signal)
    if (known !== undefined) return known
    const both = AbortSignal.any([signal, closing.signal])
    joined.set(signal, both)
    return both
  }
  const askState = <T>(
    ask: (endpoint: Endpoint, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> => pool.run((endpoint) => ask(endpoint, until(signal)), until(signal), 'state')

  return {
    async verifyIdentity(signal) {
      await pool.verifyAll(until(signal))
      await askState((...asked) => assertContracts(network, ...asked), signal)
    },
    async getHead(signal) {
      pool.compareHeads(until(signal))
      const head = await pool.run((endpoint) => readHead(endpoint, until(signal)), until(signal))
      return toHeader(head)
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
    readCarefully(from, to) {
      reader.readCarefully(from, to)
      pool.distrustCurrent()
    },
    resolveSenders(questions, signal) {
      return senders.resolve(questions, until(signal))
    },
    getContractDepositCount(block, signal) {
      return askState((...asked) => readDepositCount(bridge, block, ...asked), signal)
    },
    getContractLocalExitRoot(block, signal) {
      return askState((...asked) => readLocalExitRoot(bridge, block, ...asked), signal)
    },
    getContractL1InfoLeafCount(block, signal) {
      // The manager's tree is one of the same contract as the bridge's: the getter has the same name.
      return askState((...asked) => readDepositCount(manager, block, ...asked), signal)
    },
    findInjectedGers(globalExitRoots, block, signal) {
      return askState(
        (...asked) => readKnownGlobalExitRoots(manager, globalExitRoots, block, ...asked),
        signal,
      )
    },
    getClaimedWords(words, block, signal) {
      return askState((...asked) => readClaimedWords(network, words, block, ...asked), signal)
    },
    getEmergencyState(block, signal) {
      return askState((...asked) => readEmergencyState(bridge, block, ...asked), signal)
    },
    getGerHashChains(block, signal) {
      return askState((...asked) => readGerHashChains(manager, block, ...asked), signal)
    },
    getKnownGers(globalExitRoots, block, signal) {
      return askState(
        (...asked) => readGlobalExitRootEntries(manager, globalExitRoots, block, ...asked),
        signal,
      )
    },
    distrust: () => pool.distrustCurrent(),
    isDown: () => pool.isDown(),
    close: () => closing.abort(new Error('the chain client is closed')),
  }
}
