import { openApiDocument } from '../api/docs/openapi.js'
import { API_VERSION } from '../telemetry/buildInfo.js'
import { readBuiltFiles } from './builtFiles.js'
import { HTML_TYPE, makeDocument, type StaticDocument } from './documents.js'
import { ONE_HOUR } from './wire/cacheControl.js'
import { JSON_TYPE } from './wire/headers.js'

/** Its own files, and this service to try; nothing inline. Swagger UI has its arrows as `data:`. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * The OpenAPI document, and the page that shows it, with and without a slash at its end, with its files.
 * @param hasKeys whether the operator has given out API keys.
 */
export function staticDocuments(mayCompress: boolean, hasKeys = false): StaticDocument[] {
  const files = readBuiltFiles('docs', '/docs/assets', 'getDocs', mayCompress)
  const page = (path: string, prefix: string): StaticDocument =>
    makeDocument({
      path,
      route: 'getDocs',
      contentType: HTML_TYPE,
      body: Buffer.from(
        files === undefined
          ? '<!doctype html><html lang="en"><title>API</title><p>The build has not made this page. The contract: <a href="openapi.json">openapi.json</a>.</p></html>\n'
          : `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>API · Bridge Data Service</title>
<link rel="stylesheet" href="${prefix}assets/${files.nameOf(/\.css$/)}"><script type="module" src="${prefix}assets/${files.nameOf(/\.js$/)}"></script>
</head><body><div id="docs"><noscript>This page needs JavaScript. The contract is in openapi.json.</noscript></div></body></html>
`,
      ),
      cacheControl: ONE_HOUR,
      mayCompress,
      headers: [['Content-Security-Policy', POLICY]],
    })
  const contract = makeDocument({
    path: '/openapi.json',
    route: 'getOpenApi',
    contentType: JSON_TYPE,
    body: Buffer.from(JSON.stringify(openApiDocument(API_VERSION, hasKeys))),
    cacheControl: ONE_HOUR,
    mayCompress,
  })
  return [contract, page('/docs', 'docs/'), page('/docs/', ''), ...(files?.documents ?? [])]
}
