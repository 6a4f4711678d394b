import { hash } from 'node:crypto'
import { TAG_LENGTH } from './messages.js'

/**
 * Digest of a body, for its entity tag: the same for the same bytes on every replica and after every restart. SHA-256 cut
 * to 132 bits, because senders choose the metadata in an answer: nobody may make two bodies with one tag.
 */
export function digestTag(body: Uint8Array): string {
  return hash('sha256', body, 'base64url').slice(0, TAG_LENGTH)
}
