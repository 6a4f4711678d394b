import type { TreeHasher } from '../../src/merkle/hasher.js'
import type { ChainEvent } from '../../src/protocol/chainEvent.js'
import { encodeHex } from '../../src/protocol/hex.js'

/** An L1 info leaf that a destination accepts. */
interface UsableLeaf {
  readonly destination: number
  /** Number of network 0's deposits that it covers. */
  readonly covered: number
  readonly index: number
}

/** For a destination that is not indexed, so that every leaf may be used. */
const NOT_INDEXED = 77

/** Computes from the traffic's events which leaves can be used at which destination. */
export class UsableLeaves {
  readonly usable: UsableLeaf[] = []
  readonly #hasher: TreeHasher
  readonly #byGer = new Map<string, Omit<UsableLeaf, 'destination'>>()
  #leaves = 0
  #deposits = 0

  constructor(hasher: TreeHasher) {
    this.#hasher = hasher
  }

  add(networkId: number, event: ChainEvent): void {
    if (event.type === 'deposit') this.#deposits = event.depositCount + 1
    else if (event.type === 'l1InfoLeaf') {
      const leaf = { index: this.#leaves++, covered: this.#deposits }
      this.#byGer.set(encodeHex(this.#hasher.hashPair(event.mainnetExitRoot, event.rollupExitRoot)), leaf)
      this.usable.push({ destination: NOT_INDEXED, ...leaf })
    } else if (event.type === 'gerInjected')
      this.usable.push({ destination: networkId, ...this.#byGer.get(encodeHex(event.globalExitRoot))! })
  }

  /** By indexed destination: deposits below this count are ready unless they are claimed. */
  watermarks(): Map<number, number> {
    const watermarks = new Map<number, number>()
    for (const { destination, covered } of this.usable)
      if (destination !== NOT_INDEXED) watermarks.set(destination, covered)
    return watermarks
  }
}
