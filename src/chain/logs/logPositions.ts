import { ChainDataError } from '../../errors/chainDataError.js'
import type { PackedLogs } from '../../events/packedLogs.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { readBlocks } from '../endpoints/readBlocks.js'
import { quantity, type RpcBlock } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { decodeLogs, type logsFilter, type RpcLog } from '../rpc/rpcLogs.js'
import type { RpcOutcome } from '../rpc/rpcTransport.js'
import { mixedBranches } from './decodedBlocks.js'

/**
 * Number of positions that each transaction gets where logs are numbered per transaction: the position of a log is its
 * transaction index · this + its log index.
 */
const TRANSACTION_LOGS = 2 ** 16

type Logs = readonly RpcLog[]

/**
 * Finds the position of each log in its block. Most chains number the logs of a block: then `logIndex` is the position. Some (zk
 * stacks) number the logs of each transaction from 0, so that two logs of a block may have the same index. From the first block
 * that shows this, the position is transaction index · 2^16 + logIndex. Blocks before it keep their `logIndex`, which is in order
 * within each of them. We can't number the logs ourselves: only logs of our contracts are read, and another filter would give
 * other numbers.
 *
 * The first such block is a property of the chain: reading history again finds the same one. The store remembers it (`startAt`),
 * and a range is stored only if it was read with the same value (`FetchedRange.perTransactionFrom`).
 */
export class LogPositions {
  readonly #filter: ReturnType<typeof logsFilter>
  #from: number | undefined

  constructor(filter: ReturnType<typeof logsFilter>) {
    this.#filter = filter
  }

  /** First block whose logs are numbered per transaction; undefined while none was seen. */
  get from(): number | undefined {
    return this.#from
  }

  /** Sets the first such block, as the store has it. */
  startAt(block: number | undefined): void {
    this.#from = block
  }

