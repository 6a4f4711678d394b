import type { ContentCoding } from '../../pool/contentCoding.js'

/** Name and value, written in order. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export const METHODS = 'GET, HEAD, OPTIONS'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Headers that a browser's script may read. */
const EXPOSED = 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'
const ACCEPTED = 'Accept, Authorization, Content-Type, If-None-Match, X-API-Key, X-Request-Id'
const PREFLIGHT_SEC = 86_400

export interface CorsHeaders {
  /** Header lines on every answer. */
  readonly always: string
  /** Header lines on the answer to OPTIONS, besides. */
  readonly preflight: string
}

/**
 * @param cors `*`, one origin, or `off` where a proxy in front adds these headers: sent twice they are void.
 */
export function corsHeaders(cors: string): CorsHeaders {
  if (cors === 'off') return { always: '', preflight: '' }
  return {
    always: headerLines([
      ['Access-Control-Allow-Origin', cors],
      ['Access-Control-Expose-Headers', EXPOSED],
    ]),
    preflight: headerLines([
      ['Access-Control-Allow-Methods', METHODS],
      ['Access-Control-Allow-Headers', ACCEPTED],
      ['Access-Control-Max-Age', String(PREFLIGHT_SEC)],
    ]),
  }
}

/**
 * Headers as text that goes behind the value of another header. A call into uWebSockets.js costs more than the text of
 * five headers, so all of an answer's headers go in one: its C++ copies values as they are. Nothing that a client sent may
 * stand in `headers` unless it was checked before.
 */
export function headerLines(headers: HeaderList): string {
  let lines = ''
  for (const [name, value] of headers) lines += `\r\n${name}: ${value}`
  return lines
}

/** What tells of a JSON body. */
export function contentLines(coding: ContentCoding): string {
  return coding === 'identity' ? JSON_LINES : CODED_LINES[coding]
}

/** Behind `Cache-Control` of answers that come in more than one coding. */
export const VARY_LINE = headerLines([['Vary', 'Accept-Encoding']])

export const JSON_LINES = headerLines([['Content-Type', JSON_TYPE]])

const CODED_LINES = {
  br: JSON_LINES + headerLines([['Content-Encoding', 'br']]),
  gzip: JSON_LINES + headerLines([['Content-Encoding', 'gzip']]),
}

const statusTexts: Readonly<Record<number, string>> = {
  200: '200 OK',
  204: '204 No Content',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  414: '414 URI Too Long',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
  504: '504 Gateway Timeout',
}

export function statusLine(status: number): string {
  return statusTexts[status] ?? `${status} Unknown`
}
