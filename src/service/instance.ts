import { Worker } from 'node:worker_threads'
import { OperatorError } from '../errors/operatorError.js'
import type { StopMessage } from '../indexer/indexerMessages.js'
import type { InstanceData, RenewalMessage } from '../member/instanceThread.js'
import { bundledThread } from '../telemetry/buildInfo.js'

/** The thread of an instance of a cluster, beside those of its networks. */
export interface InstanceHandle {
  /** Resolves when the thread has ended, asked or not. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/**
 * Starts it.
 * @param onRenewal is called once at most.
 * @param fail is called when it dies.
 */
export function startInstance(
  data: InstanceData,
  onRenewal: (message: RenewalMessage) => void,
  fail: (error: Error) => void,
): InstanceHandle {
  const worker = new Worker(bundledThread('instance.worker'), { name: 'instance', workerData: data })
  worker.on('message', onRenewal)
  worker.on('error', (error) =>
    fail(
      new OperatorError(`the thread of the instance ended: ${(error as Error).message}`, { cause: error }),
    ),
  )
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve())
  })
  return {
    ended,
    stop: () => {
      worker.postMessage({ type: 'stop' } satisfies StopMessage)
      return ended
    },
  }
}