  /**
   * Gives packed logs their positions, without any request.
   * @param logs in chain order.
   * @returns false when requests are needed (`place`): the logs are unchanged then.
   */
  placePacked(logs: PackedLogs, endpoint: Endpoint): boolean {
    const first = this.#firstPlaced(logs)
    for (let log = 1; log < first; log++) if (looksPerTransaction(logs, log)) return false
    if (first === logs.length) return true
    if (!this.#numbersPerTransaction(endpoint)) return false
    for (let log = first; log < logs.length; log++) {
      const transaction = logs.transactionIndex(log)
      if (transaction === undefined || transaction >= TRANSACTION_LOGS) return false
      if (logs.logIndex(log) >= TRANSACTION_LOGS) return false
      if (log > first && !isAfterPrevious(logs, log)) return false
    }
    for (let log = first; log < logs.length; log++)
      logs.setLogIndex(log, logs.transactionIndex(log)! * TRANSACTION_LOGS + logs.logIndex(log))
    return true
  }

  /**
   * Gives logs their positions.
   * @param blocks complete blocks with their logs, ascending. Their lists are replaced by sorted ones whose `logIndex` is the
   *   position.
   * @returns the first block numbered per transaction, as it was when these positions were made.
   * @throws RpcFailure when the endpoint's answers do not suffice; ChainDataError `log_position_overflow`.
   */
  async place(
    blocks: Map<number, Logs>,
    headers: ReadonlyMap<number, RpcBlock>,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let from = this.#from
    const isOpen = (number: number) => from === undefined || number < from
    const inDoubt = new Map(
      [...blocks].filter(([number, logs]) => isOpen(number) && lookPerTransaction(logs)),
    )
    for (const [number, logs] of await withTransactions(inDoubt, headers, endpoint, signal)) {
      if (!showPerTransaction(logs, endpoint)) continue
      from = number
      this.#from = Math.min(number, this.#from ?? number)
      endpoint.perTransactionLogs = { from, isShown: true }
      break
    }
    if (from === undefined) return undefined
    const since = from
    let placed = new Map([...blocks].filter(([number]) => number >= since))
    if (placed.size === 0) return from
    if (!(await this.#showsPerTransaction(from, endpoint, signal)))
      placed = await withOwnIndexes(placed, endpoint, signal)
    const bare = new Map([...placed].filter(([, logs]) => !nameTransactions(logs)))
    const completed = await withTransactions(bare, headers, endpoint, signal)
    for (const [number, logs] of new Map([...placed, ...completed])) {
      const inOrder = byTransaction(logs, endpoint)
      blocks.set(
        number,
        inOrder.map((log) => withPlace(log, endpoint)),
      )
    }
    return from
  }

  #firstPlaced(logs: PackedLogs): number {
    const from = this.#from
    if (from === undefined) return logs.length
    let first = 0
    while (first < logs.length && logs.blockNumber(first) < from) first++
    return first
  }

  /** Whether the endpoint's logs of block `from` have shown that it numbers logs per transaction. */
  #numbersPerTransaction({ perTransactionLogs: learned }: Endpoint): boolean {
    return learned?.isShown === true && learned.from === this.#from
  }

  /**
   * As `#numbersPerTransaction`, but asks the endpoint if need be. False also for an endpoint that no longer has that block: then
   * receipts give the indices (`withOwnIndexes`).
   */
  async #showsPerTransaction(from: number, endpoint: Endpoint, signal: AbortSignal): Promise<boolean> {
    const learned = endpoint.perTransactionLogs
    if (learned?.from === from) return learned.isShown
    const range = { fromBlock: quantity(from), toBlock: quantity(from) }
    try {
      const raw = await endpoint.call('eth_getLogs', [{ ...this.#filter, ...range }], signal)
      const block = new Map([[from, decodeLogs(raw, from, from, endpoint.alias)]])
      const completed = await withTransactions(block, new Map(), endpoint, signal)
      const isShown = showPerTransaction(completed.get(from)!, endpoint)
      endpoint.perTransactionLogs = { from, isShown }
      return isShown
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === 'rpc') return false
      throw error
    }
  }
}

/** Sets the transaction index of each log whose transaction is in the block's list. */
async function withTransactions(
  blocks: ReadonlyMap<number, Logs>,
  headers: ReadonlyMap<number, RpcBlock>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Map<number, Logs>> {
  const known = new Map(headers)
  const missing = [...blocks.keys()].filter((number) => !known.has(number))
  for (const header of await readBlocks(missing, endpoint, signal)) known.set(header.number, header)
  const complete = new Map<number, Logs>()
  for (const [number, logs] of blocks) {
    const { hash, transactionHashes } = known.get(number)!
    if (logs.some(({ blockHash }) => blockHash !== hash)) throw mixedBranches(number, endpoint)
    const indexes = new Map(transactionHashes.map((each, index) => [each.toLowerCase(), index]))
    const indexed = logs.map((log) => ({
      ...log,
      transactionIndex: indexes.get(log.transactionHash) ?? log.transactionIndex,
    }))
    complete.set(number, indexed)
  }
  return complete
}

/** Sets the log index of each log to its place in its transaction, from receipts: they list all logs of a transaction in order. */
async function withOwnIndexes(
  blocks: ReadonlyMap<number, Logs>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Map<number, Logs>> {
  const hashes = [...new Set([...blocks.values()].flat().map(({ transactionHash }) => transactionHash))]
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const outcomes = await endpoint.callAll(calls, signal)
  const receipts = new Map(hashes.map((hash, at) => [hash, outcomes[at]!]))
  const complete = new Map<number, Logs>()
  for (const [number, logs] of blocks) {
    const whole = new Map<string, RpcLog[]>()
    const own = logs.map((log) => {
      const { transactionHash: hash } = log
      const inReceipt = whole.get(hash) ?? logsOfReceipt(receipts.get(hash)!, log, endpoint)
      whole.set(hash, inReceipt)
      const logIndex = inReceipt.findIndex((each) => isSameEvent(each, log))
      if (logIndex < 0) throw notConvertible(log, endpoint)
      // A transaction may emit the same event twice: each log needs a position of its own.
      inReceipt[logIndex] = { ...log, data: TAKEN }
      return { ...log, logIndex }
    })
    complete.set(number, own)
  }
  return complete
}

/** Marks a log of a receipt as matched: no log has this as its data. */
const TAKEN = ''

function logsOfReceipt(outcome: RpcOutcome, log: RpcLog, endpoint: Endpoint): RpcLog[] {
  const receipt = (outcome.ok ? outcome.result : undefined) as { readonly logs?: unknown } | null | undefined
  const logs = decodeLogs(receipt?.logs ?? [], log.blockNumber, log.blockNumber, endpoint.alias)
  if (logs.some(({ blockHash }) => blockHash !== log.blockHash))
    throw mixedBranches(log.blockNumber, endpoint)
  return logs
}

function isSameEvent(a: RpcLog, b: RpcLog): boolean {
  return (
    a.address === b.address &&
    a.data.toLowerCase() === b.data.toLowerCase() &&
    a.topics.join().toLowerCase() === b.topics.join().toLowerCase()
  )
}

/** The endpoint numbers logs per block on a chain that numbers them per transaction, and its receipts lack the log. */
function notConvertible({ blockNumber }: RpcLog, { alias }: Endpoint): RpcFailure {
  return new RpcFailure(
    'body',
    `${alias}: numbers the logs of block ${blockNumber} per block, while this network numbers them per transaction, and its receipts lack one of the logs`,
  )
}

/** Whether the logs name their transactions: one index per transaction, and one transaction per index. */
function nameTransactions(logs: Logs): boolean {
  const hashes = new Map<number, string>()
  const indexes = new Map<string, number>()
  for (const { transactionIndex: index, transactionHash: hash } of logs) {
    if (index === undefined) return false
    if ((hashes.get(index) ?? hash) !== hash || (indexes.get(hash) ?? index) !== index) return false
    hashes.set(index, hash)
    indexes.set(hash, index)
  }
  return true
}

/**
 * Whether the logs look numbered per transaction: an index repeats, or a higher index belongs to an earlier transaction. Also
 * true when a transaction index is missing, since it could show the latter.
 * @param logs of one block, by logIndex.
 */
function lookPerTransaction(logs: Logs): boolean {
  for (let at = 1; at < logs.length; at++) {
    const [before, log] = [logs[at - 1]!, logs[at]!]
    if (log.logIndex === before.logIndex) return true
    if (log.transactionIndex === undefined || before.transactionIndex === undefined) {
      if (log.transactionHash !== before.transactionHash) return true
    } else if (log.transactionIndex < before.transactionIndex) return true
  }
  return false
}

/** As `lookPerTransaction`, for a packed log and the one before it. */
function looksPerTransaction(logs: PackedLogs, log: number): boolean {
  if (logs.blockNumber(log) !== logs.blockNumber(log - 1)) return false
  if (logs.logIndex(log) <= logs.logIndex(log - 1)) return true
  return logs.transactionIndex(log) === undefined && !logs.isOfSameTransaction(log, log - 1)
}

/**
 * Whether the logs are certainly numbered per transaction.
 * @param logs of one block, by logIndex, with their transaction indices.
 * @throws RpcFailure when two logs share an index and their transactions don't explain it.
 */
function showPerTransaction(logs: Logs, endpoint: Endpoint): boolean {
  if (nameTransactions(logs)) return lookPerTransaction(logs)
  // A log of the chain's system belongs to no transaction: it keeps its logIndex unless that one repeats.
  if (logs.some(({ logIndex }, at) => at > 0 && logIndex === logs[at - 1]!.logIndex))
    throw transactionsUnknown(logs[0]!, endpoint)
  return false
}

/** @throws RpcFailure when the transactions are not known. */
function byTransaction(logs: Logs, endpoint: Endpoint): Logs {
  if (!nameTransactions(logs)) throw transactionsUnknown(logs[0]!, endpoint)
  return [...logs].sort((a, b) => a.transactionIndex! - b.transactionIndex! || a.logIndex - b.logIndex)
}

function transactionsUnknown({ blockNumber }: RpcLog, { alias }: Endpoint): RpcFailure {
  return new RpcFailure('body', `${alias}: logs of block ${blockNumber} do not name their transactions`)
}

/** Whether a packed log comes after the one before it: another block, a later transaction, or a higher index in the same one. */
function isAfterPrevious(logs: PackedLogs, log: number): boolean {
  if (logs.blockNumber(log) !== logs.blockNumber(log - 1)) return true
  const step = logs.transactionIndex(log)! - logs.transactionIndex(log - 1)!
  return step > 0 || (step === 0 && logs.logIndex(log) > logs.logIndex(log - 1))
}

function withPlace(log: RpcLog, { alias }: Endpoint): RpcLog {
  const { transactionIndex = 0, logIndex, blockNumber } = log
  if (transactionIndex < TRANSACTION_LOGS && logIndex < TRANSACTION_LOGS)
    return { ...log, logIndex: transactionIndex * TRANSACTION_LOGS + logIndex }
  throw new ChainDataError(
    'log_position_overflow',
    `${alias}: log ${logIndex} of transaction ${transactionIndex} in block ${blockNumber} can't be stored: neither number may exceed ${TRANSACTION_LOGS - 1}`,
  )
}
