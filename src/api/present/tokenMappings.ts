import type { Page, TokenMappingRecord } from '../../query/records.js'
import { END_OBJECT, firstKey, key, writeMetadata, writePage } from './fields.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import { KeptTexts } from './keptTexts.js'

const OPENING = asciiBytes('{"token_mappings":[')
const TX_HASH = firstKey('tx_hash')
const BLOCK_NUMBER = key('block_number')
const LOG_INDEX = key('log_index')
const BLOCK_TIMESTAMP = key('block_timestamp')
const ORIGIN_NETWORK = key('origin_network')
const ORIGIN_TOKEN_ADDRESS = key('origin_token_address')
const WRAPPED_NETWORK = key('wrapped_network')
const WRAPPED_TOKEN_ADDRESS = key('wrapped_token_address')
const NAME = key('name')
const SYMBOL = key('symbol')
const DECIMALS = key('decimals')
const IS_NOT_MINTABLE = key('is_not_mintable')
const TOKEN_TYPE = key('token_type')
const IS_CURRENT = key('is_current')

/** Metadata of some 1,000 bytes: anybody may write more. */
const MAX_KEPT_CHARACTERS = 4096
/** Two thirds of a row's time were its metadata. */
const mappings = new KeptTexts(writeTokenMapping, MAX_KEPT_CHARACTERS)

export function writeTokenMappings(writer: JsonWriter, page: Page<TokenMappingRecord>): void {
  writePage(writer, OPENING, page, writeKept)
}

function writeKept(writer: JsonWriter, mapping: TokenMappingRecord): void {
  mappings.write(writer, mapping)
}

function writeTokenMapping(writer: JsonWriter, mapping: TokenMappingRecord): void {
  const { token } = mapping
  writer.raw(TX_HASH)
  writer.hex(mapping.transactionHash)
  writer.raw(BLOCK_NUMBER)
  writer.uint(mapping.blockNumber)
  writer.raw(LOG_INDEX)
  writer.uint(mapping.logIndex)
  writer.raw(BLOCK_TIMESTAMP)
  writer.uint(mapping.timestampSec)
  writer.raw(ORIGIN_NETWORK)
  writer.uint(mapping.originNetwork)
  writer.raw(ORIGIN_TOKEN_ADDRESS)
  writer.address(mapping.originTokenAddress)
  writer.raw(WRAPPED_NETWORK)
  writer.uint(mapping.wrappedNetwork)
  writer.raw(WRAPPED_TOKEN_ADDRESS)
  writer.address(mapping.wrappedTokenAddress)
  writeMetadata(writer, mapping.metadata)
  writer.raw(NAME)
  writer.textOrNull(token.name)
  writer.raw(SYMBOL)
  writer.textOrNull(token.symbol)
  writer.raw(DECIMALS)
  if (token.decimals === null) writer.null()
  else writer.uint(token.decimals)
  writer.raw(IS_NOT_MINTABLE)
  writer.boolean(mapping.isNotMintable)
  writer.raw(TOKEN_TYPE)
  writer.uint(mapping.tokenType)
  writer.raw(IS_CURRENT)
  writer.boolean(mapping.isCurrent)
  writer.raw(END_OBJECT)
}
