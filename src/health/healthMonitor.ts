import { statusRow } from '../board/statusBoard.js'
import { monotonicMs, unixMs as wallMs } from '../telemetry/clocks.js'
import type { Phase } from './healthBoard.js'
import { FIRST_SAMPLE, type NetworkSample, sampleNetwork } from './healthSample.js'
import { createHealthSource, type HealthSourceOptions } from './healthSource.js'
import type { HealthSource } from './healthSource.types.js'

/** Health as main finds it out, for itself and, through the health board, for the front threads. */
export interface HealthMonitor extends HealthSource {
  setPhase(phase: Phase): void
  /** Takes one sample of every network. The service calls it once a second. */
  sample(): void
  /** Networks whose indexer thread has sent heartbeats, but none for `heartbeatTimeoutMs` as far as the samples show. */
  silentNetworks(): number[]
}

export function createHealthMonitor(options: HealthSourceOptions): HealthMonitor {
  const { config, status, board, now = monotonicMs, awakeNow = now, unixMs = wallMs } = options
  board.set('startedAtMs', now())
  board.set('startedAtUnixMs', unixMs())
  const rows = config.networks.map(({ networkId }) => ({ networkId, row: statusRow(status, networkId) }))
  const samples = new Map<number, NetworkSample>()
  const tellTime = (): void => {
    board.set('awakeMs', awakeNow())
    board.set('awakeAtMs', now())
  }
  tellTime()
  return {
    ...createHealthSource(options),
    setPhase: (phase) => board.setPhase(phase),
    sample: () => {
      tellTime()
      for (const { networkId, row } of rows) {
        const previous = samples.get(networkId) ?? FIRST_SAMPLE
        const sample = sampleNetwork(previous, row, config.health, awakeNow())
        samples.set(networkId, sample)
        if (sample !== previous) board.setSample(networkId, sample)
      }
    },
    silentNetworks: () =>
      [...samples]
        .filter(
          ([, { life }]) => life.beats > 0 && awakeNow() - life.sinceMs > config.health.heartbeatTimeoutMs,
        )
        .map(([networkId]) => networkId),
  }
}
