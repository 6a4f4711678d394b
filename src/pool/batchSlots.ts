/** Memory for batches, shared by the front thread and all workers. Plain data: goes through `workerData`. */
export interface SlotMemory {
  readonly count: number
  readonly memory: SharedArrayBuffer
}

/** The argument of a task. A usual batch sends nothing else as a message. */
export interface BatchTask {
  readonly slot: number
  /** The queries, when they are too long for their slot. */
  readonly queries?: ArrayBuffer
}

/** Behind the slots, one number for each: whether its batch waits for a worker. */
const FLAG_BYTES = 4
/** 256 point queries take 5 KB; a list of deposit counts takes up to 400 bytes. */
const QUERY_BYTES = 64 * 1024
/** The answers of a usual batch are estimated at 768 KB at most; 1,000 bridges take 730 KB. Unused pages take no memory. */
const REPLY_BYTES = 1024 * 1024

const LENGTH_BYTES = 4
const SLOT_BYTES = QUERY_BYTES + REPLY_BYTES

export function createSlotMemory(count: number): SlotMemory {
  return { count, memory: new SharedArrayBuffer(count * (SLOT_BYTES + FLAG_BYTES)) }
}

/**
 * Batches travel in slots of shared memory: making, transferring and collecting an ArrayBuffer per batch took a tenth of both
 * threads' time with pages of 100. A slot belongs to the front until its task is posted, then to the one worker that has the
 * task, and to the front again once the task has ended. Queries and answers that do not fit are transferred as messages.
 */
export class BatchSlots {
  private readonly queries: Uint8Array<SharedArrayBuffer>[] = []
  private readonly replies: Uint8Array<SharedArrayBuffer>[] = []
  private readonly lengths: DataView[] = []
  private readonly waiting: Int32Array

  constructor({ count, memory }: SlotMemory) {
    for (let slot = 0; slot < count; slot++) {
      const at = slot * SLOT_BYTES
      this.lengths.push(new DataView(memory, at, LENGTH_BYTES))
      this.queries.push(new Uint8Array(memory, at + LENGTH_BYTES, QUERY_BYTES - LENGTH_BYTES))
      this.replies.push(new Uint8Array(memory, at + QUERY_BYTES, REPLY_BYTES))
    }
    this.waiting = new Int32Array(memory, count * SLOT_BYTES, count)
  }

  /** Called by the front. @returns the task for a worker. */
  putQueries(slot: number, queries: Uint8Array): BatchTask {
    Atomics.store(this.waiting, slot, 1)
    const place = this.queries[slot]!
    if (queries.length > place.length) return { slot, queries: queries.slice().buffer as ArrayBuffer }
    place.set(queries)
    this.lengths[slot]!.setUint32(0, queries.length)
    return { slot }
  }

  /** Called by the worker when it begins a task. @returns its queries, valid until it ends. */
  takeQueries({ slot, queries }: BatchTask): Uint8Array {
    Atomics.store(this.waiting, slot, 0)
    if (queries !== undefined) return new Uint8Array(queries)
    return this.queries[slot]!.subarray(0, this.lengths[slot]!.getUint32(0))
  }

  /** Called by the front when a task has failed: its worker may have died before it began. */
  drop(slot: number): void {
    Atomics.store(this.waiting, slot, 0)
  }

  /** Whether any batch of this cell has been posted that no worker has begun. */
  isAnyWaiting(): boolean {
    for (let slot = 0; slot < this.waiting.length; slot++)
      if (Atomics.load(this.waiting, slot) !== 0) return true
    return false
  }

  /** Memory for the answers of a batch: the worker writes it, the front reads it. */
  replyOf(slot: number): Uint8Array<SharedArrayBuffer> {
    return this.replies[slot]!
  }
}
