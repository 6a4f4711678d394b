import { ChainDataError } from '../../errors/chainDataError.js'
import type { EventFilter } from '../../events/decodeLog.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { quantity, type RpcBlock } from '../rpc/rpcBlocks.js'
import { isNotUnderstood, RpcFailure } from '../rpc/rpcFailure.js'
import { decodeLogs, logsFilter, type RpcLog } from '../rpc/rpcLogs.js'
import {
  addBloom,
  BLOOM_BYTES,
  type BloomProbe,
  createBloomProbe,
  decodeBloom,
  falseHitOdds,
  isZeroBloom,
  showsMoreThan,
} from './bloom.js'
import type { LogsWindow } from './readLogs.js'

/** How often a block is asked for by its hash before a log that its bloom shows, and that no answer has, counts as withheld. */
const ASK_BY_HASH = 2
/** A bloom that shows a log by chance with a higher probability than this proves nothing: on a busy chain it is nearly full. */
const WORTHLESS_ODDS = 0.001
/** Blocks with more transactions than this are not read receipt by receipt. */
const MAX_RECEIPTS = 500

/**
 * Finds logs that `eth_getLogs` left out. Nodes have answered lists that looked complete and lacked a log, or all logs of a
 * block. The bloom in the header shows it.
 */
export class MissingLogs {
  readonly #probe: BloomProbe
  readonly #filter: ReturnType<typeof logsFilter>

  constructor(filter: EventFilter) {
    this.#probe = createBloomProbe(filter)
    this.#filter = logsFilter(filter)
  }

