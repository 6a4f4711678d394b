import { DOCS_POLICY, docsPage } from '../api/docs/docsPage.js'
import { openApiDocument } from '../api/docs/openapi.js'
import { type ContentCoding, encodeBody } from '../pool/contentCoding.js'
import { digestTag } from '../pool/digestTag.js'
import { API_VERSION } from '../telemetry/buildInfo.js'
import { ONE_HOUR } from './wire/cacheControl.js'
import type { Outgoing } from './wire/exchange.js'
import { entityTag, type HeaderList, headerLines, JSON_TYPE } from './wire/headers.js'

/** A document that is made once, at the start, in every coding. */
export interface StaticDocument {
  readonly path: string
  readonly route: string
  readonly answers: { readonly [Coding in ContentCoding]: Outgoing }
}

/** The OpenAPI document, and the page that shows it. */
export function staticDocuments(mayCompress: boolean): StaticDocument[] {
  return [
    make('/openapi.json', 'getOpenApi', JSON_TYPE, JSON.stringify(openApiDocument(API_VERSION)), mayCompress),
    make('/docs', 'getDocs', 'text/html; charset=utf-8', docsPage(API_VERSION), mayCompress, [
      ['Content-Security-Policy', DOCS_POLICY],
    ]),
  ]
}

function make(
  path: string,
  route: string,
  contentType: string,
  text: string,
  mayCompress: boolean,
  headers: HeaderList = [],
): StaticDocument {
  const plain = Buffer.from(text)
  const answer = (coding: ContentCoding): Outgoing => ({
    status: 200,
    body: coding === 'identity' ? plain : encodeBody(plain, coding),
    cacheControl: ONE_HOUR,
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
