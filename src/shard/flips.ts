/** Flips that are kept: some minutes of claims. Who falls further behind starts anew. */
const KEPT = 16_384

/** Ordinals whose state changed, in the order in which that was noticed. Each reader keeps its own position. */
export class Flips {
  readonly #ring = new Uint32Array(KEPT)
  #end = 0

  /** Position behind the newest flip. */
  get end(): number {
    return this.#end
  }

  push(ordinal: number): void {
    this.#ring[this.#end++ % KEPT] = ordinal
  }

  /** So much changed that it is not told one by one. */
  pushEverything(): void {
    this.#end += KEPT + 1
  }

  /** What flipped since `position`; undefined when that is no longer known. */
  since(position: number): number[] | undefined {
    if (this.#end - position > KEPT) return undefined
    const flipped: number[] = []
    for (let at = position; at < this.#end; at++) flipped.push(this.#ring[at % KEPT]!)
    return flipped
  }
}
