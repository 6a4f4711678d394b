import type { Address, Hash } from '../protocol/chainEvent.js'
import type { ClaimedWord } from '../protocol/claimedBitMap.js'
import type { BlockNumber, NetworkId } from '../protocol/units.js'

/** A token mapping that is current: the one that the contract uses for its origin token now. */
export interface CurrentMapping {
  readonly ordinal: number
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
  readonly wrappedTokenAddress: Address
}

/** The contracts' own state as the stored events make it. The audit compares each value with the contract's getter. */
export interface ContractState {
  /** Source networks of the claims on this network. */
  claimSources(): readonly NetworkId[]
  /**
   * Word numbers of the contract's claimed bitmap, from `from` on, in which claims may be stored: ascending, some at a time. Empty:
   * there are no more.
   */
  claimedWordsFrom(sourceNetwork: NetworkId, from: number): readonly number[]
  /** One word of the claimed bitmap: bit i is set when deposit 256·word + i has a claim in force. */
  claimedWord(claimed: ClaimedWord): bigint
  /** Newest stored block that changed the local exit root. */
  lastRootChange(): BlockNumber | undefined
  /** Current token mappings with ordinals below `below`, newest first. Without that of ether, which the bridge keeps elsewhere. */
  currentMappings(below: number, limit: number): readonly CurrentMapping[]
  isEmergency(): boolean
  /** `insertedGERHashChain()` of a sovereign manager from v10 on: starts at zero; each injection makes it keccak(before ‖ root). */
  insertionChain(): Hash
  /** Number of global exit roots that were removed from the manager. */
  gerRemovals(): number
  /** Whether the root was injected and not removed since. */
  isGerInForce(globalExitRoot: Hash): boolean
}
