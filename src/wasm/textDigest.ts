/** Exports of assembly/index.ts that digest texts. */
export interface TextExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly INPUT: { readonly value: number }
  readonly DIGEST: { readonly value: number }
  startText(): void
  absorbBlocks(count: number): void
  finishText(rest: number, length: number): void
}

/**
 * XXH3-128 of a text of at least `MIN_TEXT_BYTES`.
 * @returns 16 bytes, highest first; overwritten by the next call.
 */
export type TextDigest = (text: Uint8Array) => Uint8Array

/** Shorter texts have another algorithm, which nobody needs here. */
export const MIN_TEXT_BYTES = 241

const DIGEST_BYTES = 16
// As in assembly/xxh3.ts.
const BLOCK_BYTES = 1_024
const STRIPE_BYTES = 64
/** Blocks that fit `INPUT` in assembly/layout.ts. */
const PIECE_BLOCKS = 64

export function createWasmTextDigest(wasm: TextExports): TextDigest {
  const { buffer } = wasm.memory
  const input = new Uint8Array(buffer, wasm.INPUT.value, PIECE_BLOCKS * BLOCK_BYTES)
  const digest = new Uint8Array(buffer, wasm.DIGEST.value, DIGEST_BYTES)
  return (text) => {
    if (text.length < MIN_TEXT_BYTES) throw new RangeError(`${text.length} bytes, at least ${MIN_TEXT_BYTES}`)
    wasm.startText()
    // The last block is kept for the end, even when it is whole.
    const end = text.length - 1 - ((text.length - 1) % BLOCK_BYTES)
    let at = 0
    while (at < end) {
      const piece = Math.min(input.length, end - at)
      input.set(text.subarray(at, at + piece))
      wasm.absorbBlocks(piece / BLOCK_BYTES)
      at += piece
    }
    const before = Math.min(STRIPE_BYTES, at)
    input.set(text.subarray(at - before), STRIPE_BYTES - before)
    wasm.finishText(text.length - at, text.length)
    return digest
  }
}
