import type { NetworkConfig } from '../../config/config.types.js'
import type { EventFilter } from '../../events/decodeLog.js'
import { PackedLogs } from '../../events/packedLogs.js'
import type { BlockEvent, Hash, IndexedBlock } from '../../protocol/chainEvent.js'
import { decodeHex } from '../../protocol/hex.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { FetchedRange } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { behind, readBlocks, readHead } from '../endpoints/readBlocks.js'
import { type RpcBlock, toHeader } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { decodeLogs, logsFilter, type RpcLog, unpackLog } from '../rpc/rpcLogs.js'
import type { ContractStates } from '../state/contractStates.js'
import {
  type DecodedBlock,
  decodeBlockLogs,
  decodePackedBlocks,
  headerOf,
  l1InfoRootEvent,
  mixedBranches,
} from './decodedBlocks.js'
import { withInitialExitRoots } from './initialExitRoots.js'
import { LogPositions } from './logPositions.js'
import { isTooMuch } from './logsByReceipt.js'
import { MissingLogs } from './missingLogs.js'
import { type LogsWindow, readLogsWindow } from './readLogs.js'

/** Blocks this close to the head are read with their headers: their blooms are checked, and a reorg shows. They fit one batch. */
export const NEAR_HEAD_BLOCKS = 48
/** How often in all a window is read while its parts do not fit together: the chain may have moved in between. */
const TRIES = 3
const RETRY_PAUSE_MS = 50
/** How many blocks at a time are checked for missing logs. */
const BLOCKS_AT_ONCE = 6

interface DecodedWindow {
  readonly decoded: readonly DecodedBlock[]
  /** The first block numbered per transaction, as it was when the logs got their positions. */
  readonly perTransactionFrom: number | undefined
}

/** Reads ranges of one network's blocks, each from one endpoint, and refuses answers that do not fit together. */
export class RangeReader {
  readonly positions: LogPositions
  readonly #filter: EventFilter
  readonly #logsFilter: ReturnType<typeof logsFilter>
  readonly #missingLogs: MissingLogs
  readonly #network: NetworkConfig
  readonly #clock: Clock
  readonly #states: Pick<ContractStates, 'need'>
  /** The blocks still to be read carefully; none while from > to. */
  #carefulFrom = 1
  #carefulTo = 0

