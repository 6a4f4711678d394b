import { type EventFilter, eventFilterOf } from '../../src/events/decodeLog.js'
import type { BenchNetwork } from './contenders.js'

/** Whose events are read of a network, and which. */
export function networkFilter(network: BenchNetwork): EventFilter {
  const { bridge, globalExitRootManager, rollupManager } = network
  return eventFilterOf({
    bridge,
    globalExitRootManager,
    ...(rollupManager === undefined ? {} : { rollupManager }),
  })
}
