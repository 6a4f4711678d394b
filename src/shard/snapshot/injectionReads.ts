import { InvariantError } from '../../errors/invariantError.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { BlockNumber, NetworkId } from '../../protocol/units.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeGerState, decodeInjectedGerEntry } from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { SnapshotState } from './snapshotState.js'

/** One injection of a global exit root. */
interface Injection {
  readonly ordinal: number
  /** Where the manager has no events: the block as of which the root was found. */
  readonly blockNumber: BlockNumber
}

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
    return decodeInjectedGerEntry(new Uint8Array(this.#entryOf(ordinal))).globalExitRoot
  }

  /** Whether the root was injected and not removed since; undefined for one that was never injected. */
  isInForce(globalExitRoot: Hash): boolean | undefined {
    const state = this.#view.get('gerStates', globalExitRoot)
    return state === undefined ? undefined : decodeGerState(state).isInForce
  }

  /** The newest injection of a root, in force or not; undefined for one that was never injected. */
  find(globalExitRoot: Hash): Injection | undefined {
    const state = this.#view.get('gerStates', globalExitRoot)
    if (state === undefined) return undefined
    const ordinal = decodeGerState(state).injectionOrdinal
    return { ordinal, blockNumber: decodeInjectedGerEntry(this.#entryOf(ordinal)).blockNumber }
  }

  #entryOf(ordinal: number): Uint8Array {
    const entry = this.#view.get('injectedGers', uint32Key(ordinal))
    if (entry === undefined)
      throw new InvariantError(
        `network ${this.#networkId}: injection ${ordinal} is missing, ${this.count} are counted`,
        { networkId: this.#networkId },
      )
    return entry
  }
}
