import type { Endpoint } from '../endpoints/endpoint.js'
import { NULL_TRIES } from '../endpoints/readBlocks.js'
import { decodeQuantity, quantity } from '../rpc/rpcBlocks.js'
import type { RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcCall, RpcOutcome } from '../rpc/rpcTransport.js'

/** What a mined transaction says about its sender; addresses are lower case. */
export interface Transaction {
  readonly from: string
  /** Undefined for a contract creation. */
  readonly to: string | undefined
  readonly blockNumber: number
}

export const ADDRESS = /^0x[0-9a-f]{40}$/
export const ZERO_ADDRESS = `0x${'00'.repeat(20)}`

/** Whole blocks per request: each has some hundred kilobytes. */
const WHOLE_BLOCKS_AT_ONCE = 10

/** One call without an answer holds up its whole request, which is then asked again in requests that are so much smaller. */
const NARROWING = 4
/** After so many requests without an answer in time the next way is tried, or the next endpoint. */
const MOST_HELD_UP = 3

/** Transactions that are looked for. */
export class Wanted {
  readonly found = new Map<string, Transaction>()
  /** Transaction hash → block number. */
  readonly #blocks: ReadonlyMap<string, number>

  constructor(blocks: ReadonlyMap<string, number>) {
    this.#blocks = blocks
  }

  get isComplete(): boolean {
    return this.found.size === this.#blocks.size
  }

  missing(): string[] {
    return [...this.#blocks.keys()].filter((hash) => !this.found.has(hash))
  }

  blocksOfMissing(): number[] {
    return [...new Set(this.missing().map((hash) => this.#blocks.get(hash)!))]
  }

  keep(raw: unknown, hash: string): void {
    const transaction = this.#blocks.has(hash) ? decodeTransaction(raw, hash) : undefined
    if (transaction !== undefined) this.found.set(hash, transaction)
  }
}

/** What asking by hash came to. */
export interface HashRound {
  /** False when some had no answer in time, or were not asked for: another endpoint may know them at once. */
  readonly isInTime: boolean
  /** Set when it gave up. */
  readonly failure: RpcFailure | undefined
}

/**
 * Asks for transactions by hash. A call that is refused, has a malformed answer or none leaves only its own transactions missing.
 * @param isLast no other way is left: the endpoint is asked in any case, and for one after the other.
 * @throws RpcFailure when the endpoint is down.
 */
export async function readByHash(
  wanted: Wanted,
  endpoint: Endpoint,
  signal: AbortSignal,
  isLast = false,
): Promise<HashRound> {
  // It had not answered at all lately.
  if (endpoint.transactionsByHash.holds && !isLast) return { isInTime: false, failure: undefined }
  const waiting = new Waiting()
  for (let tries = 0; tries < NULL_TRIES && !wanted.isComplete && !waiting.isOver; tries++) {
    const before = waiting.times
    const missing = wanted.missing()
    const atOnce = isLast ? 1 : Math.min(endpoint.lookUpsAtOnce, missing.length)
    for (let start = 0; start < missing.length && !waiting.isOver; start += atOnce) {
      const hashes = missing.slice(start, start + atOnce)
      const calls = hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }))
      const outcomes = waiting.note(await endpoint.lookUp(calls, signal))
      for (const [index, outcome] of outcomes.entries()) wanted.keep(resultOf(outcome), hashes[index]!)
    }
    if (waiting.times === before) {
      if (!isLast) endpoint.lookUpsAtOnce *= 2
      continue
    }
    if (atOnce > NARROWING) endpoint.lookUpsAtOnce = Math.ceil(atOnce / NARROWING)
    // Twice is enough: the block of a transaction that hangs may be answered at once, or another endpoint.
    if (before > 0 || isLast || (atOnce === 1 && !endpoint.isAlone)) break
  }
  if (waiting.isAnswered) endpoint.transactionsByHash.forget()
  else if (waiting.times > 0) endpoint.transactionsByHash.refused()
  return { isInTime: waiting.times === 0, failure: waiting.overdue }
}

/**
 * Looks for transactions in their blocks (nodes drop the index of old transactions and keep the blocks), then in the blocks' receipts.
 * @param given the failure of another way that was given up.
 * @throws RpcFailure when the endpoint is down, or too much was not answered in time to say that a transaction is unknown.
 */
export async function readFromBlocks(
  wanted: Wanted,
  endpoint: Endpoint,
  signal: AbortSignal,
  given?: RpcFailure,
): Promise<void> {
  let overdue = given
  for (const callOf of [wholeBlock, receipts]) {
    const waiting = new Waiting()
    for (const atOnce of [WHOLE_BLOCKS_AT_ONCE, 1]) {
      const before = waiting.times
      const numbers = wanted.blocksOfMissing()
      for (let start = 0; start < numbers.length && !waiting.isOver; start += atOnce) {
        const calls = numbers.slice(start, start + atOnce).map(callOf)
        for (const outcome of waiting.note(await endpoint.lookUp(calls, signal)))
          for (const raw of transactionsOf(resultOf(outcome))) wanted.keep(raw, hashOf(raw))
      }
      if (waiting.times === before) break
    }
    overdue = waiting.overdue ?? overdue
  }
  if (overdue !== undefined && !wanted.isComplete) throw overdue
}

/** Counts the requests without an answer in time. */
class Waiting {
  times = 0
  isAnswered = false
  failure: RpcFailure | undefined

