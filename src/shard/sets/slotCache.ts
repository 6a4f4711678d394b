/**
 * A cache by number in which each number has one slot; a newer number replaces the older one in its slot. A look-up is two array
 * reads, where a map that keeps the order of use takes 0.1 µs. Slots come from a hash of the number, so that two series of
 * numbers that are read in turn do not replace each other in every slot.
 */
export class SlotCache<Value> {
  readonly #numbers: Float64Array
  readonly #values: (Value | undefined)[]

  constructor(slots: number) {
    this.#numbers = new Float64Array(slots).fill(-1)
    this.#values = new Array<Value | undefined>(slots).fill(undefined)
  }

  get(number: number): Value | undefined {
    const slot = this.#slotOf(number)
    return this.#numbers[slot] === number ? this.#values[slot] : undefined
  }

  set(number: number, value: Value): void {
    const slot = this.#slotOf(number)
    this.#numbers[slot] = number
    this.#values[slot] = value
  }

  clear(): void {
    this.#numbers.fill(-1)
    this.#values.fill(undefined)
  }

  /** Fibonacci hashing. @see Knuth, The Art of Computer Programming, volume 3, 6.4 */
  #slotOf(number: number): number {
    return Math.floor(((Math.imul(number, 0x9e37_79b1) >>> 0) / 2 ** 32) * this.#numbers.length)
  }
}
