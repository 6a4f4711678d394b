/** Name and value, written in order. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export const METHODS = 'GET, HEAD, OPTIONS'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Headers that a browser's script may read. */
const EXPOSED = 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'
const ACCEPTED = 'Accept, Authorization, Content-Type, If-None-Match, X-API-Key, X-Request-Id'
const PREFLIGHT_SEC = 86_400

export interface CorsHeaders {
  /** On every answer. */
  readonly always: HeaderList
  /** On the answer to OPTIONS, besides. */
  readonly preflight: HeaderList
}

/**
 * @param cors `*`, one origin, or `off` where a proxy in front adds these headers: sent twice they are void.
 */
export function corsHeaders(cors: string): CorsHeaders {
  if (cors === 'off') return { always: [], preflight: [] }
  return {
    always: [
      ['Access-Control-Allow-Origin', cors],
      ['Access-Control-Expose-Headers', EXPOSED],
    ],
    preflight: [
      ['Access-Control-Allow-Methods', METHODS],
      ['Access-Control-Allow-Headers', ACCEPTED],
      ['Access-Control-Max-Age', String(PREFLIGHT_SEC)],
    ],
  }
}

const statusTexts: Readonly<Record<number, string>> = {
  200: '200 OK',
  204: '204 No Content',
  400: '400 Bad Request',
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