  get isOver(): boolean {
    return this.times >= MOST_HELD_UP
  }

  /** The last failure, if there were too many. */
  get overdue(): RpcFailure | undefined {
    return this.isOver ? this.failure : undefined
  }

  note(outcomes: readonly RpcOutcome[]): readonly RpcOutcome[] {
    // All calls of one request share its failure.
    const failures = new Set<RpcFailure>()
    for (const outcome of outcomes)
      if (!outcome.ok && outcome.failure.kind === 'timeout') failures.add(outcome.failure)
      else this.isAnswered = true
    this.times += failures.size
    this.failure = [...failures].at(-1) ?? this.failure
    return outcomes
  }
}

const wholeBlock = (block: number): RpcCall => ({
  method: 'eth_getBlockByNumber',
  params: [quantity(block), true],
})
const receipts = (block: number): RpcCall => ({ method: 'eth_getBlockReceipts', params: [quantity(block)] })

/** @returns undefined for a failed call: it must not keep the other transactions from being found. */
function resultOf(outcome: RpcOutcome): unknown {
  return outcome.ok ? outcome.result : undefined
}

/** The transactions of a block, or its receipts: both name hash, sender, receiver and block. */
function transactionsOf(raw: unknown): readonly unknown[] {
  if (Array.isArray(raw)) return raw
  const { transactions } = asRecord(raw)
  return Array.isArray(transactions) ? transactions : []
}

function hashOf(raw: unknown): string {
  const { hash, transactionHash } = asRecord(raw)
  const text = hash ?? transactionHash
  return typeof text === 'string' ? text.toLowerCase() : ''
}

/** @returns undefined unless it is a mined transaction of this hash with a sender. */
function decodeTransaction(raw: unknown, hash: string): Transaction | undefined {
  const transaction = asRecord(raw)
  const from = address(transaction.from)
  const blockNumber = decodeQuantity(transaction.blockNumber)
  if (from === undefined || blockNumber === undefined || hashOf(raw) !== hash) return undefined
  return { from, to: address(transaction.to), blockNumber }
}

/** The zero address can't be a sender: nobody has its key, and some gateways send it in place of an unknown address. */
function address(raw: unknown): string | undefined {
  const text = typeof raw === 'string' ? raw.toLowerCase() : ''
  return ADDRESS.test(text) && text !== ZERO_ADDRESS ? text : undefined
}

function asRecord(raw: unknown): Readonly<Record<string, unknown>> {
  return (typeof raw === 'object' && raw !== null ? raw : {}) as Readonly<Record<string, unknown>>
}
