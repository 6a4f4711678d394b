/** Bytes of one ABI word. */
export const WORD = 32

/** Whether a stretch of memory is all zeros. @param start and `length`: in bytes, multiples of 4. */
export function isZero(words: Int32Array, start: number, length: number): boolean {
  const end = (start + length) / 4
  for (let index = start / 4; index < end; index++) if (words[index] !== 0) return false
  return true
}

/** Contracts and the keys of the store are big-endian; values in the store are little-endian. */
export function readUint32BigEndian(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>>
    0
  )
}

/** Copies a few bytes: up to about a hundred, this is faster than `set` with a view (Node 20). */
export function copyBytes(
  from: Uint8Array,
  atFrom: number,
  length: number,
  to: Uint8Array,
  atTo: number,
): void {
  for (let index = 0; index < length; index++) to[atTo + index] = from[atFrom + index]!
}

/** Whether two byte arrays, hashes among them, hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
