import { ChainDataError } from '../errors/chainDataError.js'
import type { PackedLogs } from '../protocol/packedLogs.js'
import { mixedBranches } from './decodedBlocks.js'
import type { Endpoint } from './endpoint.js'
import { readBlocks } from './readBlocks.js'
import { type BlockHead, quantity } from './rpcBlocks.js'
import { RpcFailure } from './rpcFailure.js'
import { decodeLogs, type logsFilter, type RpcLog } from './rpcLogs.js'
import type { RpcOutcome } from './rpcTransport.js'

/** Places of one transaction: a position is the transaction's index times this, plus the log's index in it. */
const TRANSACTION_LOGS = 2 ** 16

type Logs = readonly RpcLog[]

/**
 * Where a log stands in its block. Most chains count logs per block: the told index is the place. Some (zk stacks) count per
 * transaction: there two logs of a block may claim one place. From the first block on that shows it, the place is
 * transaction index · 2^16 + told index: only logs of ours are asked for, so that numbering them anew would not give the same
 * numbers each time. Older blocks keep what they were told with: in each of them that is in order.
 *
 * The first such block belongs to the chain, and is the same whenever history is read again. The store remembers it
 * (`startAt`), and whoever stores a range checks that it was counted so (`FetchedRange.perTransactionFrom`).
 */
export class LogPositions {
  readonly #filter: ReturnType<typeof logsFilter>
  #from: number | undefined

  constructor(filter: ReturnType<typeof logsFilter>) {
    this.#filter = filter
  }

  /** First block whose logs are counted per transaction; undefined while none was seen. */
  get from(): number | undefined {
    return this.#from
  }

  /** What the store knows counts. */
  startAt(block: number | undefined): void {
    this.#from = block
  }

  /**
   * Packed logs, in order.
   * @returns false when that takes more than a look: then they are as they were.
   */
  placePacked(logs: PackedLogs, endpoint: Endpoint): boolean {
    const first = this.#firstPlaced(logs)
    for (let log = 1; log < first; log++) if (isInDoubt(logs, log)) return false
    if (first === logs.length) return true
    if (!this.#countsPerTransaction(endpoint)) return false
    for (let log = first; log < logs.length; log++) {
      const transaction = logs.transactionIndex(log)
      if (transaction === undefined || transaction >= TRANSACTION_LOGS) return false
      if (logs.logIndex(log) >= TRANSACTION_LOGS) return false
      if (log > first && !isInStep(logs, log)) return false
    }
    for (let log = first; log < logs.length; log++)
      logs.setLogIndex(log, logs.transactionIndex(log)! * TRANSACTION_LOGS + logs.logIndex(log))
    return true
  }

  /**
   * @param blocks complete blocks with their logs as told, ascending; they get them in order, each with its place as its index.
   * @returns what `from` was meanwhile.
   * @throws RpcFailure when the endpoint does not tell enough; ChainDataError `log_position_overflow`.
   */
  async place(
    blocks: Map<number, Logs>,
    headers: ReadonlyMap<number, BlockHead>,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let from = this.#from
    const isOpen = (number: number) => from === undefined || number < from
    const inDoubt = new Map([...blocks].filter(([number, logs]) => isOpen(number) && areInDoubt(logs)))
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
    if (!(await this.#asks(from, endpoint, signal))) placed = await withOwnIndexes(placed, endpoint, signal)
    const bare = new Map([...placed].filter(([, logs]) => !tellTransactions(logs)))
    const told = await withTransactions(bare, headers, endpoint, signal)
    for (const [number, logs] of new Map([...placed, ...told])) {
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

  /** What was learned of the endpoint at the block where counting changes. */
  #countsPerTransaction({ perTransactionLogs: learned }: Endpoint): boolean {
    return learned?.isShown === true && learned.from === this.#from
  }

  /**
   * Does the endpoint count per transaction? The first such block shows it. One that has dropped that block may do either:
   * then its receipts tell.
   */
  async #asks(from: number, endpoint: Endpoint, signal: AbortSignal): Promise<boolean> {
    const learned = endpoint.perTransactionLogs
    if (learned?.from === from) return learned.isShown
    const range = { fromBlock: quantity(from), toBlock: quantity(from) }
    try {
      const raw = await endpoint.call('eth_getLogs', [{ ...this.#filter, ...range }], signal)
      const block = new Map([[from, decodeLogs(raw, from, from, endpoint.alias)]])
      const told = await withTransactions(block, new Map(), endpoint, signal)
      const isShown = showPerTransaction(told.get(from)!, endpoint)
      endpoint.perTransactionLogs = { from, isShown }
      return isShown
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === 'rpc') return false
      throw error
    }
  }
}

/** Each log with the index of its transaction, as the block's own list tells it; a log that is not of one of them as it is. */
async function withTransactions(
  blocks: ReadonlyMap<number, Logs>,
  headers: ReadonlyMap<number, BlockHead>,
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
    const told = logs.map((log) => ({
      ...log,
      transactionIndex: indexes.get(log.transactionHash) ?? log.transactionIndex,
    }))
    complete.set(number, told)
  }
  return complete
}

/** Each log with its index in its own transaction, by receipts: whatever they count, they hold all logs of it in order. */
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
      if (logIndex < 0) throw uncountable(log, endpoint)
      // An event that a transaction tells twice has two places.
      inReceipt[logIndex] = { ...log, data: TAKEN }
      return { ...log, logIndex }
    })
    complete.set(number, own)
  }
  return complete
}

