import type { Address, Hash } from '../protocol/chainEvent.js'
import type { ClaimedWord } from '../protocol/claimedBitMap.js'
import type { BlockNumber, NetworkId } from '../protocol/units.js'

/** What one token maps to now. */
export interface CurrentMapping {
  readonly ordinal: number
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
  readonly wrappedTokenAddress: Address
}

/** What the contracts keep in their own state, as our events make it: comparable with a getter, one by one. */
export interface ContractState {
  /** Networks whose deposits were claimed here. */
  claimSources(): readonly NetworkId[]
  /** Words from `from` on that claims are stored near to, ascending, some of them at a time; none: there are no more. */
  claimedWordsFrom(sourceNetwork: NetworkId, from: number): readonly number[]
  /** Which deposits 256·word … 256·word + 255 have a claim in force: bit i is the i-th of them. */
  claimedWord(claimed: ClaimedWord): bigint
  /** Newest block that is known to have changed the local exit root: it was another one before. */
  lastRootChange(): BlockNumber | undefined
  /** What tokens map to now, newest first, of mappings below `below`; that of ether, which its bridge keeps elsewhere, left out. */
  currentMappings(below: number, limit: number): readonly CurrentMapping[]
  isEmergency(): boolean
  /** `insertedGERHashChain()` of a sovereign manager from v10 on: keccak(before ‖ root) over all insertions, from zero. */
  insertionChain(): Hash
  /** Number of global exit roots that were taken out of the manager. */
  gerRemovals(): number
  /** Injected, and not removed since. */
  isGerInForce(globalExitRoot: Hash): boolean
}
