import type { ChainClient } from '../chain/chainClient.types.js'
import type { Clock } from '../chain/clock.js'
import type { SyncReport } from './syncReport.js'

const LOOK_EVERY_MS = 500

export interface SilenceWatchOptions {
  readonly client: Pick<ChainClient, 'isSilent' | 'probe'>
  readonly clock: Clock
  readonly report: Pick<SyncReport, 'rpcDown'>
}

/**
 * Tells of endpoints that take questions and say nothing, long before those questions run out of time: beside the sync loop, which
 * waits for one of them. What is slow is not silent: before that counts, each endpoint is asked for something that costs it nothing.
 * Ends with the signal; that somebody answers again is told by whoever is answered.
 */
export async function watchSilence(
  { client, clock, report }: SilenceWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let isProbed = false
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    if (!client.isSilent()) isProbed = false
    else {
      // Once for each silence: an outage of hours costs no more.
      if (!isProbed) await client.probe(signal)
      isProbed = true
      if (client.isSilent() && !signal.aborted) report.rpcDown(true)
    }
  }
}
