import type { Endpoint } from '../endpoints/endpoint.js'
import { NULL_TRIES } from '../endpoints/readBlocks.js'
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

/**
 * Adds to `found` the missing transactions of `blocks` (transaction hash → block number). They are asked for by hash, then
 * looked for in their blocks (nodes drop the index of old transactions and keep the blocks), then in the blocks' receipts. A
 * call that is refused or has a malformed answer leaves only its own transactions missing.
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
  for (let tries = 0; tries < NULL_TRIES && missing().length > 0; tries++) {
    const wanted = missing()
    const calls = wanted.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }))
    const outcomes = await endpoint.callAll(calls, signal)
    for (const [index, outcome] of outcomes.entries()) {
      const raw = resultOf(outcome)
      if (raw === null || raw === undefined) continue
      const transaction = decodeTransaction(raw, wanted[index]!)
      if (transaction !== undefined) found.set(wanted[index]!, transaction)
    }
  }
  for (const callOf of [wholeBlock, receipts]) {
    const numbers = [...new Set(missing().map((hash) => blocks.get(hash)!))]
    for (let start = 0; start < numbers.length; start += WHOLE_BLOCKS_AT_ONCE) {
      const calls = numbers.slice(start, start + WHOLE_BLOCKS_AT_ONCE).map(callOf)
      for (const outcome of await endpoint.callAll(calls, signal))
        for (const raw of transactionsOf(resultOf(outcome))) {
          const hash = hashOf(raw)
          const transaction = blocks.has(hash) ? decodeTransaction(raw, hash) : undefined
          if (transaction !== undefined) found.set(hash, transaction)
        }
    }
  }
  return missing().length === 0
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
