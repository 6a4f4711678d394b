import { type ChecksumAddress, checksumMask } from '../../protocol/checksumAddress.js'
import { decodeHex } from '../../protocol/hex.js'
import { isWholeMetadata } from '../../protocol/metadata.js'
import { type Answer, success } from '../../query/answers.js'
import type { ClaimTransactionQuery } from '../../query/queries.js'
import type { ClaimTransactionRecord } from '../../query/records.js'
import { destinationUnknown, metadataTooLong } from '../../query/refusals.js'
import { encodeClaimCall } from './claimCalldata.js'
import { findDeposit } from './findDeposit.js'
import { findUsableIndex } from './findUsableIndex.js'
import type { ShardReaders } from './shardReaders.js'

/**
 * The call that claims a deposit on its destination, ready to sign: against `leafIndex` when asked for, else against the leaf that
 * the destination accepts.
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
    chainId: BigInt(destination.chainId),
    leafType: row.leafType,
    sourceNetwork: networkId,
    destinationNetwork: row.destinationNetwork,
    depositCount,
    globalIndex,
    l1InfoTreeIndex: index,
  })
}

function checksummed(shards: ShardReaders, address: string): ChecksumAddress {
  // The configuration was checked when it was loaded: 0x and 40 hex digits.
  const bytes = decodeHex(address)!
  return { bytes, checksumMask: checksumMask(bytes, (text) => shards.hasher.hash(text)) }
}
