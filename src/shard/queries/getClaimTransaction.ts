import type { Address, Hash } from '../../protocol/chainEvent.js'
import { type ChecksumAddress, checksumMask } from '../../protocol/checksumAddress.js'
import { decodeHex } from '../../protocol/hex.js'
import { isWholeMetadata } from '../../protocol/metadata.js'
import { type Answer, success } from '../../query/answers.js'
import type { ClaimTransactionRecord } from '../../query/proofRecords.js'
import type { ClaimTransactionQuery } from '../../query/queries.js'
import { destinationUnknown, metadataTooLong } from '../../query/refusals.js'
import { findDeposit } from './findDeposit.js'
import { findUsableIndex } from './findUsableIndex.js'
import type { ShardReaders } from './shardReaders.js'

/** A claim carries no ether. */
const NO_ETHER = new Uint8Array(32)

/**
 * The call that claims a deposit on its destination, ready to sign. It proves against `leafIndex` if the query has one, else against
 * the smallest final leaf that the destination accepts.
 */
export function getClaimTransaction(
  shards: ShardReaders,
  { networkId, depositCount, leafIndex }: ClaimTransactionQuery,
): Answer<ClaimTransactionRecord> {
  const found = findDeposit(shards, networkId, depositCount)
  if (!found.ok) return found
  const { source, l1 } = found
  const row = source.deposits.get(depositCount)
  const destination = shards.findConfig(row.destinationNetwork)
  if (destination === undefined) return destinationUnknown(row.destinationNetwork)
  let index = leafIndex
  if (index === undefined) {
    const usable = findUsableIndex(shards, found, depositCount, row.destinationNetwork)
    if (!usable.ok) return usable
    index = usable.value.index
  }
  const proof = shards.proofs.prove(source, l1, depositCount, row, index)
  if (!proof.ok) return proof
  const metadata = source.dictionary.getWhole(row.metadataId)
  if (!isWholeMetadata(metadata)) return metadataTooLong(networkId, depositCount, metadata.length)
  const { localExitRootBranch, rollupExitRootBranch, leaf, globalIndex } = proof.value
  const token = source.dictionary.getToken(row.tokenId)
  return success({
    to: checksummed(shards, destination.bridge),
    data: encodeClaimCall({
      leafType: row.leafType,
      localExitRootBranch,
      rollupExitRootBranch,
      globalIndex,
      mainnetExitRoot: leaf.mainnetExitRoot,
      rollupExitRoot: leaf.rollupExitRoot,
      originNetwork: token.network,
      originAddress: token.address.bytes,
      destinationNetwork: row.destinationNetwork,
      destinationAddress: row.destinationAddress.bytes,
      amount: row.amount,
      metadata,
    }),
    value: NO_ETHER,
    chainId: destination.chainId,
    leafType: row.leafType,
    sourceNetwork: networkId,
    destinationNetwork: row.destinationNetwork,
    depositCount,
    globalIndex,
    l1InfoTreeIndex: index,
  })
}

function checksummed(shards: ShardReaders, address: string): ChecksumAddress {
  // Loading the configuration has checked it: 0x and 40 hex digits.
  const bytes = decodeHex(address)!
  return { bytes, checksumMask: checksumMask(bytes, (text) => shards.hasher.hash(text)) }
}

/** Selectors of `claimAsset` and `claimMessage` of every bridge from etrog on. Older bridges have other functions. */
const CLAIM_ASSET = Uint8Array.of(0xcc, 0xaa, 0x2d, 0x11)
const CLAIM_MESSAGE = Uint8Array.of(0xf5, 0xef, 0xcd, 0x79)

const WORD = 32
const BRANCH_BYTES = 32 * WORD
/** Bytes of the arguments of fixed length, after the selector: two branches of 32 words, and nine words. */
const HEAD_BYTES = 2 * BRANCH_BYTES + 9 * WORD

/** Arguments of `claimAsset` and of `claimMessage`: both take the same ones in this order. */
export interface ClaimCall {
  /** Chooses the function: 0 asset, 1 message. */
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
 * ABI-encodes the call of the destination's bridge that executes one claim.
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
