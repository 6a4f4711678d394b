import type { BlockHeader } from '../../protocol/chainEvent.js'
import { decodeHex, decodeUint32At } from '../../protocol/hex.js'
import { asBlockNumber } from '../../protocol/units.js'
import { RpcFailure } from './rpcFailure.js'

/** A block from JSON-RPC: the fields that we use. */
export interface RpcBlock {
  readonly number: number
  /** 0x + 64 lower-case digits. */
  readonly hash: string
  readonly parentHash: string
  readonly timestampSec: number
  /** 0x + 512 digits; undefined when the node sends none. */
  readonly logsBloom: string | undefined
  readonly transactionHashes: readonly string[]
}

/** Tells whether a hash needs a new, lower-case text: most nodes write lower case already. */
const UPPER_CASE = /[A-F]/
const CHAIN_ID = /^(0x[0-9a-f]+|[0-9]+)$/i
const BLOOM = /^0x[0-9a-f]{512}$/i

/**
 * @returns undefined for null: the endpoint does not know the block.
 * @throws RpcFailure `body` when it is no block (a pending block has no hash).
 */
export function decodeBlock(raw: unknown, alias: string): RpcBlock | undefined {
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

/** Reads hex text or, from some nodes, a JSON number. @returns undefined unless it is an integer that a double holds exactly. */
export function decodeQuantity(raw: unknown): number | undefined {
  // Number() takes only hex digits after 0x.
  const value = typeof raw === 'string' && raw.startsWith('0x') ? Number(raw) : raw
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Some gateways send the chain id in decimal, as `net_version` does. @returns undefined unless it is a number. */
export function decodeChainId(raw: unknown): number | undefined {
  return decodeQuantity(typeof raw === 'string' && CHAIN_ID.test(raw) ? Number(raw) : raw)
}

/** @returns lower case, or undefined unless it is 0x + 64 hex digits. */
export function decodeHash(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw.length !== 66 || !raw.startsWith('0x')) return undefined
  for (let part = 2; part < 66; part += 8) if (decodeUint32At(raw, part) < 0) return undefined
  return UPPER_CASE.test(raw) ? raw.toLowerCase() : raw
}

export function toHeader(block: RpcBlock): BlockHeader {
  return {
    number: asBlockNumber(block.number),
    hash: decodeHex(block.hash)!,
    parentHash: decodeHex(block.parentHash)!,
    timestampSec: block.timestampSec,
  }
}

/** A number as JSON-RPC writes it. */
export function quantity(value: number): string {
  return `0x${value.toString(16)}`
}
