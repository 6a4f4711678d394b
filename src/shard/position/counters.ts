import { metaKey } from '../../store/layout/keys.js'
import { type Counters, decodeCounters } from '../../store/layout/metaValues.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'

/** The counters of a shard; all zero in an empty one. */
export function readCounters(view: ReadView): Counters {
  return decodeCounters(view.get('meta', metaKey('counters')))
}

/** The watermark: the first deposit or claim whose sender is not stored. Those of all before it are. */
export function senderWatermark(view: ReadView, kind: 'deposit' | 'claim'): number {
  const stored = view.get('meta', metaKey(kind === 'deposit' ? 'depositSenders' : 'claimSenders'))
  return stored === undefined ? 0 : decodeUint32(stored)
}
