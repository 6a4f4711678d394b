import { keccak_256 } from '@noble/hashes/sha3.js'

/** Pseudo-random choices for test worlds, the same on every run of one seed. */
export class TestNumbers {
  #state: number
  #serial = 0
  readonly #salt: number

  constructor(seed: number) {
    this.#state = seed >>> 0
    this.#salt = seed >>> 0
  }

  /** 0 … limit − 1. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * limit)
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
