import type { ClaimRecord, Page } from '../../query/records.js'
import { END_OBJECT, firstKey, key, writePackedPage, writePage } from './fields.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import type { WireNames } from './rowFields.js'

const OPENING = asciiBytes('{"claims":[')
const TX_HASH = firstKey('tx_hash')
const GLOBAL_INDEX = key('global_index')
const AMOUNT = key('amount')
const BLOCK_TIMESTAMP = key('block_timestamp')
const BRIDGE_TX_HASH = key('bridge_tx_hash')
const BLOCK_NUMBER = key('block_number')
const LOG_INDEX = key('log_index')
const ORIGIN_NETWORK = key('origin_network')
const DEPOSIT_COUNT = key('deposit_count')
const DESTINATION_NETWORK = key('destination_network')
const DESTINATION_ADDRESS = key('destination_address')
const TOKEN_NETWORK = key('token_network')
const TOKEN_ADDRESS = key('token_address')
const FROM_ADDRESS = key('from_address')
const TX_SENDER = key('tx_sender')

/** The record again, for pages that come as stored bytes. */
const NAMES: WireNames = [
  ['tx_hash', 'transactionHash'],
  ['global_index', 'globalIndex'],
  ['amount', 'amount'],
  ['block_timestamp', 'timestampSec'],
  ['bridge_tx_hash', 'bridgeTransactionHash'],
  ['block_number', 'blockNumber'],
  ['log_index', 'logIndex'],
  ['origin_network', 'sourceNetwork'],
  ['deposit_count', 'depositCount'],
  ['destination_network', 'destinationNetwork'],
  ['destination_address', 'destinationAddress'],
  ['token_network', 'tokenNetwork'],
  ['token_address', 'tokenAddress'],
  ['from_address', 'caller'],
  ['tx_sender', 'transactionSender'],
]

export function writeClaims(writer: JsonWriter, page: Page<ClaimRecord>): void {
  const { rowWriter } = writer
  const { packed } = page
  if (rowWriter === undefined || packed === undefined) writePage(writer, OPENING, page, writeClaim)
  else writePackedPage(writer, rowWriter, OPENING, page, packed, NAMES, writeClaim)
}

function writeClaim(writer: JsonWriter, claim: ClaimRecord): void {
  writer.raw(TX_HASH)
  writer.hex(claim.transactionHash)
  writer.raw(GLOBAL_INDEX)
  writer.hex(claim.globalIndex)
  writer.raw(AMOUNT)
  writer.amount(claim.amount)
  writer.raw(BLOCK_TIMESTAMP)
  writer.uint(claim.timestampSec)
  writer.raw(BRIDGE_TX_HASH)
  writer.hexOrNull(claim.bridgeTransactionHash)
  writer.raw(BLOCK_NUMBER)
  writer.uint(claim.blockNumber)
  writer.raw(LOG_INDEX)
  writer.uint(claim.logIndex)
  writer.raw(ORIGIN_NETWORK)
  writer.uint(claim.sourceNetwork)
  writer.raw(DEPOSIT_COUNT)
  writer.uint(claim.depositCount)
  writer.raw(DESTINATION_NETWORK)
  writer.uint(claim.destinationNetwork)
  writer.raw(DESTINATION_ADDRESS)
  writer.address(claim.destinationAddress)
  writer.raw(TOKEN_NETWORK)
  writer.uint(claim.tokenNetwork)
  writer.raw(TOKEN_ADDRESS)
  writer.address(claim.tokenAddress)
  writer.raw(FROM_ADDRESS)
  writer.addressOrNull(claim.caller)
  writer.raw(TX_SENDER)
  writer.addressOrNull(claim.transactionSender)
  writer.raw(END_OBJECT)
}
