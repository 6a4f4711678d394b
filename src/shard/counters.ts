import { metaKey } from '../store/codecs/keys.js'
import { type Counters, decodeCounters } from '../store/codecs/metaValues.js'
import type { ReadView } from '../store/shardStore.types.js'

/** What is counted of a shard; all zero in one that is empty. */
export function readCounters(view: ReadView): Counters {
  return decodeCounters(view.get('meta', metaKey('counters')))
}
