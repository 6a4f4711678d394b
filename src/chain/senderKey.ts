import type { Hash } from '../protocol/chainEvent.js'
import { encodeHex } from '../protocol/hex.js'

/** The key of one log in what `ChainClient.resolveSenders` returns. */
export function senderKey(transactionHash: Hash, logIndex: number): string {
  return `${encodeHex(transactionHash)}:${logIndex}`
}
