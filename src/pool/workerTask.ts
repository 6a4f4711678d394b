import { move } from 'piscina'

/** What Piscina calls in the worker: the reply is transferred, not copied. */
export function createWorkerTask(
  runBatch: (batch: ArrayBuffer) => ArrayBuffer,
): (batch: ArrayBuffer) => unknown {
  return (batch) => {
    try {
      return move(runBatch(batch))
    } catch (error) {
      return isTrap(error) ? endThread(error) : Promise.reject(error)
    }
  }
}

/** A trap leaves the wasm instance in a state that nobody knows: only a new thread gets a new one. */
export function isTrap(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError'
}

/**
 * Ends this thread, and only it: an exception that no task owns. The task never ends by itself, so that Piscina sees the
 * thread die under it (otherwise the thread would wait for its next task first, and take that one along).
 */
function endThread(error: unknown): Promise<never> {
  return new Promise(() => {
    queueMicrotask(() => {
      throw error
    })
  })
}
