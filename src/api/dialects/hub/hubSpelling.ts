import type { ClaimProofRecord } from '../../../query/proofRecords.js'
import type { BridgeRecord, Page, TokenMappingRecord } from '../../../query/records.js'
import type { RowTemplate } from '../../../query/rowTemplate.js'
import { asciiBytes } from '../../present/jsonWriter.js'
import type { Presenter } from '../../present/present.js'
import { recordWriter, type WriteValue } from '../../present/recordWriter.js'
import { proofPresenter } from '../aggkit/aggkitSpelling.js'
import { fieldsOf } from '../frame/templatePart.js'

/** Our records → the answers of Bridge Hub: camel case, addresses in lower case. */

/** A bridge, and what Bridge Hub says otherwise of it. */
interface Transaction extends BridgeRecord {
  readonly hubUid: string
  readonly kind: 'ASSET' | 'MESSAGE'
  readonly status: 'BRIDGED' | 'READY_TO_CLAIM' | 'CLAIMED'
  readonly token: Uint8Array
  readonly receiver: Uint8Array
  readonly sender: Uint8Array | null
  readonly signer: Uint8Array | null
  readonly timestampMs: number
  /** Null until it is claimed. */
  readonly claimedIndex: Uint8Array | null
}

interface Mapping extends TokenMappingRecord {
  readonly originToken: Uint8Array
  readonly wrappedToken: Uint8Array
  readonly timestampMs: number
}

const transaction = fieldsOf<Transaction>()
const mapping = fieldsOf<Mapping>()
const IF_KNOWN = { omitsNull: true } as const

export const transactionRow: RowTemplate = [
  transaction('hubUID', 'hubUid', 'text'),
  transaction('transactionHash', 'transactionHash', 'hex'),
  transaction('blockNumber', 'blockNumber', 'number'),
  transaction('transactionIndex', 'logIndex', 'number'),
  transaction('timestamp', 'timestampSec', 'number'),
  transaction('leafType', 'kind', 'text'),
  transaction('originTokenNetwork', 'tokenNetwork', 'number'),
  transaction('originTokenAddress', 'token', 'hex'),
  transaction('sourceNetwork', 'sourceNetwork', 'number'),
  transaction('destinationNetwork', 'destinationNetwork', 'number'),
  transaction('receiverAddress', 'receiver', 'hex'),
  transaction('fromAddress', 'sender', 'hex', IF_KNOWN),
  transaction('txSender', 'signer', 'hex', IF_KNOWN),
  transaction('amount', 'amount', 'digits'),
  transaction('depositCount', 'depositCount', 'number'),
  transaction('bridgeHash', 'leafHash', 'hex'),
  transaction('status', 'status', 'text'),
  transaction('lastUpdatedAt', 'timestampMs', 'number'),
  transaction('leafIndexForProof', 'l1InfoTreeIndex', 'number', IF_KNOWN),
  transaction('claimTransactionHash', 'claimTransactionHash', 'hex', IF_KNOWN),
  transaction('globalIndex', 'claimedIndex', 'digits', IF_KNOWN),
]

export const mappingRow: RowTemplate = [
  mapping('blockNumber', 'blockNumber', 'number'),
  mapping('transactionIndex', 'logIndex', 'number'),
  mapping('timestamp', 'timestampSec', 'number'),
  mapping('transactionHash', 'transactionHash', 'hex'),
  mapping('originTokenNetwork', 'originNetwork', 'number'),
  mapping('originTokenAddress', 'originToken', 'hex'),
  mapping('wrappedTokenNetwork', 'wrappedNetwork', 'number'),
  mapping('wrappedTokenAddress', 'wrappedToken', 'hex'),
  mapping('lastUpdatedAt', 'timestampMs', 'number'),
]

const ASSET = 0

