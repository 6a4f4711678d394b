import { InvariantError } from '../../errors/invariantError.js'
import type { NetworkId } from '../../protocol/units.js'
import { listChunkKey, listHeadKey } from '../../store/layout/keys.js'
import { chunkOrdinals, headOrdinals, listLength, listTailStart } from '../../store/layout/listEntry.js'
import { LIST_CHUNK, type ListKind } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { chunkedList, type IndexedList } from '../sets/ordinalList.js'
import { copyOf } from './chunkReader.js'

/** Reads the stored list of one filter value. */
export function readList(
  view: ReadView,
  networkId: NetworkId,
  kind: ListKind,
  listKey: Uint8Array,
): IndexedList {
  const headKey = listHeadKey(kind, listKey)
  const head = copyOf(view.get('listHeads', headKey))
  const length = listLength(head)
  const tailStart = listTailStart(length)
  return chunkedList(length, (number) => {
    if (head !== undefined && number * LIST_CHUNK >= tailStart) return headOrdinals(head)
    const chunk = view.get('lists', listChunkKey(headKey, number))
    if (chunk === undefined)
      throw new InvariantError(`network ${networkId}: chunk ${number} of a list of kind ${kind} is missing`, {
        networkId,
      })
    return chunkOrdinals(chunk)
  })
}
