import { move } from 'piscina'
import { BatchSlots, type BatchTask, type SlotMemory } from './batchSlots.js'
import { isTrap, type RunBatch } from './runBatch.js'

/** What Piscina calls in the worker. @returns nothing, when the reply stands in the slot; else the reply, transferred. */
export function createWorkerTask(memory: SlotMemory, runBatch: RunBatch): (task: BatchTask) => unknown {
  const slots = new BatchSlots(memory)
  return (task) => {
    try {
      const reply = runBatch(slots.queriesOf(task), slots.replyOf(task.slot))
      return reply === undefined ? undefined : move(reply)
    } catch (error) {
      return isTrap(error) ? endThread(error) : Promise.reject(error)
    }
  }
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
