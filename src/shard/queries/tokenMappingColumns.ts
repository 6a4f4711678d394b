import type { NetworkId } from '../../protocol/units.js'
import { orderByTime, type TimeOrder } from '../sets/timeline.js'
import type { ShardView } from '../snapshot/shardView.js'

/** The fields of one network's token mappings that filters and the order over all networks need. */
export class TokenMappingColumn {
  /** Indexed by ordinal. */
  readonly #timestampsSec: number[] = []
  /** Ascending ordinals by origin network of the token. */
  readonly byOriginNetwork = new Map<NetworkId, number[]>()
  #doTimesFall = false
  /** undefined until asked for, and again when a mapping is added while times fall. */
  #order: TimeOrder | undefined

  get length(): number {
    return this.#timestampsSec.length
  }

  get order(): TimeOrder {
    this.#order ??= this.#doTimesFall
      ? orderByTime(this.#timestampsSec)
      : { timestampsSec: this.#timestampsSec }
    return this.#order
  }

  add(originNetwork: NetworkId, timestampSec: number): void {
    const ordinals = this.byOriginNetwork.get(originNetwork)
    if (ordinals === undefined) this.byOriginNetwork.set(originNetwork, [this.length])
    else ordinals.push(this.length)
    if (timestampSec < (this.#timestampsSec.at(-1) ?? 0)) this.#doTimesFall = true
    this.#timestampsSec.push(timestampSec)
    if (this.#doTimesFall) this.#order = undefined
  }
}

/** Each query thread keeps one. A network's column grows with its mappings and starts anew after a reorg. */
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
