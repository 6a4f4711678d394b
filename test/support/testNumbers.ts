/** Numbers 0 … 1 from a seed: small, and the same everywhere (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Pseudo-random choices for test worlds, the same on every run of one seed. */
export class TestNumbers {
  readonly #random: () => number

  /** @param source a seed, or numbers 0 … 1. */
  constructor(source: number | (() => number)) {
    this.#random = typeof source === 'number' ? randomNumbers(source) : source
  }

  /** 0 … limit − 1. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }

  /** 32 bytes that no other call returns. */
  freshHash(): Uint8Array {
    return Uint8Array.from({ length: 32 }, () => this.below(256))
  }
}
