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

type Way = 'hash' | 'block' | 'receipts'

export const ADDRESS = /^0x[0-9a-f]{40}$/
export const ZERO_ADDRESS = `0x${'00'.repeat(20)}`

/** Whole blocks per request: each has some hundred kilobytes. */
const WHOLE_BLOCKS_AT_ONCE = 10

/** One call without an answer holds up its whole request, which is then asked again in requests that are so much smaller. */
const NARROWING = 4
/** After so many requests in a row without an answer in time the next way is tried, or the next endpoint. */
const MOST_HELD_UP = 3
/** A transaction is given up that hangs in so many ways, each of each endpoint counted. */
const MOST_WAYS = 3
/** Requests in flight once one had no answer in time. */
const REQUESTS_IN_FLIGHT = 6

/** Transactions that are looked for. */
export class Wanted {
  readonly found = new Map<string, Transaction>()
  /** Some request had no answer in time. */
  isHeldUp = false
  /** Some request was answered, if only by null or a refusal. */
  isAnswered = false
  /** Transaction hash → block number. */
  readonly #blocks: ReadonlyMap<string, number>
  /** Transaction hash → endpoint → the ways in which it had no answer in time although nothing else was asked for beside it. */
  readonly #hung = new Map<string, Map<Endpoint, Set<Way>>>()
  #lateEndpoints = Number.POSITIVE_INFINITY

  constructor(blocks: ReadonlyMap<string, number>) {
    this.#blocks = blocks
  }

  get isComplete(): boolean {
    return this.found.size === this.#blocks.size
  }

  /** Complete, or what is missing hangs by itself, at every endpoint: others must not wait for it any longer. */
  get isOver(): boolean {
    return this.isComplete || this.missing().every((hash) => this.#hangs(hash))
  }

  /** All endpoints were asked by hash, and so many of them did not answer for everything in time: from now on what hangs is given up. */
  allAsked(lateEndpoints: number): void {
    this.#lateEndpoints = lateEndpoints
  }

  /** Nothing but these was asked for, and there was no answer in time. */
  hung(hashes: readonly string[], endpoint: Endpoint, way: Way): void {
    for (const hash of hashes) {
      const endpoints = this.#hung.get(hash) ?? new Map<Endpoint, Set<Way>>()
      this.#hung.set(hash, endpoints.set(endpoint, (endpoints.get(endpoint) ?? new Set()).add(way)))
    }
  }

  #hangs(hash: string): boolean {
    const endpoints = [...(this.#hung.get(hash)?.values() ?? [])]
    const ways = endpoints.reduce((sum, { size }) => sum + size, 0)
    // A block may hang for another transaction's sake.
    const isHashAsked = endpoints.some((asked) => asked.has('hash'))
    return isHashAsked && endpoints.length >= this.#lateEndpoints && ways >= MOST_WAYS
  }

  missingIn(block: number): string[] {
    return this.missing().filter((hash) => this.#blocks.get(hash) === block)
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
  const waiting = new Waiting(wanted)
  for (let tries = 0; tries < NULL_TRIES && !wanted.isOver && !waiting.isOver; tries++) {
    const before = waiting.times
    const missing = wanted.missing()
    const isNarrow = isLast || (before > 0 && missing.length <= NARROWING)
    const atOnce = isNarrow ? 1 : Math.min(endpoint.lookUpsAtOnce, missing.length)
    await waiting.askInParts(missing, atOnce, async (hashes) => {
      const calls = hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }))
      const outcomes = waiting.note(await endpoint.lookUp(calls, signal))
      if (hashes.length === 1 && isHeldUp(outcomes[0]!)) wanted.hung(hashes, endpoint, 'hash')
      for (const [index, outcome] of outcomes.entries()) wanted.keep(resultOf(outcome), hashes[index]!)
    })
    if (waiting.times === before) {
      if (!isLast) endpoint.lookUpsAtOnce *= 2
      continue
    }
    if (atOnce > NARROWING) endpoint.lookUpsAtOnce = Math.ceil(atOnce / NARROWING)
    // Twice is enough: the block of a transaction that hangs may be answered at once, or another endpoint.
    if (isLast || atOnce === 1 || (before > 0 && wanted.missing().length > NARROWING)) break
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
  for (const [way, callOf] of [
    ['block', wholeBlock],
    ['receipts', receipts],
  ] as const) {
    const waiting = new Waiting(wanted)
    for (const atOnce of [WHOLE_BLOCKS_AT_ONCE, 1]) {
      const before = waiting.times
      const numbers = wanted.blocksOfMissing()
      await waiting.askInParts(numbers, atOnce, async (asked) => {
        const outcomes = waiting.note(await endpoint.lookUp(asked.map(callOf), signal))
        for (const outcome of outcomes)
          for (const raw of transactionsOf(resultOf(outcome))) wanted.keep(raw, hashOf(raw))
        if (asked.length === 1 && isHeldUp(outcomes[0]!))
          wanted.hung(wanted.missingIn(asked[0]!), endpoint, way)
      })
      if (waiting.times === before || numbers.length === 1) break
    }
    overdue = waiting.overdue ?? overdue
  }
  if (overdue !== undefined && !wanted.isOver) throw overdue
}

/** Sends requests, and counts those without an answer in time. */
class Waiting {
  times = 0
  isAnswered = false
  failure: RpcFailure | undefined
  readonly #wanted: Wanted
  #inFlight = 1
  #timesInARow = 0

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  /** Nothing is answered any more. */
  get isOver(): boolean {
    return this.#timesInARow >= Math.max(MOST_HELD_UP, this.#inFlight)
  }

  /** The last failure, if nothing is answered any more. */
  get overdue(): RpcFailure | undefined {
    return this.isOver ? this.failure : undefined
  }

  /** One part after the other; several at once when something has had no answer in time before: what hangs is waited for side by side. */
  async askInParts<T>(
    all: readonly T[],
    atOnce: number,
    ask: (part: readonly T[]) => Promise<void>,
  ): Promise<void> {
    let next = 0
    const askOn = async (): Promise<void> => {
      while (next < all.length && !this.isOver && !this.#wanted.isOver) {
        const part = all.slice(next, next + atOnce)
        next += part.length
        try {
          await ask(part)
        } catch (error) {
          next = all.length
          throw error
        }
      }
    }
    this.#inFlight = this.#wanted.isHeldUp ? REQUESTS_IN_FLIGHT : 1
    await Promise.all(Array.from({ length: this.#inFlight }, askOn))
  }

  note(outcomes: readonly RpcOutcome[]): readonly RpcOutcome[] {
    // All calls of one request share its failure.
    const failures = new Set<RpcFailure>()
    for (const outcome of outcomes) if (isHeldUp(outcome)) failures.add(outcome.failure)
    const isSomeAnswered = !outcomes.every(isHeldUp)
    this.isAnswered ||= isSomeAnswered
    this.#wanted.isAnswered ||= isSomeAnswered
    this.#wanted.isHeldUp ||= failures.size > 0
    this.times += failures.size
    this.#timesInARow = isSomeAnswered ? 0 : this.#timesInARow + failures.size
    this.failure = [...failures].at(-1) ?? this.failure
    return outcomes
  }
}

function isHeldUp(outcome: RpcOutcome): outcome is Extract<RpcOutcome, { ok: false }> {
  return !outcome.ok && outcome.failure.kind === 'timeout'
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
