import type { Address, Hash } from '../../protocol/chainEvent.js'

/** Selector of `claimAsset` / `claimMessage` of every bridge from etrog on (the forms before differ). */
const CLAIM_ASSET = Uint8Array.of(0xcc, 0xaa, 0x2d, 0x11)
const CLAIM_MESSAGE = Uint8Array.of(0xf5, 0xef, 0xcd, 0x79)

const WORD = 32
const BRANCH_BYTES = 32 * WORD
/** Two branches of 32 words and nine words: the part of fixed length, behind the selector. */
const HEAD_BYTES = 2 * BRANCH_BYTES + 9 * WORD

/** Arguments of `claimAsset` / `claimMessage`: both functions take the same ones, in this order. */
export interface ClaimCall {
  /** 0 asset, 1 message: chooses the function. */
  readonly leafType: number
  /** 32 × 32 bytes, leaf level first. */
  readonly localExitRootBranch: Uint8Array
  /** 32 × 32 bytes, leaf level first. */
  readonly rollupExitRootBranch: Uint8Array
  /** 32 bytes. */
  readonly globalIndex: Uint8Array
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
  readonly originNetwork: number
  readonly originAddress: Address
  readonly destinationNetwork: number
  readonly destinationAddress: Address
  /** 32 bytes, big-endian. */
  readonly amount: Uint8Array
  readonly metadata: Uint8Array
}

/**
 * ABI-encoded call of the destination's bridge that executes one claim.
 * @returns fresh bytes: selector, 73 words, length and padded bytes of the metadata.
 * @see PolygonZkEVMBridgeV2.claimAsset, claimMessage (agglayer-contracts)
 */
export function encodeClaimCall(call: ClaimCall): Uint8Array {
  const paddedMetadata = Math.ceil(call.metadata.length / WORD) * WORD
  const data = new Uint8Array(4 + HEAD_BYTES + WORD + paddedMetadata)
  const words = new DataView(data.buffer)
  data.set(call.leafType === 0 ? CLAIM_ASSET : CLAIM_MESSAGE, 0)
  data.set(call.localExitRootBranch, 4)
  data.set(call.rollupExitRootBranch, 4 + BRANCH_BYTES)

  let at = 4 + 2 * BRANCH_BYTES
  const putBytes = (bytes: Uint8Array): void => {
    data.set(bytes, at + WORD - bytes.length)
    at += WORD
  }
  const putUint32 = (value: number): void => {
    words.setUint32(at + WORD - 4, value)
    at += WORD
  }
  putBytes(call.globalIndex)
  putBytes(call.mainnetExitRoot)
  putBytes(call.rollupExitRoot)
  putUint32(call.originNetwork)
  putBytes(call.originAddress)
  putUint32(call.destinationNetwork)
  putBytes(call.destinationAddress)
  putBytes(call.amount)
  putUint32(HEAD_BYTES)
  putUint32(call.metadata.length)
  data.set(call.metadata, at)
  return data
}
