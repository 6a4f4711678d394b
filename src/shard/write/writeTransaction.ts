import type { Counters } from '../../store/layout/metaValues.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { PreparedBatch } from './prepareBatch.js'
import type { WriterMemory } from './writerMemory.js'

/** What all parts of one transaction use. */
export interface WriteTransaction {
  readonly view: WriteView
  readonly memory: WriterMemory
  readonly prepared: PreparedBatch
  /** Parts add to these what they store. `WriteContext.flush` stores them. */
  readonly counters: Counters
}
