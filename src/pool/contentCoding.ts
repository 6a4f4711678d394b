import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, gzip, gzipSync, constants as zlib } from 'node:zlib'

/** How a body may be coded on the wire. Of codings that a client likes equally, the first is used. */
export const contentCodings = ['br', 'gzip', 'identity'] as const
export type ContentCoding = (typeof contentCodings)[number]

/** For a shorter body, compression saves less than it costs in headers and time. */
export const MIN_CODED_BYTES = 1_024
/** Compressing a longer body would hold up the thread for a second. No page is that long, only an answer with very long metadata. */
const MAX_CODED_BYTES = 16 * 1024 ** 2

/** The cheap levels shrink pages to a fifth already; the next ones take twice the time for a few percent. */
const GZIP_OPTIONS = { level: 1 }
const BROTLI_OPTIONS = { params: { [zlib.BROTLI_PARAM_QUALITY]: 3 } }

/** Whether a body of this length is compressed when a client asks for it. */
export function isWorthCoding(length: number): boolean {
  return length >= MIN_CODED_BYTES && length <= MAX_CODED_BYTES
}

/** Compresses a body. It takes time in proportion to the size, so only query threads call it, and the front at the start. */
export function encodeBody(body: Uint8Array, coding: Exclude<ContentCoding, 'identity'>): Uint8Array {
  return coding === 'br' ? brotliCompressSync(body, BROTLI_OPTIONS) : gzipSync(body, GZIP_OPTIONS)
}

const codeGzip = promisify(gzip)
const codeBrotli = promisify(brotliCompress)

/** As few steps as possible: between two of them the result waits for this thread. */
const ASIDE = { chunkSize: 1024 ** 2 }

/** As `encodeBody`, with the same bytes, while this thread does other things. The body must stay as it is until then. */
export function encodeAside(
  body: Uint8Array,
  coding: Exclude<ContentCoding, 'identity'>,
): Promise<Uint8Array> {
  return coding === 'br'
    ? codeBrotli(body, { ...BROTLI_OPTIONS, ...ASIDE })
    : codeGzip(body, { ...GZIP_OPTIONS, ...ASIDE })
}
