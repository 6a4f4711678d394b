import type {
  ClaimProofRecord,
  InjectedL1InfoLeafRecord,
  L1InfoLeafRecord,
  L1InfoTreeIndexRecord,
} from '../../../query/proofRecords.js'
import type { BridgeRecord, ClaimRecord, Page, TokenMappingRecord } from '../../../query/records.js'
import type { RowTemplate, TemplatePart } from '../../../query/rowTemplate.js'
import { asciiBytes } from '../../present/jsonWriter.js'
import { KeptTexts } from '../../present/keptTexts.js'
import { type AnswerLife, mappingWriter, type Presenter, writeKeptBranch } from '../../present/present.js'
import { recordWriter, type WriteValue } from '../../present/recordWriter.js'
import { listPresenter } from '../frame/lists.js'
import { fieldsOf } from '../frame/templatePart.js'
import type { AggkitRelease } from './release.js'

/** Our records → the answers of aggkit: keys, order and encodings. */

const bridge = fieldsOf<BridgeRecord>()
const claim = fieldsOf<ClaimRecord>()
const mapping = fieldsOf<TokenMappingRecord>()
const proof = fieldsOf<ClaimProofRecord>()
const leaf = fieldsOf<L1InfoLeafRecord>()

const ZERO_ADDRESS = '"0x0000000000000000000000000000000000000000"'

/** @returns nothing for the release that has none. */
function globalIndexOf(release: AggkitRelease): TemplatePart[] {
  if (release === '0.6') return []
  return [bridge('global_index', 'globalIndex', release === 'latest' ? 'digits' : 'bareDigits')]
}

export function bridgeRows(release: AggkitRelease): RowTemplate {
  return [
    bridge('block_num', 'blockNumber', 'number'),
    bridge('block_pos', 'logIndex', 'number'),
    bridge('from_address', 'originAddress', 'checksum', { omitsNull: true }),
    bridge('tx_hash', 'transactionHash', 'hex'),
    ...globalIndexOf(release),
    bridge('block_timestamp', 'timestampSec', 'number'),
    bridge('leaf_type', 'leafType', 'number'),
    bridge('origin_network', 'tokenNetwork', 'number'),
    bridge('origin_address', 'tokenAddress', 'checksum'),
    bridge('destination_network', 'destinationNetwork', 'number'),
    bridge('destination_address', 'destinationAddress', 'checksum'),
    bridge('amount', 'amount', 'digits'),
    bridge('metadata', 'metadata', 'hex'),
    bridge('deposit_count', 'depositCount', 'number'),
    bridge('bridge_hash', 'leafHash', 'hex'),
    ...(release === '0.6'
      ? []
      : [
          bridge('txn_sender', 'transactionSender', 'checksum', { omitsNull: true }),
          // The receiver of a transaction is not stored. The zero address is what the original says of one that it does not know.
          { key: 'to_address', fixed: ZERO_ADDRESS },
        ]),
  ]
}

export function claimRows(release: AggkitRelease): RowTemplate {
  return [
    claim('block_num', 'blockNumber', 'number'),
    claim('block_timestamp', 'timestampSec', 'number'),
    claim('tx_hash', 'transactionHash', 'hex'),
    claim('global_index', 'globalIndex', 'digits'),
    claim('origin_address', 'tokenAddress', 'checksum'),
    claim('origin_network', 'tokenNetwork', 'number'),
    claim('destination_address', 'destinationAddress', 'checksum'),
    claim('destination_network', 'destinationNetwork', 'number'),
    claim('amount', 'amount', 'digits'),
    release === '0.6'
      ? claim('from_address', 'caller', 'checksum', { omitsNull: true })
      : { key: 'from_address', fixed: '""' },
    claim('metadata', 'depositMetadata', 'hex', { isOptional: true }),
    claim('is_message', 'isMessage', 'boolean', { isOptional: true }),
  ]
}

export const tokenMappingRows: RowTemplate = [
  mapping('block_num', 'blockNumber', 'number'),
  mapping('block_pos', 'logIndex', 'number'),
  mapping('block_timestamp', 'timestampSec', 'number'),
  mapping('tx_hash', 'transactionHash', 'hex'),
  mapping('origin_network', 'originNetwork', 'number'),
  mapping('origin_token_address', 'originTokenAddress', 'checksum'),
  mapping('wrapped_token_address', 'wrappedTokenAddress', 'checksum'),
  mapping('metadata', 'metadata', 'hex'),
  mapping('is_not_mintable', 'isNotMintable', 'boolean'),
  mapping('token_type', 'tokenType', 'number'),
]

const leafFields: RowTemplate = [
  leaf('block_num', 'blockNumber', 'number'),
  leaf('l1_info_tree_index', 'l1InfoTreeIndex', 'number'),
  leaf('previous_block_hash', 'previousBlockHash', 'hex'),
  leaf('timestamp', 'timestampSec', 'number'),
  leaf('mainnet_exit_root', 'mainnetExitRoot', 'hex'),
  leaf('rollup_exit_root', 'rollupExitRoot', 'hex'),
  leaf('global_exit_root', 'globalExitRoot', 'hex'),
  leaf('hash', 'hash', 'hex'),
]

const COUNT = asciiBytes('],"count":')
const END = asciiBytes('}')

const writeCount: WriteValue<Page<unknown>> = (writer, { total }) => {
  writer.raw(COUNT)
  writer.uint(total)
  writer.raw(END)
}

/** Pages of the lists: `{"<name>":[rows],"count":n}`. */
export const bridgesPresenter = listPresenter<BridgeRecord>('{"bridges":[', writeCount)
export const claimsPresenter = listPresenter<ClaimRecord>('{"claims":[', writeCount)
export const mappingsPresenter = listPresenter('{"token_mappings":[', writeCount, mappingWriter)

const untilNextCommit = (): AnswerLife => 'commit'

export const indexPresenter: Presenter<L1InfoTreeIndexRecord> = {
  write: (writer, { l1InfoTreeIndex }) => writer.uint(l1InfoTreeIndex),
  life: untilNextCommit,
}

export const injectedLeafPresenter: Presenter<InjectedL1InfoLeafRecord> = {
  write: recordWriter(leafFields),
  life: untilNextCommit,
}

const leafTexts = new KeptTexts(recordWriter<L1InfoLeafRecord>(leafFields))

export const proofPresenter: Presenter<ClaimProofRecord> = {
  write: recordWriter<ClaimProofRecord>(
    [
      proof('proof_local_exit_root', 'localExitRootBranch', 'nodes'),
      proof('proof_rollup_exit_root', 'rollupExitRootBranch', 'nodes'),
      proof('l1_info_tree_leaf', 'leaf', 'record'),
    ],
    {
      rollupExitRootBranch: writeKeptBranch,
      leaf: (writer, one) => leafTexts.write(writer, one),
    },
  ),
  life: ({ isFinal }) => (isFinal ? 'epoch' : 'commit'),
}
