import type { L1InfoTreeIndexRecord } from '../../query/records.js'
import { END_OBJECT, firstKey, key } from './fields.js'
import type { JsonWriter } from './jsonWriter.js'

const L1_INFO_TREE_INDEX = firstKey('l1_info_tree_index')
const BLOCK_NUMBER = key('block_number')
const GLOBAL_EXIT_ROOT = key('global_exit_root')
const FIRST_COVERING_INDEX = key('first_covering_index')
const MAINNET_EXIT_ROOT = key('mainnet_exit_root')
const ROLLUP_EXIT_ROOT = key('rollup_exit_root')
const TIMESTAMP = key('timestamp')

export function writeL1InfoTreeIndex(
  writer: JsonWriter,
  { leaf, firstCoveringIndex }: L1InfoTreeIndexRecord,
): void {
  writer.raw(L1_INFO_TREE_INDEX)
  writer.uint(leaf.l1InfoTreeIndex)
  writer.raw(BLOCK_NUMBER)
  writer.uint(leaf.blockNumber)
  writer.raw(GLOBAL_EXIT_ROOT)
  writer.hex(leaf.globalExitRoot)
  writer.raw(FIRST_COVERING_INDEX)
  writer.uint(firstCoveringIndex)
  writer.raw(MAINNET_EXIT_ROOT)
  writer.hex(leaf.mainnetExitRoot)
  writer.raw(ROLLUP_EXIT_ROOT)
  writer.hex(leaf.rollupExitRoot)
  writer.raw(TIMESTAMP)
  writer.uint(leaf.timestampSec)
  writer.raw(END_OBJECT)
}