  constructor(
    network: NetworkConfig,
    filter: EventFilter,
    clock: Clock,
    states: Pick<ContractStates, 'need'>,
  ) {
    this.#states = states
    this.#network = network
    this.#filter = filter
    this.#logsFilter = logsFilter(filter)
    this.positions = new LogPositions(this.#logsFilter)
    this.#missingLogs = new MissingLogs(filter)
    this.#clock = clock
  }

  /** Blocks `from` … `to` are read with all their headers, until they have been read once. */
  readCarefully(from: number, to: number): void {
    const isPending = this.#carefulFrom <= this.#carefulTo
    this.#carefulFrom = isPending ? Math.min(this.#carefulFrom, from) : from
    this.#carefulTo = isPending ? Math.max(this.#carefulTo, to) : to
  }

  /** @throws RpcFailure, ChainDataError, or the signal's reason. */
  async read(
    endpoint: Endpoint,
    from: BlockNumber,
    to: BlockNumber,
    signal: AbortSignal,
  ): Promise<FetchedRange> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#readOnce(endpoint, from, to, signal)
      } catch (error) {
        const isMoving = error instanceof RpcFailure && (error.kind === 'body' || error.kind === 'behind')
        if (!isMoving || tries === TRIES) throw error
        endpoint.head = undefined
        await this.#clock.sleep(RETRY_PAUSE_MS * tries, signal)
      }
    }
  }

  async #readOnce(
    endpoint: Endpoint,
    from: BlockNumber,
    to: BlockNumber,
    signal: AbortSignal,
  ): Promise<FetchedRange> {
    let head = endpoint.head
    if (head === undefined || head.number < to) head = await readHead(endpoint, signal)
    if (head.number < from) throw behind(endpoint, from)
    const isCareful =
      this.#carefulFrom <= this.#carefulTo && from <= this.#carefulTo && to >= this.#carefulFrom
    const last = Math.min(to, head.number, isCareful ? from + NEAR_HEAD_BLOCKS - 1 : to)
    const headersAbove = isCareful ? from - 1 : head.number - NEAR_HEAD_BLOCKS
    const window =
      (from === last && (await this.#readHeadBlock(head, last, endpoint, signal))) ||
      (await readLogsWindow({ from, to: last, headersAbove, filter: this.#logsFilter }, endpoint, signal))
    assertLinked(window.headers, endpoint)
    const parentHash = linkedParentHash(window.headers, from, window.to)
    const { decoded, perTransactionFrom } =
      (window.to <= headersAbove && (await this.#decodePacked(window, endpoint, signal))) ||
      (await this.#decodePlain(window, endpoint, signal))
    await this.#readMissingHeaders(decoded, window, endpoint, signal)
    const manager = this.#network.rollupManager
    const blocks: IndexedBlock<BlockEvent>[] = []
    for (const block of decoded) {
      const { events } = block
      if (events.length === 0) continue
      const header = headerOf(block, window.headers, endpoint)
      const needsRoot = manager !== undefined && events.some((event) => event.type === 'rollupAdded')
      blocks.push({
        header,
        events: needsRoot
          ? await withInitialExitRoots(events, block.logs(), manager, this.#states, endpoint, signal)
          : events,
      })
    }
    if (isCareful) this.#carefulFrom = Math.max(this.#carefulFrom, window.to + 1)
    const lastHeader = toHeader(window.headers.get(window.to)!)
    return {
      fromBlock: from,
      head: lastHeader,
      ...(parentHash === undefined ? {} : { parentHash }),
      blocks,
      ...(perTransactionFrom === undefined || perTransactionFrom > window.to
        ? {}
        : { perTransactionFrom: asBlockNumber(perTransactionFrom) }),
    }
  }

  /**
   * Reads the head's block by its hash: the cheapest call at the tip, and no node can answer it for another branch.
   * @returns undefined when `block` is not the head, or the endpoint does not answer such calls.
   */
  async #readHeadBlock(
    head: RpcBlock,
    block: number,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<LogsWindow | undefined> {
    if (head.number !== block || endpoint.logsByHash.holds) return undefined
    try {
      const logs = await this.#missingLogs.askByHash(head, endpoint, signal)
      return logs && { to: block, headers: new Map([[block, head]]), logs, areLogsApart: false }
    } catch (error) {
      // A window of one block can be read in parts.
      if (error instanceof RpcFailure && isTooMuch(error)) return undefined
      if (!(error instanceof RpcFailure) || error.kind !== 'rpc') throw error
      return undefined
    }
  }

  /** Adds logs that the endpoint left out, as far as the window's headers show them. */
  async #completeByBloom(
    groups: Map<number, readonly RpcLog[]>,
    window: LogsWindow,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<void> {
    let isChanged = false
    const completeOne = async (header: RpcBlock): Promise<void> => {
      const logs = groups.get(header.number) ?? []
      const complete = await this.#missingLogs.complete(header, logs, endpoint, signal, window)
      if (complete === logs) return
      groups.set(header.number, complete)
      isChanged = true
    }
    const headers = [...window.headers.values()]
    for (let start = 0; start < headers.length; start += BLOCKS_AT_ONCE)
      await Promise.all(headers.slice(start, start + BLOCKS_AT_ONCE).map(completeOne))
    if (!isChanged) return
    const sorted = [...groups].sort(([a], [b]) => a - b)
    groups.clear()
    for (const [number, logs] of sorted) groups.set(number, logs)
  }

  /** Decodes a window's blocks, in order, with the logs that the endpoint left out as far as the headers show them. */
  async #decodePlain(window: LogsWindow, endpoint: Endpoint, signal: AbortSignal): Promise<DecodedWindow> {
    const { logs, to } = window
    const plain = logs instanceof PackedLogs ? decodeLogs(logs, 0, to, endpoint.alias) : logs
    const groups = groupByBlock(plain, endpoint)
    await this.#completeByBloom(groups, window, endpoint, signal)
    const perTransactionFrom = await this.positions.place(groups, window.headers, endpoint, signal)
    const decoded = [...groups.values()].map((group) => decodeBlockLogs(group, this.#filter))
    return { decoded, perTransactionFrom }
  }

  /**
   * As `#decodePlain`, for a window of backfill whose logs are packed, of which most never become text or objects.
   * @returns undefined when its logs are not packed, its last block lacks a log, or the positions need requests.
   */
  async #decodePacked(
    window: LogsWindow,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<DecodedWindow | undefined> {
    const { logs } = window
    if (!(logs instanceof PackedLogs)) return undefined
    const lastLogs: RpcLog[] = []
    for (let log = logs.length - 1; log >= 0 && logs.blockNumber(log) === window.to; log--)
      lastLogs.unshift(unpackLog(logs, log))
    const header = window.headers.get(window.to)!
    const complete = await this.#missingLogs.complete(header, lastLogs, endpoint, signal, {
      areLogsApart: false,
    })
    if (complete !== lastLogs || !this.positions.placePacked(logs, endpoint)) return undefined
    const perTransactionFrom = this.positions.from
    return { decoded: decodePackedBlocks(logs, this.#filter, endpoint), perTransactionFrom }
  }

  /**
   * Reads the headers that blocks with events still need: for the parent hash of an L1 info leaf without UpdateL1InfoTreeV2,
   * and for times where those in the logs can't be trusted.
   */
  async #readMissingHeaders(
    decoded: readonly DecodedBlock[],
    window: LogsWindow,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<void> {
    const add = async (numbers: readonly number[]) => {
      for (const block of await readBlocks(numbers, endpoint, signal)) window.headers.set(block.number, block)
    }
    const trust = endpoint.timestamps
    const bare = decoded.filter(({ number, events }) => events.length > 0 && !window.headers.has(number))
    const inDoubt = bare.filter(
      ({ events }) => events.some((event) => event.type === 'l1InfoLeaf') && !l1InfoRootEvent(events),
    )
    await add(inDoubt.map(({ number }) => number))

    for (const { number, timestampSec } of decoded) {
      const header = window.headers.get(number)
      if (header !== undefined && trust.isUsable) trust.compare(timestampSec, header.timestampSec)
    }
    const guessed = bare.filter(
      ({ number, events }) => !window.headers.has(number) && !l1InfoRootEvent(events),
    )
    if (guessed.length === 0) return
    const newest = window.headers.get(window.to)!.timestampSec
    if (trust.isUsable && !timesAreSane(guessed, newest)) trust.distrust()
    if (trust.isUsable && trust.wantsCheck()) {
      const sample = guessed[guessed.length - 1]!
      await add([sample.number])
      trust.compare(sample.timestampSec, window.headers.get(sample.number)!.timestampSec)
    }
    if (trust.isUsable) return
    const numbers = guessed.map(({ number }) => number)
    await add(numbers.filter((number) => !window.headers.has(number)))
  }
}

/** @throws RpcFailure when logs of one block name two hashes. */
function groupByBlock(logs: readonly RpcLog[], endpoint: Endpoint): Map<number, readonly RpcLog[]> {
  const groups = new Map<number, RpcLog[]>()
  for (const log of logs) {
    const group = groups.get(log.blockNumber)
    if (group === undefined) groups.set(log.blockNumber, [log])
    else if (group[0]!.blockHash !== log.blockHash) throw mixedBranches(log.blockNumber, endpoint)
    else group.push(log)
  }
  return groups
}

/** @throws RpcFailure when a header does not name the one before it as its parent: they are from two branches. */
function assertLinked(headers: ReadonlyMap<number, RpcBlock>, endpoint: Endpoint): void {
  for (const header of headers.values()) {
    const parent = headers.get(header.number - 1)
    if (parent !== undefined && parent.hash !== header.parentHash)
      throw mixedBranches(header.number, endpoint)
  }
}

/** Parent hash of block `from`; undefined unless all headers up to `to` are there (`assertLinked` has compared them). */
function linkedParentHash(
  headers: ReadonlyMap<number, RpcBlock>,
  from: number,
  to: number,
): Hash | undefined {
  for (let number = from; number <= to; number++) if (!headers.has(number)) return undefined
  return decodeHex(headers.get(from)!.parentHash)
}

/** Whether all times are there, never decrease, and are at most the last block's. */
function timesAreSane(blocks: readonly DecodedBlock[], newest: number): boolean {
  let previous = 1
  for (const { timestampSec } of blocks) {
    if (timestampSec === undefined || timestampSec < previous || timestampSec > newest) return false
    previous = timestampSec
  }
  return true
}
