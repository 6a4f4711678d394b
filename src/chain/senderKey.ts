import type { Hash } from '../protocol/chainEvent.js'
import { encodeHex } from '../protocol/hex.js'

/** Key of one log in the answer of `ChainClient.resolveSenders`. */
export function senderKey(transactionHash: Hash, logIndex: number): string {
  return `${encodeHex(transactionHash)}:${logIndex}`
}
