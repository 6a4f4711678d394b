import type { FeedPage } from '../../query/feed/feedRecords.js'
import {
  type ClaimProofRecord,
  type ClaimTransactionRecord,
  claimProofDefinition,
  claimTransactionDefinition,
  type InjectedL1InfoLeafRecord,
  injectedL1InfoLeafDefinition,
  type L1InfoLeafRecord,
  type L1InfoTreeIndexRecord,
  l1InfoLeafDefinition,
  l1InfoTreeIndexDefinition,
} from '../../query/proofRecords.js'
import type { PoolOperation } from '../../query/queries.js'
import type { BridgeRecord, ClaimRecord, Page, TokenMappingRecord } from '../../query/records.js'
import { type RowTemplate, templateOf } from '../../query/rowTemplate.js'
import {
  type BridgeStatusAnswer,
  bridgeStatusResponseDefinition,
  type SearchAnswer,
  searchResponseDefinition,
} from '../../query/statusRecords.js'
import { writeFeedPage } from './feedPage.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import { KeptTexts } from './keptTexts.js'
import { pageWriter } from './pageWriter.js'
import { nestedWriter, recordWriter, type WriteValue, writeNodes } from './recordWriter.js'

/** Operation id → what a shard answers with. */
export interface RecordByOperation {
  readonly getBridges: Page<BridgeRecord>
  readonly getClaims: Page<ClaimRecord>
  readonly getClaimProof: ClaimProofRecord
  readonly getL1InfoTreeIndex: L1InfoTreeIndexRecord
  readonly getInjectedL1InfoLeaf: InjectedL1InfoLeafRecord
  readonly getTokenMappings: Page<TokenMappingRecord>
  readonly getClaimTransaction: ClaimTransactionRecord
  readonly getBridgeStatus: BridgeStatusAnswer
  readonly getSearch: SearchAnswer
  readonly readFeed: FeedPage
}

/**
 * How long an answer holds: `commit` until a shard's next commit; `epoch` until the next reorg or cut, which alone could change it.
 */
export type AnswerLife = 'commit' | 'epoch'

export interface Presenter<Value> {
  /** Appends the answer's JSON. */
  readonly write: WriteValue<Value>
  /** Of a list: see `PageWriter`. */
  writePart?(writer: JsonWriter, value: Value, from: number, to: number): boolean
  /** Of a list: see `PageWriter`. */
  isShort?(writer: JsonWriter, value: Value): boolean
  life(value: Value): AnswerLife
}

const untilNextCommit = (): AnswerLife => 'commit'

/** Longer texts are not kept: 4,096 characters are enough for about 1,000 bytes of metadata, but anybody may emit more. */
const MAX_KEPT_CHARACTERS = 4096

/** Kept, because writing the metadata anew took two thirds of a row's time. */
export function mappingWriter(template: RowTemplate): WriteValue<TokenMappingRecord> {
  const texts = new KeptTexts(recordWriter<TokenMappingRecord>(template), MAX_KEPT_CHARACTERS)
  return (writer, mapping) => texts.write(writer, mapping)
}

/** The two texts that all proofs under one leaf share. Writing them anew took a tenth of a proof's time. */
const branchTexts = new KeptTexts<Uint8Array>(writeNodes)

/** Writes a branch that many answers share: the same object each time. */
export function writeKeptBranch(writer: JsonWriter, branch: Uint8Array): void {
  branchTexts.write(writer, branch)
}

const leafTexts = new KeptTexts(recordWriter<L1InfoLeafRecord>(templateOf(l1InfoLeafDefinition)))

const writeProof = recordWriter<ClaimProofRecord>(templateOf(claimProofDefinition), {
  rollupExitRootBranch: writeKeptBranch,
  leaf: (writer, leaf) => leafTexts.write(writer, leaf),
})
const PROOF = asciiBytes('{"proof":')
const END = asciiBytes('}')

/** Domain records → wire bytes, per operation. */
export const presenters: { readonly [K in PoolOperation]: Presenter<RecordByOperation[K]> } = {
  getBridges: {
    ...pageWriter<BridgeRecord>('{"bridges":['),
    life: untilNextCommit,
  },
  getClaims: {
    ...pageWriter<ClaimRecord>('{"claims":['),
    life: untilNextCommit,
  },
  getClaimProof: {
    write(writer, proof) {
      writer.raw(PROOF)
      writeProof(writer, proof)
      writer.raw(END)
    },
    life: (proof) => (proof.isFinal ? 'epoch' : 'commit'),
  },
  getL1InfoTreeIndex: {
    write: recordWriter(templateOf(l1InfoTreeIndexDefinition)),
    life: untilNextCommit,
  },
  getInjectedL1InfoLeaf: {
    write: recordWriter(templateOf(injectedL1InfoLeafDefinition)),
    life: untilNextCommit,
  },
  getTokenMappings: { ...pageWriter('{"token_mappings":[', mappingWriter), life: untilNextCommit },
  getClaimTransaction: {
    write: recordWriter(templateOf(claimTransactionDefinition)),
    life: untilNextCommit,
  },
  getBridgeStatus: { write: nestedWriter(bridgeStatusResponseDefinition), life: untilNextCommit },
  getSearch: { write: nestedWriter(searchResponseDefinition), life: untilNextCommit },
  readFeed: { write: writeFeedPage, life: untilNextCommit },
}
