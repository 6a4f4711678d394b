import type { ContentCoding } from '../../pool/contentCoding.js'

/** Name and value, written in order. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export const METHODS = 'GET, HEAD, OPTIONS'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Headers that a browser's script may read. */
const EXPOSED = 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Data-Block, X-Feed-Position, X-Request-Id'
const ACCEPTED = 'Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id'
const PREFLIGHT_SEC = 86_400

export interface CorsHeaders {
  /** Header lines on every answer. */
  readonly always: string
  /** Header lines that the answer to OPTIONS has in addition. */
  readonly preflight: string
}

/**
 * @param cors `*`, one origin, or `off` where a proxy in front adds these headers: browsers reject them when sent twice.
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
 * Headers as text that is appended to the value of another header. A call into uWebSockets.js costs more than the text of
 * five headers, and it copies values as they are, so all headers of an answer go in one call. What a client sent must be
 * checked before it goes into `headers`: a line break in it would start a new header.
 */
export function headerLines(headers: HeaderList): string {
  let lines = ''
  for (const [name, value] of headers) lines += `\r\n${name}: ${value}`
  return lines
}

/** Header lines that describe a JSON body. */
export function contentLines(coding: ContentCoding): string {
  return coding === 'identity' ? JSON_LINES : CODED_LINES[coding]
}

/** Header line that tells where the feeds were before an answer was made. @param position '' for none. */
export function positionLine(position: string): string {
  return position === '' ? '' : headerLines([['X-Feed-Position', position]])
}

/** Header line of answers that exist in more than one coding. */
export const VARY_LINE = headerLines([['Vary', 'Accept-Encoding']])

export const JSON_LINES = headerLines([['Content-Type', JSON_TYPE]])

const CODED_LINES = {
  br: JSON_LINES + headerLines([['Content-Encoding', 'br']]),
  gzip: JSON_LINES + headerLines([['Content-Encoding', 'gzip']]),
}

const statusTexts: Readonly<Record<number, string>> = {
  101: '101 Switching Protocols',
  200: '200 OK',
  204: '204 No Content',
  302: '302 Found',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  410: '410 Gone',
  414: '414 URI Too Long',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
  504: '504 Gateway Timeout',
  505: '505 HTTP Version Not Supported',
}

export function statusLine(status: number): string {
  return statusTexts[status] ?? `${status} Unknown`
}

/** The value of `ETag`. It is a strong tag, so each coding of an answer has its own: other bytes need another tag. */
export function entityTag(tag: string, coding: ContentCoding): string {
  return coding === 'identity' ? `"${tag}"` : `"${tag}-${coding}"`
}

/** `If-None-Match` of a client that has some answer already, whatever its tag. */
export const ANY_TAG = '*'

/**
 * Whether `If-None-Match` names `etag`. A leading `W/` is ignored, as the standard asks for here: proxies that compress bodies
 * themselves put it in front of our tags.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch === etag || ifNoneMatch === ANY_TAG || hasItem(ifNoneMatch, etag)
}

/** Whether `item` stands between commas, blanks and `W/` aside. Not `split`: a client may send kilobytes of commas. */
function hasItem(list: string, item: string): boolean {
  for (let at = list.indexOf(item); at >= 0; at = list.indexOf(item, at + item.length)) {
    let before = at
    if (list.startsWith('W/', at - 2)) before -= 2
    while (isBlank(list[before - 1])) before--
    let behind = at + item.length
    while (isBlank(list[behind])) behind++
    if ((before === 0 || list[before - 1] === ',') && (behind === list.length || list[behind] === ','))
      return true
  }
  return false
}

function isBlank(letter: string | undefined): boolean {
  return letter === ' ' || letter === '\t'
}
