import type { ChainClient } from '../../chain/chainClient.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'

const LOOK_EVERY_MS = 500
/** A request is silent after a second at the earliest (`src/chain/client/silence.ts`). */
const FIRST_LOOK_MS = 1_000

export interface SilenceWatchOptions {
  readonly client: Pick<ChainClient, 'awaitsAnswer' | 'untilAsked' | 'isSilent' | 'isDown' | 'probe'>
  readonly clock: Clock
  readonly report: Pick<SyncReport, 'rpcDown'>
}

/**
 * Reports endpoints that accept requests and never answer, long before those requests time out. It runs beside the sync loop, which
 * is waiting for one of them meanwhile. A slow endpoint must not be reported: so each endpoint is asked for its newest block
 * number first, which is quick to answer. Ends with the signal.
 */
export async function watchSilence(
  { client, clock, report }: SilenceWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let isProbed = false
  let isReported = false
  while (!signal.aborted) {
    const restMs = client.awaitsAnswer() ? LOOK_EVERY_MS : FIRST_LOOK_MS
    // While nothing was asked nothing can be silent, and the thread need not wake.
    await client.untilAsked(signal)
    await clock.sleep(restMs, signal).catch(() => undefined)
    if (signal.aborted) return
    // One probe for each silence, even if it lasts for hours.
    if (client.isSilent() && !isProbed) await client.probe(signal)
    if (signal.aborted) return
    isProbed = client.isSilent()
    if (isProbed) report.rpcDown(true)
    // The loop reports the end as well, but only when it asks for the head: in backfill that may be hours away.
    else if (isReported) report.rpcDown(client.isDown())
    isReported = isProbed
  }
}
