/** A growing array of uint32. Holds one derived number per L1 info leaf or settlement, 4 bytes each. */
export class Uint32Column {
  #values = new Uint32Array(64)
  #length = 0
  /** The last result of `firstAbove`: the next call mostly asks for a neighbouring row, which mostly has the same result. */
  #found = 0

  get length(): number {
    return this.#length
  }

  /** @returns the value at `position`, which must be below `length`. */
  at(position: number): number {
    return this.#values[position]!
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Uint32Array(2 * this.#length)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.#length++] = value
  }

  set(position: number, value: number): void {
    this.#values[position] = value
  }

  /** Inserts before `position` and moves the rest up. */
  insert(position: number, value: number): void {
    this.push(value)
    this.#values.copyWithin(position + 1, position, this.#length - 1)
    this.#values[position] = value
  }

  truncate(length: number): void {
    this.#length = length
  }

  /** First position below `end` whose value is above `value`; `end` if there is none. Only for columns in ascending order. */
  firstAbove(value: number, end: number = this.#length): number {
    const values = this.#values
    const found = this.#found
    if (found < end && values[found]! > value && (found === 0 || values[found - 1]! <= value)) return found
    let low = 0
    let high = end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (values[middle]! > value) high = middle
      else low = middle + 1
    }
    this.#found = low
    return low
  }
}
