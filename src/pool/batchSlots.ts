/** Memory for batches, shared by the front thread and all workers. Plain data: goes through `workerData`. */
export interface SlotMemory {
  readonly count: number
  readonly memory: SharedArrayBuffer
}

/** What a worker is called with, and all that a usual batch costs in messages. */
export interface BatchTask {
  readonly slot: number
  /** The queries, when they are too long for their slot. */
  readonly queries?: ArrayBuffer
}

/** Queries of 256 points have 5 KB; lists of deposit counts go up to 400 bytes each. */
const QUERY_BYTES = 64 * 1024
/** Answers of a usual batch are estimated at 768 KB, 1,000 bridges have 730 KB. What was never written takes no memory. */
const REPLY_BYTES = 1024 * 1024

const LENGTH_BYTES = 4
const SLOT_BYTES = QUERY_BYTES + REPLY_BYTES

export function createSlotMemory(count: number): SlotMemory {
  return { count, memory: new SharedArrayBuffer(count * SLOT_BYTES) }
}

/**
 * Batches travel in these places and not in messages: an ArrayBuffer per batch, made, transferred and collected, took a tenth
 * of both threads' time with pages of 100. A slot belongs to the front until its task is posted, then to the one worker that
 * has the task, and to the front again once the task has ended. Longer queries and answers are transferred as messages.
 */
export class BatchSlots {
  private readonly queries: Uint8Array<SharedArrayBuffer>[] = []
  private readonly replies: Uint8Array<SharedArrayBuffer>[] = []
  private readonly lengths: DataView[] = []

  constructor({ count, memory }: SlotMemory) {
    for (let slot = 0; slot < count; slot++) {
      const at = slot * SLOT_BYTES
      this.lengths.push(new DataView(memory, at, LENGTH_BYTES))
      this.queries.push(new Uint8Array(memory, at + LENGTH_BYTES, QUERY_BYTES - LENGTH_BYTES))
      this.replies.push(new Uint8Array(memory, at + QUERY_BYTES, REPLY_BYTES))
    }
  }

  /** In the front. @returns the task for a worker. */
  putQueries(slot: number, queries: Uint8Array): BatchTask {
    const place = this.queries[slot]!
    if (queries.length > place.length) return { slot, queries: queries.slice().buffer as ArrayBuffer }
    place.set(queries)
    this.lengths[slot]!.setUint32(0, queries.length)
    return { slot }
  }

  /** In the worker: the queries of a task, valid until it ends. */
  queriesOf({ slot, queries }: BatchTask): Uint8Array {
    if (queries !== undefined) return new Uint8Array(queries)
    return this.queries[slot]!.subarray(0, this.lengths[slot]!.getUint32(0))
  }

  /** Where the answers of a batch go, from the worker to the front. */
  replyOf(slot: number): Uint8Array<SharedArrayBuffer> {
    return this.replies[slot]!
  }
}
