import type { Endpoint } from '../endpoints/endpoint.js'
import { NULL_TRIES } from '../endpoints/readBlocks.js'
import { HeldUp } from '../rpc/patience.js'
import { decodeQuantity, quantity } from '../rpc/rpcBlocks.js'
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

/** Rounds of look-ups of which some had no answer in time. After them the blocks are read. */
const MOST_HELD_UP = 2
/** One look-up without an answer holds up its request. So requests of the next round are so much smaller. */
const NARROWING = 4

/**
 * Adds to `found` the missing transactions of `blocks` (transaction hash → block number). They are asked for by hash, then
 * looked for in their blocks (nodes drop the index of old transactions and keep the blocks), then in the blocks' receipts. A
 * call that is refused, has a malformed answer or none leaves only its own transactions missing.
 * @returns whether all are known now.
 * @throws RpcFailure when nothing was answered.
 */
export async function readTransactions(
  blocks: ReadonlyMap<string, number>,
  found: Map<string, Transaction>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean> {
  const missing = (): string[] => [...blocks.keys()].filter((hash) => !found.has(hash))
  // An endpoint that answers such look-ups in time is not slow: whatever it does not answer then is a matter of that call.
  const isInTime = await lookUp(missing, found, endpoint, signal)
  const ask = (calls: readonly RpcCall[]) =>
    isInTime ? endpoint.lookUp(calls, signal) : endpoint.callAll(calls, signal)
  for (const callOf of [wholeBlock, receipts])
    for (const atOnce of [WHOLE_BLOCKS_AT_ONCE, 1]) {
      const numbers = [...new Set(missing().map((hash) => blocks.get(hash)!))]
      let someHeldUp = false
      for (let start = 0; start < numbers.length; start += atOnce)
        for (const outcome of await ask(numbers.slice(start, start + atOnce).map(callOf))) {
          someHeldUp ||= isHeldUp(outcome)
          for (const raw of transactionsOf(resultOf(outcome))) {
            const hash = hashOf(raw)
            const transaction = blocks.has(hash) ? decodeTransaction(raw, hash) : undefined
            if (transaction !== undefined) found.set(hash, transaction)
          }
        }
      if (!someHeldUp) break
    }
  return missing().length === 0
}

/** Asks for transactions by hash. @returns whether anything was answered in time. @throws RpcFailure when the endpoint is down. */
async function lookUp(
  missing: () => string[],
  found: Map<string, Transaction>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean> {
  if (endpoint.transactionsByHash.holds) return false
  let isAnswered = false
  let atOnce = missing().length
  for (let tries = 0, heldUp = 0; tries < NULL_TRIES && heldUp < MOST_HELD_UP; tries++) {
    const wanted = missing()
    let someHeldUp = false
    for (let start = 0; start < wanted.length; start += atOnce) {
      const hashes = wanted.slice(start, start + atOnce)
      const calls = hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }))
      for (const [index, outcome] of (await endpoint.lookUp(calls, signal)).entries()) {
        if (isHeldUp(outcome)) someHeldUp = true
        else isAnswered = true
        const raw = resultOf(outcome)
        if (raw === null || raw === undefined) continue
        const transaction = decodeTransaction(raw, hashes[index]!)
        if (transaction !== undefined) found.set(hashes[index]!, transaction)
      }
    }
    if (wanted.length === 0) break
    if (!someHeldUp) continue
    heldUp++
    atOnce = Math.ceil(atOnce / NARROWING)
  }
  if (isAnswered) endpoint.transactionsByHash.forget()
  else if (missing().length > 0) endpoint.transactionsByHash.refused()
  return isAnswered
}

const wholeBlock = (block: number): RpcCall => ({
  method: 'eth_getBlockByNumber',
  params: [quantity(block), true],
})
const receipts = (block: number): RpcCall => ({ method: 'eth_getBlockReceipts', params: [quantity(block)] })

const isHeldUp = (outcome: RpcOutcome): boolean => !outcome.ok && outcome.failure instanceof HeldUp

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
