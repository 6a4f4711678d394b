import type { BlockHeader } from '../protocol/chainEvent.js'
import { decodeHex } from '../protocol/hex.js'
import { asBlockNumber } from '../protocol/units.js'
import { RpcFailure } from './rpcFailure.js'

/** A block as JSON-RPC tells it, as far as we look at it. */
export interface BlockHead {
  readonly number: number
  /** 0x + 64 lower-case digits, as logs name their block. */
  readonly hash: string
  readonly parentHash: string
  readonly timestampSec: number
  /** 0x + 512 digits; undefined where the node tells none. */
  readonly logsBloom: string | undefined
  readonly transactionHashes: readonly string[]
}

const HASH = /^0x[0-9a-f]{64}$/
const BLOOM = /^0x[0-9a-f]{512}$/i

/**
 * @returns undefined for null: the endpoint does not know the block.
 * @throws RpcFailure `body` when it is something else than a block (a pending one has no hash).
 */
export function decodeBlock(raw: unknown, alias: string): BlockHead | undefined {
  if (raw === null || raw === undefined) return undefined
  const block = (typeof raw === 'object' ? raw : {}) as Readonly<Record<string, unknown>>
  const number = decodeQuantity(block.number)
  const timestampSec = decodeQuantity(block.timestamp)
  const hash = decodeHash(block.hash)
  const parentHash = decodeHash(block.parentHash)
  if (number === undefined || timestampSec === undefined || hash === undefined || parentHash === undefined)
    throw new RpcFailure('body', `${alias}: a block is malformed`)
  return {
    number,
    hash,
    parentHash,
    timestampSec,
    logsBloom:
      typeof block.logsBloom === 'string' && BLOOM.test(block.logsBloom) ? block.logsBloom : undefined,
    transactionHashes: Array.isArray(block.transactions)
      ? block.transactions.filter((hash): hash is string => typeof hash === 'string')
      : [],
  }
}

/** @returns undefined unless it is a number that a double holds exactly, as hex text or (some nodes) as a JSON number. */
export function decodeQuantity(raw: unknown): number | undefined {
  const value = typeof raw === 'string' && /^0x[0-9a-f]{1,16}$/i.test(raw) ? Number(raw) : raw
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** @returns lower case, or undefined unless it is 0x + 64 hex digits. */
export function decodeHash(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined
  const text = raw.toLowerCase()
  return HASH.test(text) ? text : undefined
}

export function toHeader(block: BlockHead): BlockHeader {
  return {
    number: asBlockNumber(block.number),
    hash: decodeHex(block.hash)!,
    parentHash: decodeHex(block.parentHash)!,
    timestampSec: block.timestampSec,
  }
}

/** Block number as JSON-RPC wants it. */
export function quantity(value: number): string {
  return `0x${value.toString(16)}`
}
