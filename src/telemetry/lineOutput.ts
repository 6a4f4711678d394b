import { writeSync } from 'node:fs'

/** What crosses to a thread: the shared memory of one output. */
export type LineOutputMemory = SharedArrayBuffer

/** Lines that wait while nobody takes them: a reader that pauses for a moment loses nothing. A pipe keeps 64 KB itself. */
const MOST_WAITING = 32 * 1024
/** The longest line: its rest must have a place when a part of it was taken. */
const CAPACITY = 128 * 1024
/** Others hold the lock for microseconds, or for as long as a thread that wants a busy core is kept from it. */
const LONGEST_LOCK_MS = 1_000
const RETRY_MS = 5
/** After a write that was refused: asking with every line would cost ten times the line. */
const REST_MS = 5

const cell = { lock: 0, stuck: 1, descriptor: 2, waiting: 3, dropped: 4, untold: 5, nap: 6 } as const
const CONTROL_BYTES = 4 * Object.keys(cell).length

/** @param descriptor must not block, or only as a local disk does. */
export function createLineOutput(descriptor: number): LineOutputMemory {
  const memory = new SharedArrayBuffer(CONTROL_BYTES + CAPACITY)
  Atomics.store(new Int32Array(memory, 0, 1 + cell.nap), cell.descriptor, descriptor)
  return memory
}

/**
 * Lines to a descriptor that all threads share, whole and in order. No call waits for whoever reads them: what is not taken now
 * stays in shared memory and goes with a later call of any thread; lines beyond that are dropped and counted.
 * A full disk and a reader that is gone are "not now" as well: both may get better.
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

  /** Sets the line that tells of dropped ones, once they are taken again. */
  tellLossesWith(lossLine: (lines: number) => string): void {
    this.lossLine = lossLine
  }

  /** Another descriptor, for all threads. @returns whether nobody uses the old one any more. */
  useDescriptor(descriptor: number): boolean {
    return this.locked(() => {
      Atomics.store(this.cells, cell.descriptor, descriptor)
      return true
    })
  }

  /** @param text one line or more, the last line's end included. */
  write(text: string): void {
    const line = Buffer.from(text)
    if (!this.locked(() => this.put(line))) this.drop()
  }

  /** Writes what waits, as far as it is taken now. @returns whether nothing waits any more. */
  drain(): boolean {
    return this.locked(() => this.writeWaiting())
  }

  /** Like `drain`, again and again for a while: before the process ends. */
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
    Atomics.add(this.cells, cell.untold, 1)
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
    return this.tellLosses()
  }

  private tellLosses(): boolean {
    const untold = Atomics.load(this.cells, cell.untold)
    if (untold === 0 || this.lossLine === undefined) return true
    const line = Buffer.from(this.lossLine(untold))
    const written = this.writeNow(line)
    if (written === 0) return false
    Atomics.sub(this.cells, cell.untold, untold)
    return written === line.length || !this.keep(line.subarray(written), CAPACITY)
  }

  /** @returns how many bytes were taken. */
  private writeNow(bytes: Uint8Array): number {
    const descriptor = Atomics.load(this.cells, cell.descriptor)
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written)
    } catch {
      // Full, or nobody is there: there is no place left to tell it.
      this.restsUntilMs = performance.now() + REST_MS
    }
    return written
  }

  /**
   * A thread that hangs in a dead volume, or died, keeps the lock: the others then wait for it once, and drop their lines.
   * @returns false also when the lock was not to be had.
   */
  private locked(body: () => boolean): boolean {
    const { cells } = this
    const isStuck = Atomics.load(cells, cell.stuck) === 1
    const untilMs = isStuck ? 0 : performance.now() + LONGEST_LOCK_MS
    // Whoever is woken may find that another one was quicker: that is no reason to give up.
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
      // Somebody may have given up meanwhile: it was slow only.
      Atomics.store(cells, cell.stuck, 0)
      Atomics.store(cells, cell.lock, 0)
      Atomics.notify(cells, cell.lock, 1)
    }
  }
}
