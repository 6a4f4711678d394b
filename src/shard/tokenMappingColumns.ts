import type { NetworkId } from '../protocol/units.js'
import type { ShardView } from './shardView.js'

/** What filters and the order over all networks need of the token mappings of one network. */
export class TokenMappingColumn {
  /** By ordinal; never falls. */
  readonly timestampsSec: number[] = []
  /** Ordinals by home network of the token, ascending. */
  readonly byOriginNetwork = new Map<NetworkId, number[]>()

  get length(): number {
    return this.timestampsSec.length
  }

  add(originNetwork: NetworkId, timestampSec: number): void {
    const ordinals = this.byOriginNetwork.get(originNetwork)
    if (ordinals === undefined) this.byOriginNetwork.set(originNetwork, [this.length])
    else ordinals.push(this.length)
    this.timestampsSec.push(timestampSec)
  }
}

/** Kept by each pool worker; a column grows with the mappings, and starts anew after a reorg. */
export class TokenMappingColumns {
  readonly #kept = new Map<NetworkId, { readonly epoch: number; readonly column: TokenMappingColumn }>()

  of(view: ShardView): TokenMappingColumn {
    const { epoch, counters } = view.state
    let kept = this.#kept.get(view.networkId)
    if (kept === undefined || kept.epoch !== epoch) {
      kept = { epoch, column: new TokenMappingColumn() }
      this.#kept.set(view.networkId, kept)
    }
    const { column } = kept
    while (column.length < counters.tokenMappings) {
      const { originNetwork, timestampSec } = view.getTokenMapping(column.length)
      column.add(originNetwork, timestampSec)
    }
    return column
  }
}
