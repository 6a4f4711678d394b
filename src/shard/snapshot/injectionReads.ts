import { InvariantError } from '../../errors/invariantError.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeGerState, decodeInjectedGerEntry } from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { copyOf } from './chunkReader.js'
import type { SnapshotState } from './snapshotState.js'

/** Global exit roots that were injected into one network's manager. */
export class InjectionReads {
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly #networkId: NetworkId

  constructor(view: ReadView, state: SnapshotState, networkId: NetworkId) {
    this.#view = view
    this.#state = state
    this.#networkId = networkId
  }

  get epoch(): number {
    return this.#state.epoch
  }

  get count(): number {
    return this.#state.counters.gerInjections
  }

  get removalCount(): number {
    return this.#state.counters.gerRemovals
  }

  /** Global exit root of an injection. @param ordinal must be below `count`. @returns fresh memory. */
  getGer(ordinal: number): Hash {
    const entry = copyOf(this.#view.get('injectedGers', uint32Key(ordinal)))
    if (entry === undefined)
      throw new InvariantError(
        `network ${this.#networkId}: injection ${ordinal} is missing, ${this.count} are counted`,
        { networkId: this.#networkId },
      )
    return decodeInjectedGerEntry(entry).globalExitRoot
  }

  /** Whether the root was injected and not removed since. */
  isInForce(globalExitRoot: Hash): boolean {
    const state = this.#view.get('gerStates', globalExitRoot)
    return state !== undefined && decodeGerState(state).isInForce
  }
}
