import { hash } from 'node:crypto'
import { MIN_TEXT_BYTES, type TextDigest } from '../wasm/textDigest.js'

/** Characters of a tag: base64url of 128 bits or more. */
export const TAG_LENGTH = 22

/** SHA-256 of a body, cut to 132 bits: for short bodies, and for documents, which are made once. */
export function digestTag(body: Uint8Array): string {
  return hash('sha256', body, 'base64url').slice(0, TAG_LENGTH)
}

/** Writes the tag of `body` as `TAG_LENGTH` ASCII characters from `target[at]` on. */
export type WriteTag = (body: Uint8Array, target: Uint8Array, at: number) => void

/**
 * Makes the writer of tags: XXH3-128 by `digest`, SHA-256 for short bodies and without `digest`.
 *
 * A tag depends only on the bytes. Equal bytes have the same tag on every replica and after every restart, so a client can
 * revalidate its copy at any replica. Different bytes have different tags, but for a chance of 1 in 2^128. A tag made from
 * versions and counters would change with each commit, though hardly any page does, and would differ between replicas.
 *
 * XXH3-128 does not resist a search for collisions. An attacker who found one could put it into the metadata of two deposits
 * of their own and swap these in a reorg: caches that hold the first page would then keep it until that page changes again.
 * That harms nobody's deposits but the attacker's. SHA-256 took 35 µs for a page of 100, a third of the worker's time; XXH3
 * takes 5 µs, including the copy into the module's memory (November 2026, Node 20).
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
