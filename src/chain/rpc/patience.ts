import type { Clock } from '../../telemetry/clocks.js'
import { RpcFailure } from './rpcFailure.js'
import type { RpcTransport } from './rpcTransport.js'

/** A look-up had no answer within its patience. That says nothing about the endpoint, nor about the size of its batches. */
export class HeldUp extends RpcFailure {
  constructor(alias: string) {
    super('timeout', `${alias}: no answer to a look-up for a while`)
  }
}

/** The same transport, whose requests end after `patienceMs`. They throw `HeldUp` then. */
export function withPatience(
  transport: RpcTransport,
  patienceMs: number,
  { alias, clock }: { readonly alias: string; readonly clock: Pick<Clock, 'sleep'> },
): RpcTransport {
  async function patiently<T>(send: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const over = new AbortController()
    const ended = new AbortController()
    clock.sleep(patienceMs, AbortSignal.any([signal, ended.signal])).then(
      () => over.abort(),
      () => undefined,
    )
    try {
      return await send(AbortSignal.any([signal, over.signal]))
    } catch (error) {
      signal.throwIfAborted()
      throw over.signal.aborted ? new HeldUp(alias) : error
    } finally {
      ended.abort()
    }
  }
  return {
    request: (call, signal) => patiently((within) => transport.request(call, within), signal),
    requestBatch: (calls, signal) => patiently((within) => transport.requestBatch(calls, within), signal),
  }
}
