import { createHash } from 'node:crypto'
import type { TSchema } from '@sinclair/typebox'
import { errorTable } from '../errorTable.js'
import { probeRoutes, routes } from '../routes.js'
import { docsFields, docsKind, type FieldSchema } from './docsFields.js'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
code{background:#f3f3f3;padding:.1rem .3rem;border-radius:.2rem}table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}code{background:#2a2a2a}td,th{border-color:#444}}`

/** Nothing is loaded or run, and nobody frames the page: its own style alone is allowed. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The page for humans: one static document without scripts, made from the routes. */
export function docsPage(version: string): string {
  const data = Object.values(routes).map(
    ({ path, summary, parameters, response, errors }) =>
      `<h3><code>GET ${path}</code></h3><p>${toHtml(summary)}.</p>${parameterTable(parameters.properties, parameters.required)}${fieldTable(response)}<p>Errors: ${errors.map((code) => `<code>${code}</code>`).join(', ')}</p>`,
  )
  const probes = Object.values(probeRoutes).map(
    ({ paths, summary, response }) =>
      `<h3>${paths.map((path) => `<code>GET ${path}</code>`).join(' ')}</h3><p>${toHtml(summary)}.</p>${fieldTable(response)}`,
  )
  const errors = Object.entries(errorTable).map(
    ([code, { status, meaning }]) =>
      `<tr><td><code>${code}</code></td><td>${status}</td><td>${toHtml(meaning)}</td></tr>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Bridge Data Service ${version}</title><style>${STYLE}</style></head><body>
<h1>Bridge Data Service ${version}</h1>
<p>Every endpoint takes GET, HEAD and OPTIONS and answers JSON. The whole contract: <a href="/openapi.json">openapi.json</a>.</p>
<h2>Data</h2>${data.join('\n')}
<h2>Health</h2>${probes.join('\n')}
<h2>Errors</h2><p><code>{"error":{"code","message"}}</code></p><table><tr><th>code</th><th>HTTP</th><th>meaning</th></tr>${errors.join('\n')}</table>
</body></html>
`
}

function parameterTable(
  properties: Readonly<Record<string, TSchema>>,
  required: readonly string[] = [],
): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const presence =
      schema.default !== undefined
        ? `default ${schema.default}`
        : required.includes(name)
          ? 'required'
          : 'optional'
    return row(name, `${docsKind(schema)}, ${presence}`, schema.description)
  })
  return `<table><tr><th>parameter</th><th>type</th><th>meaning</th></tr>${rows.join('\n')}</table>`
}

function fieldTable(response: FieldSchema): string {
  const rows = docsFields(response).map(({ name, kind, description }) => row(name, kind, description))
  return `<table><tr><th>field of the answer</th><th>type</th><th>meaning</th></tr>${rows.join('\n')}</table>`
}

function row(name: string, kind: string, description = ''): string {
  return `<tr><td><code>${name}</code></td><td>${toHtml(kind)}</td><td>${toHtml(description)}</td></tr>`
}

function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/`([^`]*)`/g, '<code>$1</code>')
}
