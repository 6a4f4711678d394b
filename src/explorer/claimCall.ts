import type { Bridge, ClaimProof } from '../client/bridgeClient.js'

/** `claimAsset` and `claimMessage`, which take the same arguments. */
const SELECTORS = ['ccaa2d11', 'f5efcd79'] as const
/** The metadata stand behind 32 + 32 siblings and nine more words, of which this is the last: their offset. */
const METADATA_AT = (64 + 9) * 32

/**
 * The claim of a bridge as calldata, ABI-encoded from the bridge and a proof, so that it holds what was checked and nothing else.
 * @throws RangeError where the bridge's metadata are too long to be shown.
 */
export function claimCall(bridge: Bridge, proof: ClaimProof): string {
  const { metadata, leafType } = bridge
  if (metadata === null)
    throw new RangeError('The data of this bridge are too long to be encoded in a browser.')
  const { mainnetExitRoot, rollupExitRoot } = proof.l1InfoTreeLeaf
  const bytes = metadata.length / 2 - 1
  const words = [
    ...proof.smtProofLocalExitRoot,
    ...proof.smtProofRollupExitRoot,
    bridge.globalIndex,
    mainnetExitRoot,
    rollupExitRoot,
    bridge.tokenNetwork,
    bridge.tokenAddress,
    bridge.destinationNetwork,
    bridge.destinationAddress,
    bridge.amount,
    METADATA_AT,
    bytes,
  ]
  const padded = metadata.slice(2).padEnd(64 * Math.ceil(bytes / 32), '0')
  return `0x${SELECTORS[leafType === 1 ? 1 : 0]}${words.map(wordOf).join('')}${padded}`.toLowerCase()
}

function wordOf(value: string | number | bigint): string {
  return (typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')
}
