import { hexToBytes, keccak256 } from 'viem/utils'
import type { EventFilter } from '../../events/decodeLog.js'
import { decodeHex } from '../../protocol/hex.js'
import type { RpcLog } from '../rpc/rpcLogs.js'

export const BLOOM_BYTES = 256

/** The three bits (of 2,048) that an address or topic sets in a header's bloom. Yellow paper, section 4.3.1. */
type BloomBits = readonly [number, number, number]

/** The bloom bits of a network's contracts and topics, worked out once. */
export interface BloomProbe {
  readonly contracts: readonly {
    readonly address: string
    readonly bits: BloomBits
    readonly topics: readonly { readonly topic: string; readonly bits: BloomBits }[]
  }[]
}

export function createBloomProbe(filter: EventFilter): BloomProbe {
  return {
    contracts: [...filter].map(([address, events]) => ({
      address,
      bits: bloomBits(address),
      topics: [...events.keys()].map((topic) => ({ topic, bits: bloomBits(topic) })),
    })),
  }
}

function bloomBits(item: string): BloomBits {
  const hash = keccak256(hexToBytes(item as `0x${string}`), 'bytes')
  const bit = (pair: number): number => ((hash[pair]! << 8) | hash[pair + 1]!) & 2047
  return [bit(0), bit(2), bit(4)]
}

/**
 * Whether, by its bloom, the block has an event of ours that is not among `logs`. A bloom shows every log of its block, and by chance
 * also logs that do not exist.
 */
export function showsMoreThan(bloom: Uint8Array, logs: readonly RpcLog[], probe: BloomProbe): boolean {
  return probe.contracts.some(
    ({ address, bits, topics }) =>
      hasBits(bloom, bits) &&
      topics.some(
        (candidate) =>
          hasBits(bloom, candidate.bits) &&
          !logs.some((log) => log.address === address && log.topics[0]?.toLowerCase() === candidate.topic),
      ),
  )
}

/** Bits are counted from the end: bit 0 is the lowest bit of the last byte. */
function hasBits(bloom: Uint8Array, bits: BloomBits): boolean {
  return bits.every((bit) => (bloom[255 - (bit >> 3)]! & (1 << (bit & 7))) !== 0)
}

/**
 * The probability that `showsMoreThan` is true by chance: each of the three bits of an address or topic is set with a
 * probability equal to the bloom's share of set bits, and a contract counts only with its address and one of its topics.
 */
export function falseHitOdds(bloom: Uint8Array, probe: BloomProbe): number {
  let set = 0
  for (const byte of bloom) for (let rest = byte; rest !== 0; rest &= rest - 1) set++
  const hit = (set / 2048) ** 3
  const none = probe.contracts.reduce(
    (odds, { topics }) => odds * (1 - hit * (1 - (1 - hit) ** topics.length)),
    1,
  )
  return 1 - none
}

export function isZeroBloom(bloom: Uint8Array): boolean {
  return bloom.every((byte) => byte === 0)
}

/** @returns 256 bytes, or undefined for a text that is no bloom. */
export function decodeBloom(text: string | undefined): Uint8Array | undefined {
  return text?.length === 514 ? decodeHex(text) : undefined
}

/** @param text of a receipt; one that is no bloom adds nothing. */
export function addBloom(sum: Uint8Array, text: unknown): void {
  const bloom = decodeBloom(typeof text === 'string' ? text : undefined)
  bloom?.forEach((byte, index) => {
    sum[index] = sum[index]! | byte
  })
}