function toTransaction(row: BridgeRecord): Transaction {
  const isClaimed = row.claimTransactionHash !== null
  return {
    ...row,
    hubUid: hubUidOf(row),
    kind: row.leafType === ASSET ? 'ASSET' : 'MESSAGE',
    status: isClaimed ? 'CLAIMED' : row.readyForClaim ? 'READY_TO_CLAIM' : 'BRIDGED',
    token: row.tokenAddress.bytes,
    receiver: row.destinationAddress.bytes,
    sender: row.originAddress?.bytes ?? null,
    signer: row.transactionSender?.bytes ?? null,
    timestampMs: 1000 * row.timestampSec,
    claimedIndex: isClaimed ? row.globalIndex : null,
  }
}

function toMapping(row: TokenMappingRecord): Mapping {
  return {
    ...row,
    originToken: row.originTokenAddress.bytes,
    wrappedToken: row.wrappedTokenAddress.bytes,
    timestampMs: 1000 * row.timestampSec,
  }
}

/** Digits of a ULID. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A ULID whose time is the block's. Behind it stand the source network and the deposit count: the same bridge has the same one. */
function hubUidOf({ timestampSec, sourceNetwork, depositCount }: BridgeRecord): string {
  const digits = (value: number, count: number): string => {
    let text = ''
    for (let rest = value; text.length < count; rest = Math.floor(rest / 32)) text = DIGITS[rest % 32] + text
    return text
  }
  return digits(1000 * timestampSec, 10) + digits(sourceNetwork, 8) + digits(depositCount, 8)
}

const DATA = asciiBytes('{"status":"success","data":')
const LIST = asciiBytes('{"status":"success","data":[')
const COMMA = asciiBytes(',')
const NULL = asciiBytes('null')
const TOTAL = asciiBytes('],"pagination":{"total":')
const LIMIT = asciiBytes(',"limit":')
const CURSOR = asciiBytes(',"nextStartAfterCursor":')
const QUOTE = asciiBytes('"')
const END = asciiBytes('}}')
const CLOSE = asciiBytes('}')
const METADATA = asciiBytes(',"bridge_tx_metadata":')

/**
 * Pages of a list.
 * @param skippedOf rows in front of the page: the total is that of those behind them.
 * @param isTextCursor whether the cursor is a text or a number.
 */
function listPresenter<Row extends object>(
  template: RowTemplate,
  spell: (row: Row) => object,
  skippedOf: (page: Page<Row>) => number,
  isTextCursor: boolean,
): Presenter<Page<Row>> {
  const writeRow: WriteValue<object> = recordWriter<object>(template)
  return {
    // From records: rows that are stored bytes have no fields of others.
    write(writer, page) {
      const { rows, total, limit } = page
      const skipped = skippedOf(page)
      writer.raw(LIST)
      rows.forEach((row, at) => {
        if (at > 0) writer.raw(COMMA)
        writeRow(writer, spell(row))
      })
      writer.raw(TOTAL)
      writer.uint(Math.max(0, total - skipped))
      writer.raw(LIMIT)
      writer.uint(limit)
      if (rows.length > 0) {
        writer.raw(CURSOR)
        if (isTextCursor) writer.raw(QUOTE)
        writer.uint(skipped + rows.length)
        if (isTextCursor) writer.raw(QUOTE)
      }
      writer.raw(END)
    },
    life: () => 'commit',
  }
}

export const transactionsPresenter = listPresenter<BridgeRecord>(
  transactionRow,
  toTransaction,
  ({ page }) => page - 1,
  true,
)

export const mappingsPresenter = listPresenter<TokenMappingRecord>(
  mappingRow,
  toMapping,
  ({ page, limit }) => (page - 1) * limit,
  false,
)

const writeTransaction = recordWriter<Transaction>(transactionRow)

export const transactionPresenter: Presenter<Page<BridgeRecord>> = {
  write(writer, { rows: [row] }) {
    writer.raw(DATA)
    if (row === undefined) writer.raw(NULL)
    else writeTransaction(writer, toTransaction(row))
    writer.raw(CLOSE)
  },
  life: () => 'commit',
}

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
