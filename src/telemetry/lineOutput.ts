import { writeSync } from 'node:fs'

/** The shared memory of one output, which is passed to other threads. */
export type LineOutputMemory = SharedArrayBuffer

/** Most bytes that wait for a slow reader, so that a short pause loses nothing. A pipe itself holds another 64 KB. */
const MOST_WAITING = 32 * 1024
/** Longest line: if only a part of it could be written, the rest must fit into the memory. */
const CAPACITY = 128 * 1024
/** Longest wait for the lock. Threads hold it for microseconds, or longer while they wait for a busy core. */
const LONGEST_LOCK_MS = 1_000
const RETRY_MS = 5
/** Pause after a refused write: a refused attempt costs ten times as much as a line. */
const REST_MS = 5

const cell = { lock: 0, stuck: 1, descriptor: 2, waiting: 3, dropped: 4, unreported: 5, nap: 6 } as const
const CONTROL_BYTES = 4 * Object.keys(cell).length

/** @param descriptor one that does not block, or a local file. */
export function createLineOutput(descriptor: number): LineOutputMemory {
  const memory = new SharedArrayBuffer(CONTROL_BYTES + CAPACITY)
  Atomics.store(new Int32Array(memory, 0, 1 + cell.nap), cell.descriptor, descriptor)
  return memory
}

/**
 * Writes whole lines in order to a descriptor that all threads share. No call waits for the reader: bytes that the descriptor
 * does not accept now stay in shared memory and are written by a later call of any thread. Lines for which that memory has no
 * room are dropped and counted. A full disk and a reader that is gone are treated the same: both may recover.
 */
export class LineOutput {
  private readonly cells: Int32Array<SharedArrayBuffer>
  private readonly bytes: Uint8Array<SharedArrayBuffer>
  private restsUntilMs = 0
  private lossLine: ((lines: number) => string) | undefined

  constructor(memory: LineOutputMemory) {
    this.cells = new Int32Array(memory, 0, 1 + cell.nap)
    this.bytes = new Uint8Array(memory, CONTROL_BYTES)
  }

  /** Sets the line that reports the number of dropped lines, once writing works again. */
  reportLossesWith(lossLine: (lines: number) => string): void {
    this.lossLine = lossLine
  }

  /** Sets another descriptor for all threads. @returns true when no thread uses the old one any more. */
  useDescriptor(descriptor: number): boolean {
    return this.locked(() => {
      Atomics.store(this.cells, cell.descriptor, descriptor)
      return true
    })
  }

  /** @param text one line or more, with the last line's end. */
  write(text: string): void {
    const line = Buffer.from(text)
    if (!this.locked(() => this.put(line))) this.drop()
  }

  /** Writes as much of the waiting bytes as the descriptor accepts now. @returns true when nothing waits any more. */
  drain(): boolean {
    return this.locked(() => this.writeWaiting())
  }

  /** Repeats `drain` until nothing waits, or for `longestMs`: for the end of the process. */
  flush(longestMs: number): boolean {
    for (let waited = 0; !this.drain(); waited += RETRY_MS) {
      if (waited >= longestMs) return false
      Atomics.wait(this.cells, cell.nap, 0, RETRY_MS)
    }
    return true
  }

  /** Lines dropped since the start, by all threads. */
  dropped(): number {
    return Atomics.load(this.cells, cell.dropped)
  }

  private drop(): void {
    Atomics.add(this.cells, cell.dropped, 1)
    Atomics.add(this.cells, cell.unreported, 1)
  }

  private put(line: Uint8Array): boolean {
    const mayRest = Atomics.load(this.cells, cell.waiting) > 0 && performance.now() < this.restsUntilMs
    if (mayRest || !this.writeWaiting()) return this.keep(line, MOST_WAITING)
    if (line.length > CAPACITY) return false
    const written = this.writeNow(line)
    return written === line.length || this.keep(line.subarray(written), CAPACITY)
  }

  private keep(rest: Uint8Array, most: number): boolean {
    const waiting = Atomics.load(this.cells, cell.waiting)
    if (waiting + rest.length > most) return false
    this.bytes.set(rest, waiting)
    Atomics.store(this.cells, cell.waiting, waiting + rest.length)
    return true
  }

  private writeWaiting(): boolean {
    const waiting = Atomics.load(this.cells, cell.waiting)
    if (waiting > 0) {
      const written = this.writeNow(this.bytes.subarray(0, waiting))
      this.bytes.copyWithin(0, written, waiting)
      Atomics.store(this.cells, cell.waiting, waiting - written)
      if (written < waiting) return false
    }
    return this.reportLosses()
  }

  private reportLosses(): boolean {
    const unreported = Atomics.load(this.cells, cell.unreported)
    if (unreported === 0 || this.lossLine === undefined) return true
    const line = Buffer.from(this.lossLine(unreported))
    const written = this.writeNow(line)
    if (written === 0) return false
    Atomics.sub(this.cells, cell.unreported, unreported)
    return written === line.length || !this.keep(line.subarray(written), CAPACITY)
  }

  /** @returns number of bytes written. */
  private writeNow(bytes: Uint8Array): number {
    const descriptor = Atomics.load(this.cells, cell.descriptor)
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written)
    } catch {
      // The reader is slow or gone, or the disk is full. This can't be reported: the report would go here.
      this.restsUntilMs = performance.now() + REST_MS
    }
    return written
  }

  /**
   * Runs `body` under the lock. A thread that died, or hangs in a write to a dead volume, keeps the lock for ever: the others wait
   * for it once, then drop their lines without waiting.
   * @returns what `body` returns; false when the lock could not be taken.
   */
  private locked(body: () => boolean): boolean {
    const { cells } = this
    const isStuck = Atomics.load(cells, cell.stuck) === 1
    const untilMs = isStuck ? 0 : performance.now() + LONGEST_LOCK_MS
    // Another thread may take the lock before a woken one does, which then waits again.
    while (Atomics.compareExchange(cells, cell.lock, 0, 1) !== 0) {
      const restMs = isStuck ? 0 : untilMs - performance.now()
      if (restMs <= 0) {
        Atomics.store(cells, cell.stuck, 1)
        return false
      }
      Atomics.wait(cells, cell.lock, 1, restMs)
    }
    try {
      Atomics.store(cells, cell.stuck, 0)
      return body()
    } finally {
      // Another thread may have set `stuck` meanwhile, although this one was only slow.
      Atomics.store(cells, cell.stuck, 0)
      Atomics.store(cells, cell.lock, 0)
      Atomics.notify(cells, cell.lock, 1)
    }
  }
}
