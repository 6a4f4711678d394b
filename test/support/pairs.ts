import type { SmallWorld } from './fakeChainScenario.js'

/** What other services are asked and answer. */

/** A request and all of its answer. */
export interface Exchanged {
  /** What stands in the path, in the place of the endpoint's `{name}`. */
  readonly value?: string
  /** Query string; '' for none. */
  readonly query: string
  readonly status?: number
  readonly body: string
}

export interface Pair {
  /** Below the base path. */
  readonly endpoint: string
  /** What is asked in these requests. */
  readonly about: string
  /** How we stand to the original. */
  readonly verdict: 'same' | 'better' | 'differs'
  readonly why?: string
  exchanged(small: SmallWorld): readonly Exchanged[]
}
