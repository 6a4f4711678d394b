import type { ClaimProofRecord } from '../../../query/proofRecords.js'
import type { BridgeRecord, Page, TokenMappingRecord } from '../../../query/records.js'
import type { RowTemplate } from '../../../query/rowTemplate.js'
import { asciiBytes } from '../../present/jsonWriter.js'
import { mappingWriter, type Presenter } from '../../present/present.js'
import type { WriteValue } from '../../present/recordWriter.js'
import { proofPresenter } from '../aggkit/aggkitSpelling.js'
import { listPresenter } from '../frame/lists.js'
import { fieldsOf } from '../frame/templatePart.js'

/** Our records → the answers of Bridge Hub: camel case, addresses in lower case. */

const transaction = fieldsOf<BridgeRecord>()
const mapping = fieldsOf<TokenMappingRecord>()
const IF_KNOWN = { omitsNull: true } as const

/** By leaf type, and by the stage of the claim. */
const LEAF_TYPES = { words: ['"ASSET"', '"MESSAGE"'] }
const STATUSES = { words: ['"BRIDGED"', '"READY_TO_CLAIM"', '"CLAIMED"'] }

export const transactionRow: RowTemplate = [
  transaction('hubUID', 'ulid', 'ulid'),
  transaction('transactionHash', 'transactionHash', 'hex'),
  transaction('blockNumber', 'blockNumber', 'number'),
  transaction('transactionIndex', 'logIndex', 'number'),
  transaction('timestamp', 'timestampSec', 'number'),
  transaction('leafType', 'leafType', 'word', LEAF_TYPES),
  transaction('originTokenNetwork', 'tokenNetwork', 'number'),
  transaction('originTokenAddress', 'tokenAddress', 'lowerCase'),
  transaction('sourceNetwork', 'sourceNetwork', 'number'),
  transaction('destinationNetwork', 'destinationNetwork', 'number'),
  transaction('receiverAddress', 'destinationAddress', 'lowerCase'),
  transaction('fromAddress', 'originAddress', 'lowerCase', IF_KNOWN),
  transaction('txSender', 'transactionSender', 'lowerCase', IF_KNOWN),
  transaction('amount', 'amount', 'digits'),
  transaction('depositCount', 'depositCount', 'number'),
  transaction('bridgeHash', 'leafHash', 'hex'),
  transaction('status', 'claimStage', 'word', STATUSES),
  transaction('lastUpdatedAt', 'timestampSec', 'milliseconds'),
  transaction('leafIndexForProof', 'l1InfoTreeIndex', 'number', IF_KNOWN),
  transaction('claimTransactionHash', 'claimTransactionHash', 'hex', IF_KNOWN),
  transaction('globalIndex', 'claimedGlobalIndex', 'digits', IF_KNOWN),
]

export const mappingRow: RowTemplate = [
  mapping('blockNumber', 'blockNumber', 'number'),
  mapping('transactionIndex', 'logIndex', 'number'),
  mapping('timestamp', 'timestampSec', 'number'),
  mapping('transactionHash', 'transactionHash', 'hex'),
  mapping('originTokenNetwork', 'originNetwork', 'number'),
  mapping('originTokenAddress', 'originTokenAddress', 'lowerCase'),
  mapping('wrappedTokenNetwork', 'wrappedNetwork', 'number'),
  mapping('wrappedTokenAddress', 'wrappedTokenAddress', 'lowerCase'),
  mapping('lastUpdatedAt', 'timestampSec', 'milliseconds'),
]

const DATA = asciiBytes('{"status":"success","data":')
const NULL = asciiBytes('null')
const TOTAL = asciiBytes('],"pagination":{"total":')
const LIMIT = asciiBytes(',"limit":')
const CURSOR = asciiBytes(',"nextStartAfterCursor":')
const QUOTE = asciiBytes('"')
const END = asciiBytes('}}')
const CLOSE = asciiBytes('}')
const METADATA = asciiBytes(',"bridge_tx_metadata":')

const LIST = '{"status":"success","data":['

/**
 * What follows the rows of a page.
 * @param skippedOf rows in front of the page: the total is that of those behind them.
 * @param isTextCursor whether the cursor is a text or a number.
 */
function endWriter(
  skippedOf: (page: Page<unknown>) => number,
  isTextCursor: boolean,
): WriteValue<Page<unknown>> {
  return (writer, page) => {
    const { total, limit } = page
    const skipped = skippedOf(page)
    const left = Math.max(0, total - skipped)
    writer.raw(TOTAL)
    writer.uint(left)
    writer.raw(LIMIT)
    writer.uint(limit)
    if (left > 0) {
      writer.raw(CURSOR)
      if (isTextCursor) writer.raw(QUOTE)
      writer.uint(skipped + Math.min(left, limit))
      if (isTextCursor) writer.raw(QUOTE)
    }
    writer.raw(END)
  }
}

export const transactionsPresenter = listPresenter<BridgeRecord>(
  LIST,
  endWriter(({ page }) => page - 1, true),
)

export const mappingsPresenter = listPresenter(
  LIST,
  endWriter(({ page, limit }) => (page - 1) * limit, false),
  mappingWriter,
)

export const transactionPresenter = listPresenter<BridgeRecord>(
  '{"status":"success","data":',
  (writer, { total }) => {
    if (total === 0) writer.raw(NULL)
    writer.raw(CLOSE)
  },
)

export const hubProofPresenter: Presenter<ClaimProofRecord> = {
  write(writer, record) {
    writer.raw(DATA)
    proofPresenter.write(writer, record)
    // One key more within the record that has just been closed.
    writer.truncate(writer.length - CLOSE.length)
    writer.raw(METADATA)
    writer.hexOrNull(record.depositMetadata ?? null)
    writer.raw(END)
  },
  // Without an index the leaf holds only until another one may be chosen.
  life: () => 'commit',
}
