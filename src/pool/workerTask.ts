import { move } from 'piscina'
import type { QueryThreadTimes } from '../telemetry/counts/queryThreadTimes.js'
import { BatchSlots, type BatchTask, type SlotMemory } from './batchSlots.js'
import { type BatchRunner, isTrap } from './runBatch.js'

/** The function that Piscina calls in the worker. It returns nothing if the reply is in the slot, else the reply, transferred. */
export function createWorkerTask(
  memory: SlotMemory,
  runner: BatchRunner,
  times: Pick<QueryThreadTimes, 'begin' | 'end'>,
): (task: BatchTask) => Promise<unknown> {
  const slots = new BatchSlots(memory)
  const isAnyWaiting = (): boolean => slots.isAnyWaiting()
  return async (task) => {
    times.begin()
    try {
      const reply = runner.runInSlices(slots.takeQueries(task), slots.replyOf(task.slot), isAnyWaiting)
      return sent(reply instanceof Promise ? await reply : reply)
    } catch (error) {
      if (!isTrap(error)) throw error
      return endThread(error)
    } finally {
      times.end()
    }
  }
}

function sent(reply: ArrayBuffer | undefined): unknown {
  return reply === undefined ? undefined : move(reply)
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
