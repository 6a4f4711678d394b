import type { OperationId } from '../../query/queries.js'
import type {
  BridgeRecord,
  ClaimProofRecord,
  ClaimRecord,
  ClaimTransactionRecord,
  L1InfoTreeIndexRecord,
  Page,
  TokenMappingRecord,
} from '../../query/records.js'
import { writeBridges } from './bridges.js'
import { writeClaimProof } from './claimProof.js'
import { writeClaims } from './claims.js'
import { writeClaimTransaction } from './claimTransaction.js'
import type { JsonWriter } from './jsonWriter.js'
import { writeL1InfoTreeIndex } from './l1InfoTreeIndex.js'
import { writeTokenMappings } from './tokenMappings.js'

/** Operation id → what a shard answers with. */
export interface RecordByOperation {
  readonly getBridges: Page<BridgeRecord>
  readonly getClaims: Page<ClaimRecord>
  readonly getClaimProof: ClaimProofRecord
  readonly getL1InfoTreeIndex: L1InfoTreeIndexRecord
  readonly getTokenMappings: Page<TokenMappingRecord>
  readonly getClaimTransaction: ClaimTransactionRecord
}

/**
 * How long an answer holds: `version` until a shard's next commit, `epoch` until the next reorg, because only a reorg
 * could change it and that is what final means here.
 */
export type AnswerLife = 'version' | 'epoch'

export interface Presenter<Value> {
  /** Appends the answer's JSON. */
  write(writer: JsonWriter, value: Value): void
  life(value: Value): AnswerLife
}

const untilNextCommit = (): AnswerLife => 'version'

/** Domain records → wire bytes, per operation. */
export const presenters: { readonly [K in OperationId]: Presenter<RecordByOperation[K]> } = {
  getBridges: { write: writeBridges, life: untilNextCommit },
  getClaims: { write: writeClaims, life: untilNextCommit },
  getClaimProof: { write: writeClaimProof, life: (proof) => (proof.isFinal ? 'epoch' : 'version') },
  getL1InfoTreeIndex: { write: writeL1InfoTreeIndex, life: untilNextCommit },
  getTokenMappings: { write: writeTokenMappings, life: untilNextCommit },
  getClaimTransaction: { write: writeClaimTransaction, life: untilNextCommit },
}
