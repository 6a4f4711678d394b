import { keccak_256 } from '@noble/hashes/sha3.js'

/** Pseudo-random choices for test worlds, the same on every run of one seed. */
export class TestNumbers {
  #serial = 0
  readonly #salt: number
  readonly #random: () => number

  /** @param source a seed, or numbers 0 … 1. */
  constructor(source: number | (() => number)) {
    this.#salt = typeof source === 'number' ? source >>> 0 : 0
    let state = this.#salt
    const next = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32
    }
    this.#random = typeof source === 'number' ? next : source
  }

  /** 0 … limit − 1. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  chance(share: number): boolean {
    return this.below(1000) < 1000 * share
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }

  /** 32 bytes that no other call returns. */
  freshHash(): Uint8Array {
    return keccak_256(Buffer.from(`${this.#salt}/${this.#serial++}`))
  }
}
