/** @returns the first place in `ascending` whose number is at least `value`, which is how many are below it. */
export function firstAtLeast(ascending: readonly number[], value: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
