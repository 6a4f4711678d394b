import { move } from 'piscina'
import { BatchSlots, type BatchTask, type SlotMemory } from './batchSlots.js'
import { isTrap, type RunBatch } from './runBatch.js'

/** The function that Piscina calls in the worker. It returns nothing if the reply is in the slot, else the reply, transferred. */
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
 * Ends only this thread, by an exception outside of any task. The task never ends, so that Piscina sees the thread die during it.
 * If it ended, the thread would take its next task before it dies, and that one would fail as well.
 */
function endThread(error: unknown): Promise<never> {
  return new Promise(() => {
    queueMicrotask(() => {
      throw error
    })
  })
}
