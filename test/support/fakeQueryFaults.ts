/** The page with this number has metadata of 8 KB in each row. */
export const HEAVY_PAGE = 4_000_000_000

/** Deposit counts that make `fakeQueryWorker` misbehave. */
export const faultCounts = {
  exit: 4_000_000_001,
  throw: 4_000_000_002,
  invariant: 4_000_000_003,
  trap: 4_000_000_004,
  /** Waits until the gate opens. */
  hold: 4_000_000_005,
  commitWhileReading: 4_000_000_006,
  notFound: 4_000_000_007,
  notYet: 4_000_000_008,
  unavailable: 4_000_000_009,
  /** A proof that fails when most of its text is written. */
  halfWritten: 4_000_000_010,
  /** Fills the heap of its thread. */
  outOfMemory: 4_000_000_011,
} as const

const OPEN = 0
const HELD = 1

/** Where a test holds a worker inside a query: one Int32 in shared memory. */
export type Gate = SharedArrayBuffer

export function createGate(): Gate {
  return new SharedArrayBuffer(4)
}

/** In the worker: reports its arrival and waits. */
export function waitAt(gate: Gate): void {
  const cell = new Int32Array(gate)
  Atomics.store(cell, 0, HELD)
  Atomics.notify(cell, 0)
  Atomics.wait(cell, 0, HELD)
}

/** In the test: resolves when a worker has arrived. */
export async function arrivalAt(gate: Gate): Promise<void> {
  const waiting = atomics.waitAsync(new Int32Array(gate), 0, OPEN)
  if (waiting.async) await waiting.value
}

/** In the test: lets the worker continue, after which the gate can be used again. */
export function letGo(gate: Gate): void {
  const cell = new Int32Array(gate)
  Atomics.store(cell, 0, OPEN)
  Atomics.notify(cell, 0)
}

// Node 20 has the function, but TypeScript's ES2023 library does not declare it.
const atomics = Atomics as unknown as {
  waitAsync(
    cells: Int32Array,
    index: number,
    value: number,
  ): { async: true; value: Promise<string> } | { async: false; value: string }
}