/** No data of a log. */
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

/** Such an endpoint is of no use for logs: it counts otherwise than is stored, and does not show how. */
function uncountable({ blockNumber }: RpcLog, { alias }: Endpoint): RpcFailure {
  return new RpcFailure(
    'body',
    `${alias}: counts logs of block ${blockNumber} per block, which are counted per transaction here, and no receipt tells them`,
  )
}

/** One index per transaction, one transaction per index. */
function tellTransactions(logs: Logs): boolean {
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
 * Told indices repeat, or fall while transactions rise, which is no count of the block's logs; or they may: that of a
 * transaction is not told.
 * @param logs of a block, by told index.
 */
function areInDoubt(logs: Logs): boolean {
  for (let at = 1; at < logs.length; at++) {
    const [before, log] = [logs[at - 1]!, logs[at]!]
    if (log.logIndex === before.logIndex) return true
    if (log.transactionIndex === undefined || before.transactionIndex === undefined) {
      if (log.transactionHash !== before.transactionHash) return true
    } else if (log.transactionIndex < before.transactionIndex) return true
  }
  return false
}

/** The same of packed logs, and the log before it. */
function isInDoubt(logs: PackedLogs, log: number): boolean {
  if (logs.blockNumber(log) !== logs.blockNumber(log - 1)) return false
  if (logs.logIndex(log) <= logs.logIndex(log - 1)) return true
  return logs.transactionIndex(log) === undefined && !logs.isOfSameTransaction(log, log - 1)
}

/** @param logs as above, with all that is known of their transactions. @throws RpcFailure when two claim one place for no reason. */
function showPerTransaction(logs: Logs, endpoint: Endpoint): boolean {
  if (tellTransactions(logs)) return areInDoubt(logs)
  // A log of the system is of none: without another sign it is where it says.
  if (logs.some(({ logIndex }, at) => at > 0 && logIndex === logs[at - 1]!.logIndex))
    throw untold(logs[0]!, endpoint)
  return false
}

/** @throws RpcFailure when the transactions are not known. */
function byTransaction(logs: Logs, endpoint: Endpoint): Logs {
  if (!tellTransactions(logs)) throw untold(logs[0]!, endpoint)
  return [...logs].sort((a, b) => a.transactionIndex! - b.transactionIndex! || a.logIndex - b.logIndex)
}

function untold({ blockNumber }: RpcLog, { alias }: Endpoint): RpcFailure {
  return new RpcFailure('body', `${alias}: logs of block ${blockNumber} do not tell their transactions`)
}

/** Both of one block: transactions rise, or the indices in one do. */
function isInStep(logs: PackedLogs, log: number): boolean {
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
    `${alias}: log ${logIndex} of transaction ${transactionIndex} in block ${blockNumber} has no place: both are counted to ${TRANSACTION_LOGS - 1}`,
  )
}
