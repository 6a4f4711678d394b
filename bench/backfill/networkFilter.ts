import { type EventFilter, eventFilterOf } from '../../src/events/decodeLog.js'
import type { BenchNetwork } from './contenders.js'

/** The contracts of a network and the events that are read. */
export function networkFilter(network: BenchNetwork): EventFilter {
  const { bridge, globalExitRootManager, rollupManager } = network
  return eventFilterOf({
    bridge,
    globalExitRootManager,
    ...(rollupManager === undefined ? {} : { rollupManager }),
  })
}
