import { type ContentCoding, encodeBody } from '../pool/contentCoding.js'
import { digestTag } from '../pool/digestTag.js'
import type { Outgoing } from './wire/exchange.js'
import { entityTag, type HeaderList, headerLines } from './wire/headers.js'

/** The routes of documents, as labels of requests. */
export const documentRoutes = ['getOpenApi', 'getDocs', 'getExplorer'] as const

/** A document that is made once, at the start, in every coding. */
export interface StaticDocument {
  readonly path: string
  readonly route: (typeof documentRoutes)[number]
  readonly answers: { readonly [Coding in ContentCoding]: Outgoing }
}

export const HTML_TYPE = 'text/html; charset=utf-8'

export function makeDocument({
  path,
  route,
  contentType,
  body: plain,
  cacheControl,
  mayCompress,
  headers = [],
}: Pick<StaticDocument, 'path' | 'route'> & {
  readonly contentType: string
  readonly body: Buffer
  readonly cacheControl: string
  readonly mayCompress: boolean
  /** Besides those that every document has. */
  readonly headers?: HeaderList
}): StaticDocument {
  const answer = (coding: ContentCoding): Outgoing => ({
    status: 200,
    body: coding === 'identity' ? plain : encodeBody(plain, coding),
    cacheControl,
    lines: headerLines(mayCompress ? [['Vary', 'Accept-Encoding']] : []),
    bodyLines: headerLines([
      ['Content-Type', contentType],
      ['X-Content-Type-Options', 'nosniff'],
      ...headers,
      ...(coding === 'identity' ? [] : [['Content-Encoding', coding] as const]),
    ]),
    etag: entityTag(digestTag(plain), coding),
  })
  return { path, route, answers: { identity: answer('identity'), gzip: answer('gzip'), br: answer('br') } }
}
