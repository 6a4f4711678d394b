import type { BridgeRecord, Page } from '../../query/records.js'
import {
  canonicalGlobalIndex,
  END_OBJECT,
  firstKey,
  key,
  writeMetadata,
  writePackedPage,
  writePage,
} from './fields.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import type { WireNames } from './rowFields.js'

const OPENING = asciiBytes('{"bridges":[')
const TX_HASH = firstKey('tx_hash')
const DEPOSIT_COUNT = key('deposit_count')
const ORIGIN_NETWORK = key('origin_network')
const DESTINATION_NETWORK = key('destination_network')
const ORIGIN_ADDRESS = key('origin_address')
const DESTINATION_ADDRESS = key('destination_address')
const AMOUNT = key('amount')
const BLOCK_TIMESTAMP = key('block_timestamp')
const READY_FOR_CLAIM = key('ready_for_claim')
const BLOCK_NUMBER = key('block_number')
const LOG_INDEX = key('log_index')
const LEAF_TYPE = key('leaf_type')
const TOKEN_NETWORK = key('token_network')
const TOKEN_ADDRESS = key('token_address')
const TX_SENDER = key('tx_sender')
const GLOBAL_INDEX = key('global_index')
const CLAIM_TX_HASH = key('claim_tx_hash')
const L1_INFO_TREE_INDEX = key('l1_info_tree_index')
const CLAIM_MATCHES = key('claim_matches')

const MESSAGE = 1

/** The record again, for pages that come as stored bytes. */
const NAMES: WireNames = [
  ['tx_hash', 'transactionHash'],
  ['deposit_count', 'depositCount'],
  ['origin_network', 'sourceNetwork'],
  ['destination_network', 'destinationNetwork'],
  ['origin_address', 'originAddress'],
  ['destination_address', 'destinationAddress'],
  ['amount', 'amount'],
  ['block_timestamp', 'timestampSec'],
  ['ready_for_claim', 'readyForClaim'],
  ['block_number', 'blockNumber'],
  ['log_index', 'logIndex'],
  ['leaf_type', 'leafType'],
  ['token_network', 'tokenNetwork'],
  ['token_address', 'tokenAddress'],
  ['metadata', 'metadata'],
  ['tx_sender', 'transactionSender'],
  ['global_index', 'globalIndex'],
  ['claim_tx_hash', 'claimTransactionHash'],
  ['l1_info_tree_index', 'l1InfoTreeIndex'],
]

export function writeBridges(writer: JsonWriter, page: Page<BridgeRecord>): void {
  const { rowWriter } = writer
  const { packed } = page
  if (rowWriter === undefined || packed === undefined) writePage(writer, OPENING, page, writeBridge)
  else writePackedPage(writer, rowWriter, OPENING, page, packed, NAMES, writeBridge)
}

function writeBridge(writer: JsonWriter, bridge: BridgeRecord): void {
  writer.raw(TX_HASH)
  writer.hex(bridge.transactionHash)
  writer.raw(DEPOSIT_COUNT)
  writer.uint(bridge.depositCount)
  writer.raw(ORIGIN_NETWORK)
  writer.uint(bridge.sourceNetwork)
  writer.raw(DESTINATION_NETWORK)
  writer.uint(bridge.destinationNetwork)
  writer.raw(ORIGIN_ADDRESS)
  // The contract's originAddress is the token of an asset, but the sender of a message: the wire's origin_address is
  // always the sender.
  writer.addressOrNull(bridge.leafType === MESSAGE ? bridge.tokenAddress : bridge.caller)
  writer.raw(DESTINATION_ADDRESS)
  writer.address(bridge.destinationAddress)
  writer.raw(AMOUNT)
  writer.amount(bridge.amount)
  writer.raw(BLOCK_TIMESTAMP)
  writer.uint(bridge.timestampSec)
  writer.raw(READY_FOR_CLAIM)
  writer.boolean(bridge.readyForClaim)
  writer.raw(BLOCK_NUMBER)
  writer.uint(bridge.blockNumber)
  writer.raw(LOG_INDEX)
  writer.uint(bridge.logIndex)
  writer.raw(LEAF_TYPE)
  writer.uint(bridge.leafType)
  writer.raw(TOKEN_NETWORK)
  writer.uint(bridge.tokenNetwork)
  writer.raw(TOKEN_ADDRESS)
  writer.address(bridge.tokenAddress)
  writeMetadata(writer, bridge.metadata)
  writer.raw(TX_SENDER)
  writer.addressOrNull(bridge.transactionSender)
  writer.raw(GLOBAL_INDEX)
  writer.hex(canonicalGlobalIndex(bridge.sourceNetwork, bridge.depositCount))
  writer.raw(CLAIM_TX_HASH)
  writer.hexOrNull(bridge.claimTransactionHash)
  writer.raw(L1_INFO_TREE_INDEX)
  if (bridge.l1InfoTreeIndex === null) writer.null()
  else writer.uint(bridge.l1InfoTreeIndex)
  if (!bridge.claimMatches) {
    writer.raw(CLAIM_MATCHES)
    writer.boolean(false)
  }
  writer.raw(END_OBJECT)
}
