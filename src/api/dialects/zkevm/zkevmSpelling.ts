import { isL1, rollupIndexOf } from '../../../protocol/networks.js'
import type { ClaimProofRecord, L1InfoLeafRecord } from '../../../query/proofRecords.js'
import type { BridgeRecord, ClaimRecord, Page, TokenMappingRecord } from '../../../query/records.js'
import type { RowTemplate } from '../../../query/rowTemplate.js'
import { asciiBytes } from '../../present/jsonWriter.js'
import { pageWriter } from '../../present/pageWriter.js'
import { type AnswerLife, type Presenter, writeKeptBranch } from '../../present/present.js'
import { recordWriter, type WriteValue } from '../../present/recordWriter.js'
import { onlyRowPresenter } from '../frame/onlyRow.js'
import { fieldsOf } from '../frame/templatePart.js'

/** Our records → the answers of zkevm-bridge-service, as protojson writes them: numbers of 64 bits are texts, nothing is left out. */

/** A bridge, and whether it could ever be claimed: there, that stays true after the claim. */
interface Deposit extends BridgeRecord {
  readonly wasReady: boolean
}

/** A claim, and what its global index is made of. */
interface Claim extends ClaimRecord {
  readonly rollupIndex: number
  readonly isOfMainnet: boolean
}

const deposit = fieldsOf<Deposit>()
const claim = fieldsOf<Claim>()
const token = fieldsOf<TokenMappingRecord>()
const proof = fieldsOf<ClaimProofRecord>()
const leaf = fieldsOf<L1InfoLeafRecord>()

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
  deposit('ready_for_claim', 'wasReady', 'boolean'),
  deposit('global_index', 'globalIndex', 'digits'),
]

function toDeposit(row: BridgeRecord): Deposit {
  return { ...row, wasReady: row.readyForClaim || row.claimTransactionHash !== null }
}

export const depositPresenter = onlyRowPresenter<BridgeRecord>(depositRow, 'deposit', toDeposit)

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
  claim('rollup_index', 'rollupIndex', 'number'),
  claim('mainnet_flag', 'isOfMainnet', 'boolean'),
  claim('global_index', 'globalIndex', 'digits'),
]

function toClaim(row: ClaimRecord): Claim {
  const isOfMainnet = isL1(row.sourceNetwork)
  return { ...row, isOfMainnet, rollupIndex: isOfMainnet ? 0 : rollupIndexOf(row.sourceNetwork) }
}

const TOTAL = asciiBytes('],"total_cnt":"')
const QUOTED_END = asciiBytes('"}')

/** Pages of a list: `{"<name>":[rows],"total_cnt":"n"}`. */
function listPresenter<Row extends object>(name: string, spell: (row: Row) => object): Presenter<Page<Row>> {
  const rowWriterOf = (template: RowTemplate): WriteValue<Row> => {
    const write = recordWriter<object>(template)
    return (writer, row) => write(writer, spell(row))
  }
  const { writePart } = pageWriter<Row>(name, rowWriterOf, (writer, { total }) => {
    writer.raw(TOTAL)
    writer.uint(total)
    writer.raw(QUOTED_END)
  })
  return {
    // From records: rows that are stored bytes have no fields of others.
    write(writer, { rows, template, page, limit, total, nextCursor }) {
      writePart(writer, { rows, template, page, limit, total, nextCursor }, 0, rows.length)
    },
    life: () => 'commit',
  }
}

export const depositsPresenter = listPresenter<BridgeRecord>('deposits', toDeposit)
export const claimsPresenter = listPresenter<ClaimRecord>('claims', toClaim)

export const tokenRow: RowTemplate = [
  token('orig_net', 'originNetwork', 'number'),
  token('original_token_addr', 'originTokenAddress', 'checksum'),
  token('wrapped_token_addr', 'wrappedTokenAddress', 'checksum'),
  token('network_id', 'wrappedNetwork', 'number'),
  token('name', 'name', 'text', { ofNull: EMPTY }),
  token('symbol', 'symbol', 'text', { ofNull: EMPTY }),
  token('decimals', 'decimals', 'number', { ofNull: '0' }),
]

export const tokenPresenter = onlyRowPresenter<TokenMappingRecord>(tokenRow, 'tokenwrapped')

const PROOF = asciiBytes('{"proof":')
const END = asciiBytes('}')

const writeBranches = recordWriter<ClaimProofRecord>(
  [
    proof('merkle_proof', 'localExitRootBranch', 'nodes'),
    proof('rollup_merkle_proof', 'rollupExitRootBranch', 'nodes'),
    leaf('main_exit_root', 'mainnetExitRoot', 'hex'),
    leaf('rollup_exit_root', 'rollupExitRoot', 'hex'),
  ],
  { rollupExitRootBranch: writeKeptBranch },
)

/** @param life of a proof: one under a leaf that we choose holds only until another leaf may be chosen. */
function proofWriter(life: (proof: ClaimProofRecord) => AnswerLife): Presenter<ClaimProofRecord> {
  return {
    write(writer, record) {
      writer.raw(PROOF)
      writeBranches(writer, { ...record, ...record.leaf })
      writer.raw(END)
    },
    life,
  }
}

export const chosenProofPresenter = proofWriter(() => 'commit')
export const namedProofPresenter = proofWriter(({ isFinal }) => (isFinal ? 'epoch' : 'commit'))
