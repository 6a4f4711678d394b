/** Bytes of a word of the ABI. */
export const WORD = 32

/** Whether memory, seen by 32 bits, is zero. @param start in bytes, and so is `length`; both multiples of 4. */
export function isZero(words: Int32Array, start: number, length: number): boolean {
  const end = (start + length) / 4
  for (let index = start / 4; index < end; index++) if (words[index] !== 0) return false
  return true
}

/** As the contracts and the stores' keys have it; values of the stores are little-endian. */
export function readUint32BigEndian(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>>
    0
  )
}

/** Copies a few bytes: for less than some hundred of them `set` with a view takes longer (Node 20). */
export function copyBytes(
  from: Uint8Array,
  atFrom: number,
  length: number,
  to: Uint8Array,
  atTo: number,
): void {
  for (let index = 0; index < length; index++) to[atTo + index] = from[atFrom + index]!
}
