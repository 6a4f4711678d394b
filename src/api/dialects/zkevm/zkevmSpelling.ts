import type { ClaimProofRecord, L1InfoLeafRecord } from '../../../query/proofRecords.js'
import type { BridgeRecord, ClaimRecord, Page, TokenMappingRecord } from '../../../query/records.js'
import type { RowTemplate } from '../../../query/rowTemplate.js'
import { asciiBytes } from '../../present/jsonWriter.js'
import { KeptTexts } from '../../present/keptTexts.js'
import { type AnswerLife, mappingWriter, type Presenter, writeKeptBranch } from '../../present/present.js'
import { type WriteValue, writeNodes } from '../../present/recordWriter.js'
import { listPresenter, onlyRowPresenter } from '../frame/lists.js'
import { fieldsOf } from '../frame/templatePart.js'

/** Our records → the answers of zkevm-bridge-service, as protojson writes them: numbers of 64 bits are texts, nothing is left out. */

const deposit = fieldsOf<BridgeRecord>()
const claim = fieldsOf<ClaimRecord>()
const token = fieldsOf<TokenMappingRecord>()

const EMPTY = '""'

/** The row of a deposit. */
export const depositRow: RowTemplate = [
  deposit('leaf_type', 'leafType', 'number'),
  deposit('orig_net', 'tokenNetwork', 'number'),
  deposit('orig_addr', 'tokenAddress', 'checksum'),
  deposit('amount', 'amount', 'digits'),
  deposit('dest_net', 'destinationNetwork', 'number'),
  deposit('dest_addr', 'destinationAddress', 'checksum'),
  deposit('block_num', 'blockNumber', 'quotedNumber'),
  deposit('deposit_cnt', 'depositCount', 'number'),
  deposit('network_id', 'sourceNetwork', 'number'),
  deposit('tx_hash', 'transactionHash', 'hex'),
  deposit('claim_tx_hash', 'claimTransactionHash', 'hex', { ofNull: EMPTY }),
  deposit('metadata', 'metadata', 'hex'),
  // There, that stays true after the claim.
  deposit('ready_for_claim', 'claimStage', 'word', { words: ['false', 'true'] }),
  deposit('global_index', 'globalIndex', 'digits'),
]

export const depositPresenter = onlyRowPresenter<BridgeRecord>('deposit')

/** The row of a claim. */
export const claimRow: RowTemplate = [
  claim('index', 'depositCount', 'number'),
  claim('orig_net', 'tokenNetwork', 'number'),
  claim('orig_addr', 'tokenAddress', 'checksum'),
  claim('amount', 'amount', 'digits'),
  claim('network_id', 'destinationNetwork', 'number'),
  claim('dest_addr', 'destinationAddress', 'checksum'),
  claim('block_num', 'blockNumber', 'quotedNumber'),
  claim('tx_hash', 'transactionHash', 'hex'),
  claim('rollup_index', 'sourceNetwork', 'rollupIndex'),
  // Network 0, and all others.
  claim('mainnet_flag', 'sourceNetwork', 'word', { words: ['true', 'false'] }),
  claim('global_index', 'globalIndex', 'digits'),
]

const TOTAL = asciiBytes('],"total_cnt":"')
const QUOTED_END = asciiBytes('"}')

const writeTotal: WriteValue<Page<unknown>> = (writer, { total }) => {
  writer.raw(TOTAL)
  writer.uint(total)
  writer.raw(QUOTED_END)
}

/** Pages of the lists: `{"<name>":[rows],"total_cnt":"n"}`. */
export const depositsPresenter = listPresenter<BridgeRecord>('{"deposits":[', writeTotal)
export const claimsPresenter = listPresenter<ClaimRecord>('{"claims":[', writeTotal)

export const tokenRow: RowTemplate = [
  token('orig_net', 'originNetwork', 'number'),
  token('original_token_addr', 'originTokenAddress', 'checksum'),
  token('wrapped_token_addr', 'wrappedTokenAddress', 'checksum'),
  token('network_id', 'wrappedNetwork', 'number'),
  token('name', 'name', 'text', { ofNull: EMPTY }),
  token('symbol', 'symbol', 'text', { ofNull: EMPTY }),
  token('decimals', 'decimals', 'number', { ofNull: '0' }),
]

export const tokenPresenter = onlyRowPresenter('tokenwrapped', mappingWriter)

const MERKLE_PROOF = asciiBytes('{"proof":{"merkle_proof":')
const ROLLUP_PROOF = asciiBytes(',"rollup_merkle_proof":')
const MAIN_ROOT = asciiBytes(',"main_exit_root":')
const ROLLUP_ROOT = asciiBytes(',"rollup_exit_root":')
const END = asciiBytes('}}')

/** What all proofs under one leaf end with. Made anew, with an object of both records, it took a quarter of a proof's time. */
const leafTexts = new KeptTexts<L1InfoLeafRecord>((writer, { mainnetExitRoot, rollupExitRoot }) => {
  writer.raw(MAIN_ROOT)
  writer.hex(mainnetExitRoot)
  writer.raw(ROLLUP_ROOT)
  writer.hex(rollupExitRoot)
  writer.raw(END)
})

/** @param life of a proof: one under a leaf that we choose holds only until another leaf may be chosen. */
function proofWriter(life: (proof: ClaimProofRecord) => AnswerLife): Presenter<ClaimProofRecord> {
  return {
    write(writer, { localExitRootBranch, rollupExitRootBranch, leaf }) {
      writer.raw(MERKLE_PROOF)
      writeNodes(writer, localExitRootBranch)
      writer.raw(ROLLUP_PROOF)
      writeKeptBranch(writer, rollupExitRootBranch)
      leafTexts.write(writer, leaf)
    },
    life,
  }
}

export const chosenProofPresenter = proofWriter(() => 'commit')
export const namedProofPresenter = proofWriter(({ isFinal }) => (isFinal ? 'epoch' : 'commit'))
