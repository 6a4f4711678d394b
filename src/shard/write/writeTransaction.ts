import type { Counters } from '../../store/layout/metaValues.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { PreparedBatch } from './prepareBatch.js'
import type { WriterMemory } from './writerMemory.js'

/** What the parts of one transaction share. */
export interface WriteTransaction {
  readonly view: WriteView
  readonly memory: WriterMemory
  readonly prepared: PreparedBatch
  /** Parts count up here what they add; the context stores it at the end. */
  readonly counters: Counters
}
