import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'

/** How a body is coded on the wire. The order is ours where a client likes two alike. */
export const contentCodings = ['br', 'gzip', 'identity'] as const
export type ContentCoding = (typeof contentCodings)[number]

/** Below this a coded body saves less than its own headers and time cost. */
export const MIN_CODED_BYTES = 1_024
/** Above it the thread would be held up for a second, for metadata that hardly shrink. No page is that large. */
export const MAX_CODED_BYTES = 16 * 1024 ** 2

/** Pages shrink to a fifth at the cheap levels already; the next ones take twice the time for some percent. */
const GZIP_OPTIONS = { level: 1 }
const BROTLI_OPTIONS = { params: { [zlib.BROTLI_PARAM_QUALITY]: 3 } }

/** `body` in another coding. For a pool worker or for what is made once: it takes as long as the body is large. */
export function encodeBody(body: Uint8Array, coding: Exclude<ContentCoding, 'identity'>): Uint8Array {
  return coding === 'br' ? brotliCompressSync(body, BROTLI_OPTIONS) : gzipSync(body, GZIP_OPTIONS)
}
