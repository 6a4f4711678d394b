/** Number of positions that fit beside a uint32 in one number: 32 + 21 bits are exact, and typed arrays sort numbers natively. */
export const MOST_SORTED = 2 ** 21

/**
 * Sorts positions by their word; positions with the same word keep their order.
 * @param words at most MOST_SORTED uint32, by position. They are replaced by word · MOST_SORTED + position, ascending.
 */
export function orderByWord(words: Float64Array): void {
  for (let position = 0; position < words.length; position++)
    words[position] = words[position]! * MOST_SORTED + position
  words.sort()
}

/**
 * The part word · MOST_SORTED of a sorted number. The position is the number minus this part: a remainder would be slower, because V8
 * computes it with a call into C for numbers above 2^32.
 */
export function wordStart(placed: number): number {
  return Math.floor(placed / MOST_SORTED) * MOST_SORTED
}
