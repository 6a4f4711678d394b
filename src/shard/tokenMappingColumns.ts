import type { NetworkId } from '../protocol/units.js'
import type { ShardView } from './shardView.js'

/** What filters and the order over all networks need of each token mapping of one network, by ordinal. */
export interface TokenMappingColumn {
  readonly originNetworks: readonly NetworkId[]
  /** Never falls. */
  readonly timestampsSec: readonly number[]
}

interface Kept {
  readonly epoch: number
  readonly originNetworks: NetworkId[]
  readonly timestampsSec: number[]
}

/** Kept by each pool worker; grows with the mappings, starts anew after a reorg. */
export class TokenMappingColumns {
  readonly #kept = new Map<NetworkId, Kept>()

  of(view: ShardView): TokenMappingColumn {
    const { epoch, counters } = view.state
    let kept = this.#kept.get(view.networkId)
    if (kept === undefined || kept.epoch !== epoch) {
      kept = { epoch, originNetworks: [], timestampsSec: [] }
      this.#kept.set(view.networkId, kept)
    }
    for (let ordinal = kept.originNetworks.length; ordinal < counters.tokenMappings; ordinal++) {
      const { originNetwork, timestampSec } = view.getTokenMapping(ordinal)
      kept.originNetworks.push(originNetwork)
      kept.timestampsSec.push(timestampSec)
    }
    return kept
  }
}
