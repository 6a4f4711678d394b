import type { BlockHeader } from './chainEvent.js'

/** Headers of the far history may come without their parent's hash, as zeros. Block 0 has no parent. */
export function tellsParent({ number, parentHash }: BlockHeader): boolean {
  return number === 0 || parentHash.some((byte) => byte !== 0)
}