  /**
   * @param logs of this block, in order.
   * @param window how the logs were read. Apart from the headers, they may come from a node that lacks the block: without a bloom they
   * are then read by block hash. By receipts, they were too much for one answer, also for one by block hash.
   * @returns the block's logs, complete; `logs` itself when nothing was missing.
   * @throws ChainDataError `missing_log` when the endpoint withholds one; RpcFailure.
   */
  async complete(
    block: RpcBlock,
    logs: readonly RpcLog[],
    endpoint: Endpoint,
    signal: AbortSignal,
    { areLogsApart, receiptsBloom }: Pick<LogsWindow, 'areLogsApart' | 'receiptsBloom'>,
  ): Promise<readonly RpcLog[]> {
    const bloom = decodeBloom(block.logsBloom)
    // Some chains do not fill their blooms: an empty one proves nothing.
    if (bloom === undefined || isZeroBloom(bloom)) {
      if (!areLogsApart || endpoint.logsByHash.holds) return logs
      const byHash = await this.askByHash(block, endpoint, signal)
      if (byHash === undefined || byHash.length <= logs.length) return logs
      endpoint.counts.recoveredLogs(byHash.length - logs.length)
      return byHash
    }
    if (receiptsBloom !== undefined) {
      const isProven =
        !showsMoreThan(bloom, logs, this.#probe) ||
        equalBytes(bloom, receiptsBloom) ||
        falseHitOdds(bloom, this.#probe) > WORTHLESS_ODDS
      if (!isProven) throw missingLog(block, endpoint)
      return logs
    }
    let known = logs
    for (let asked = 0; showsMoreThan(bloom, known, this.#probe); asked++) {
      // A first call by hash is worth it even with a bloom that proves nothing: the node finds the logs in another way.
      if (asked > 0 && falseHitOdds(bloom, this.#probe) > WORTHLESS_ODDS) return known
      if (asked === ASK_BY_HASH) {
        await this.#assertFalseHit(block, known, endpoint, signal)
        return known
      }
      const byHash = endpoint.logsByHash.holds ? undefined : await this.askByHash(block, endpoint, signal)
      if (byHash === undefined || byHash.length <= known.length) continue
      endpoint.counts.recoveredLogs(byHash.length - known.length)
      known = byHash
    }
    return known
  }

  /**
   * Reads the logs of exactly this block, by its hash.
   * @returns undefined when the endpoint answers null (no logs, or an unknown block), or does not understand the call.
   * @throws RpcFailure
   */
  async askByHash(block: RpcBlock, endpoint: Endpoint, signal: AbortSignal): Promise<RpcLog[] | undefined> {
    let raw: unknown
    try {
      raw = await endpoint.call('eth_getLogs', [{ ...this.#filter, blockHash: block.hash }], signal)
    } catch (error) {
      if (!(error instanceof RpcFailure) || !isNotUnderstood(error)) throw error
      endpoint.logsByHash.refused()
      return undefined
    }
    endpoint.logsByHash.forget()
    if (raw === null) return undefined
    const logs = decodeLogs(raw, block.number, block.number, endpoint.alias)
    if (logs.some((log) => log.blockHash !== block.hash))
      throw new RpcFailure('body', `${endpoint.alias}: logs of another block than asked for by hash`)
    return logs
  }

  /**
   * Proves by receipts that the bloom shows a log that does not exist: the blooms of all receipts together must equal the
   * header's bloom, and no receipt may hold a log of ours that is not known.
   * @throws ChainDataError `missing_log` when they hold one, or can't be read.
   */
  async #assertFalseHit(
    block: RpcBlock,
    known: readonly RpcLog[],
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<void> {
    const receipts = await readReceipts(block, endpoint, signal)
    const union = new Uint8Array(BLOOM_BYTES)
    const knownPlaces = new Set(known.map(placeOf))
    let isWithheld = false
    for (const receipt of receipts ?? []) {
      addBloom(union, receipt.logsBloom)
      for (const log of decodeLogs(receipt.logs ?? [], block.number, block.number, endpoint.alias)) {
        const contract = this.#probe.contracts.find(({ address }) => address === log.address)
        const isOurs = contract?.topics.some(({ topic }) => topic === log.topics[0]?.toLowerCase()) === true
        if (isOurs && !knownPlaces.has(placeOf(log))) isWithheld = true
      }
    }
    const bloom = decodeBloom(block.logsBloom)
    const isComplete = bloom !== undefined && equalBytes(bloom, union)
    if (isComplete && !isWithheld) return
    throw missingLog(block, endpoint)
  }
}

function missingLog(block: RpcBlock, endpoint: Endpoint): ChainDataError {
  return new ChainDataError(
    'missing_log',
    `${endpoint.alias}: by its bloom, block ${block.number} has an event of ours, but the endpoint has no log of it`,
  )
}

/** Key of a log within its block. The log index alone is none: some chains number the logs of each transaction from 0. */
function placeOf({ transactionHash, logIndex }: RpcLog): string {
  return `${transactionHash}:${logIndex}`
}

type Receipt = Readonly<Record<string, unknown>>

/** @returns undefined when the endpoint offers no receipts of the whole block. */
async function readReceipts(
  block: RpcBlock,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<readonly Receipt[] | undefined> {
  if (!endpoint.blockReceipts.holds) {
    try {
      // By number, which every node with this method understands; `ofBlock` compares the hash.
      const raw = await endpoint.call('eth_getBlockReceipts', [quantity(block.number)], signal)
      endpoint.blockReceipts.forget()
      if (Array.isArray(raw)) return ofBlock(raw, block)
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      if (isNotUnderstood(error)) endpoint.blockReceipts.refused()
      else if (error.kind !== 'rpc') throw error
    }
  }
  if (block.transactionHashes.length > MAX_RECEIPTS) return undefined
  const outcomes = await endpoint.callAll(
    block.transactionHashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    signal,
  )
  return ofBlock(
    outcomes.map((outcome) => (outcome.ok ? outcome.result : null)),
    block,
  )
}

/** @returns undefined unless every receipt is there and belongs to this block. */
function ofBlock(raw: readonly unknown[], block: RpcBlock): readonly Receipt[] | undefined {
  const receipts = raw as readonly (Receipt | null)[]
  return receipts.every(
    (receipt): receipt is Receipt =>
      typeof receipt?.blockHash === 'string' && receipt.blockHash.toLowerCase() === block.hash,
  )
    ? receipts
    : undefined
}
