import { DIGEST, STATE } from './layout'
import { permute } from './permute'

/** Block of keccak-256: 1088 bits. */
const RATE: i32 = 136

/** Bytes of the current block that are taken. */
let filled: i32 = 0

/** Starts a new message. */
export function startMessage(): void {
  memory.fill(STATE, 0, 200)
  filled = 0
}

/** Takes the next bytes of the message; any length, any split. */
export function absorb(bytes: usize, length: i32): void {
  while (length > 0) {
    const piece = min(RATE - filled, length)
    xorInto(STATE + filled, bytes, piece)
    bytes += piece
    length -= piece
    filled += piece
    if (filled == RATE) {
      permute(STATE)
      filled = 0
    }
  }
}

/**
 * Ends the message. Keccak's padding, not SHA-3's: the first padding byte is 0x01, the last one gets 0x80.
 * @param out takes the 32 bytes of the digest.
 */
export function finishMessage(out: usize): void {
  store<u8>(STATE + filled, load<u8>(STATE + filled) ^ 0x01)
  store<u8>(STATE + RATE - 1, load<u8>(STATE + RATE - 1) ^ 0x80)
  permute(STATE)
  memory.copy(out, STATE, 32)
}

function xorInto(target: usize, bytes: usize, length: i32): void {
  let i = 0
  for (; i + 8 <= length; i += 8) store<u64>(target + i, load<u64>(target + i) ^ load<u64>(bytes + i))
  for (; i < length; i++) store<u8>(target + i, load<u8>(target + i) ^ load<u8>(bytes + i))
}
