import type { ClaimTransactionRecord } from '../../query/records.js'
import { END_OBJECT, firstKey, key } from './fields.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'

const TO = firstKey('to')
const DATA = key('data')
/** A claim carries no ether. */
const VALUE_AND_CHAIN_ID = asciiBytes(',"value":"0","chain_id":')
const LEAF_TYPE = key('leaf_type')
const ORIGIN_NETWORK = key('origin_network')
const DESTINATION_NETWORK = key('destination_network')
const DEPOSIT_COUNT = key('deposit_count')
const GLOBAL_INDEX = key('global_index')
const L1_INFO_TREE_INDEX = key('l1_info_tree_index')

export function writeClaimTransaction(writer: JsonWriter, call: ClaimTransactionRecord): void {
  writer.raw(TO)
  writer.address(call.to)
  writer.raw(DATA)
  writer.hex(call.data)
  writer.raw(VALUE_AND_CHAIN_ID)
  writer.uint(Number(call.chainId))
  writer.raw(LEAF_TYPE)
  writer.uint(call.leafType)
  writer.raw(ORIGIN_NETWORK)
  writer.uint(call.sourceNetwork)
  writer.raw(DESTINATION_NETWORK)
  writer.uint(call.destinationNetwork)
  writer.raw(DEPOSIT_COUNT)
  writer.uint(call.depositCount)
  writer.raw(GLOBAL_INDEX)
  writer.hex(call.globalIndex)
  writer.raw(L1_INFO_TREE_INDEX)
  writer.uint(call.l1InfoTreeIndex)
  writer.raw(END_OBJECT)
}
