import type { ChainClient } from '../chain/chainClient.types.js'
import type { Clock } from '../chain/clock.js'
import type { SyncReport } from './syncReport.js'

const LOOK_EVERY_MS = 500

export interface SilenceWatchOptions {
  readonly client: Pick<ChainClient, 'isSilent' | 'isDown' | 'probe'>
  readonly clock: Clock
  readonly report: Pick<SyncReport, 'rpcDown'>
}

/**
 * Tells of endpoints that take questions and say nothing, long before those questions run out of time: beside the sync loop, which
 * waits for one of them. What is slow is not silent: before that counts, each endpoint is asked for something that costs it nothing.
 * Ends with the signal.
 */
export async function watchSilence(
  { client, clock, report }: SilenceWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let isProbed = false
  let isTold = false
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    // Once for each silence: an outage of hours costs no more.
    if (client.isSilent() && !isProbed) await client.probe(signal)
    if (signal.aborted) return
    isProbed = client.isSilent()
    if (isProbed) report.rpcDown(true)
    // The loop tells it, too, but only at its next look at the head: in backfill that may be hours away.
    else if (isTold) report.rpcDown(client.isDown())
    isTold = isProbed
  }
}
