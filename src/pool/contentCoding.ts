import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'

/** How a body may be coded on the wire. Of codings that a client likes equally, the first is used. */
export const contentCodings = ['br', 'gzip', 'identity'] as const
export type ContentCoding = (typeof contentCodings)[number]

/** For a shorter body, compression saves less than it costs in headers and time. */
export const MIN_CODED_BYTES = 1_024
/** Compressing a longer body would hold up the thread for a second. No page is that long, only an answer with very long metadata. */
export const MAX_CODED_BYTES = 16 * 1024 ** 2

/** The cheap levels shrink pages to a fifth already; the next ones take twice the time for a few percent. */
const GZIP_OPTIONS = { level: 1 }
const BROTLI_OPTIONS = { params: { [zlib.BROTLI_PARAM_QUALITY]: 3 } }

/** Compresses a body. It takes time in proportion to the size, so only query threads call it, and the front at the start. */
export function encodeBody(body: Uint8Array, coding: Exclude<ContentCoding, 'identity'>): Uint8Array {
  return coding === 'br' ? brotliCompressSync(body, BROTLI_OPTIONS) : gzipSync(body, GZIP_OPTIONS)
}
