import { hashNode } from './hashNode'
import { DEPTH, ZERO_HASHES } from './layout'

/** Z0 = 32 zero bytes, Z(h + 1) = keccak(Zh ‖ Zh). */
export function fillZeroHashes(): void {
  for (let h = 0; h < DEPTH; h++) {
    const zero = ZERO_HASHES + 32 * h
    hashNode(zero, zero, zero + 32)
  }
}
