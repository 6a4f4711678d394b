import type { HaltReason } from '../../board/haltReason.js'
import type { ContractReads } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import type { BlockNumber } from '../../protocol/units.js'

/** One value that a contract has and the store has as well. They may differ. */
export interface ComparedValue {
  readonly what: string
  readonly reason: HaltReason
  /** The stored value; undefined when it is no longer stored. */
  readonly ours: () => number | string | undefined
  /** The contract's value. @param reads asks any endpoint, or a certain one. */
  readonly ask: (
    reads: ContractReads,
    block: BlockNumber,
    signal: AbortSignal,
  ) => Promise<number | string | undefined>
}

/** A proven contradiction: the contract has another value than the store. */
export class AuditMismatch extends ChainDataError {}
