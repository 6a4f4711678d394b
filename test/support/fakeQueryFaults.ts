/** The page with this number has metadata of 8 KB in each row. */
export const HEAVY_PAGE = 4_000_000_000

const faults = [
  ...([
    'exit',
    'throw',
    'invariant',
    'trap',
    'notFound',
    'notYet',
    'unavailable',
    'commitWhileReading',
  ] as const),
  /** Waits until the gate opens. */
  'hold',
  /** A proof that fails when most of its text is written. */
  'halfWritten',
  /** Fills the heap of its thread. */
  'outOfMemory',
] as const

export type QueryFault = (typeof faults)[number]

/** Deposit counts that make `fakeQueryWorker` misbehave. */
export const faultCounts = Object.fromEntries(
  faults.map((fault, at) => [fault, 4_000_000_001 + at]),
) as Readonly<Record<QueryFault, number>>

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
