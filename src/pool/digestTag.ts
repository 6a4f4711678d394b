import { hash } from 'node:crypto'
import { MIN_TEXT_BYTES, type TextDigest } from '../wasm/textDigest.js'

/** Characters of a tag: base64url of 128 bits and more. */
export const TAG_LENGTH = 22

/** SHA-256 of a body, cut to 132 bits: for what is made once. */
export function digestTag(body: Uint8Array): string {
  return hash('sha256', body, 'base64url').slice(0, TAG_LENGTH)
}

/** Writes the tag of `body` as `TAG_LENGTH` ASCII characters from `target[at]` on. */
export type WriteTag = (body: Uint8Array, target: Uint8Array, at: number) => void

/**
 * Tags are made of the bytes alone: the same for the same bytes on every replica and after every restart, so that a client
 * keeps what it has whichever replica it asks, and never the same for other bytes of one URL: two in 2^128 meet by chance.
 * A tag of versions and counters would change with each commit though hardly a page does, and be another on each replica.
 *
 * XXH3-128 is not made to resist who looks for collisions. Who found one could put it into the metadata of deposits of his
 * own, swap one for the other in a reorg, and so keep caches that have seen the first page from seeing the second before
 * the next change of that page: nothing that a lie to his own wallet would not do. SHA-256 took 35 µs of a page of 100, a
 * third of its worker time; this takes 5, the copy into the module's memory included (November 2026, Node 20).
 */
export function createTagWriter(digest?: TextDigest): WriteTag {
  return (body, target, at) => {
    if (digest !== undefined && body.length >= MIN_TEXT_BYTES) writeBase64(digest(body), target, at)
    else writeText(digestTag(body), target, at)
  }
}

const DIGITS = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', 'latin1')

/** base64url without padding. */
function writeBase64(bytes: Uint8Array, target: Uint8Array, start: number): void {
  let at = start
  let bits = 0
  let held = 0
  for (let index = 0; index < bytes.length; index++) {
    held = ((held & 0x3f) << 8) | bytes[index]!
    bits += 8
    while (bits >= 6) {
      bits -= 6
      target[at++] = DIGITS[(held >> bits) & 0x3f]!
    }
  }
  if (bits > 0) target[at] = DIGITS[(held << (6 - bits)) & 0x3f]!
}

function writeText(text: string, target: Uint8Array, start: number): void {
  for (let place = 0; place < text.length; place++) target[start + place] = text.charCodeAt(place)
}
