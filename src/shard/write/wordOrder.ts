/** Positions that stand beside a word in one number: 32 + 21 bits are exact, and numbers are sorted natively. */
export const MOST_SORTED = 2 ** 21

/**
 * Orders positions by the uint32 that stands there, those with the same one as they came.
 * @param words by position, MOST_SORTED at most; what is left in their place is word · MOST_SORTED + position, ascending.
 */
export function orderByWord(words: Float64Array): void {
  for (let position = 0; position < words.length; position++)
    words[position] = words[position]! * MOST_SORTED + position
  words.sort()
}

/**
 * The word of `placed`, at position 0: `placed` less it is the position. By subtraction: a remainder of numbers above 2^32 is a
 * call into C.
 */
export function wordStart(placed: number): number {
  return Math.floor(placed / MOST_SORTED) * MOST_SORTED
}
