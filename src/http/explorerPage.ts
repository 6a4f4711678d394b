import type { Config } from '../config/config.types.js'
import type { PageSettings } from '../explorer/pageSettings.types.js'
import type { Logger } from '../telemetry/logger.js'
import { type BuiltFiles, readBuiltFiles } from './builtFiles.js'
import { HTML_TYPE, makeDocument, type StaticDocument } from './documents.js'
import { documentTarget, type Target } from './targets.js'
import { REVALIDATE } from './wire/cacheControl.js'

const ROOT = '/explorer'

/** The page has no path with more parts than `bridge/1/25`. */
const DEEPEST = 3

export interface ExplorerPage {
  /** Scripts, styles and the rest, which never change under their names. */
  readonly files: readonly StaticDocument[]
  /** The page itself, which every path below `/explorer` shows. */
  find(path: string): Target | undefined
}

/** Everything of the page at `/explorer`, in memory. Nothing where it is switched off. */
export function explorerPage(config: Config, logger: Pick<Logger, 'warn'>): ExplorerPage {
  const nothing: ExplorerPage = { files: [], find: () => undefined }
  if (!config.explorer.enabled) return nothing
  const mayCompress = config.http.compress
  const built = readBuiltFiles('explorer', `${ROOT}/assets`, 'getExplorer', mayCompress)
  if (built === undefined) {
    logger.warn('there is no page at /explorer: `npm run build` has not made it')
    return nothing
  }
  const settings = settingsOf(config, built.nameOf(/^merkle-.*\.wasm$/))
  const policy = policyOf(settings)
  // A proxy may put a path in front of `/explorer`, which nobody here knows, so links are relative: to `/explorer` itself, and to each depth below it.
  const pages = ['explorer/', ...Array.from({ length: DEEPEST }, (_, depth) => '../'.repeat(depth))].map(
    (prefix) =>
      documentTarget(
        makeDocument({
          path: ROOT,
          route: 'getExplorer',
          contentType: HTML_TYPE,
          body: Buffer.from(htmlOf(settings, built, prefix)),
          cacheControl: REVALIDATE,
          mayCompress,
          headers: [
            ['Content-Security-Policy', policy],
            ['Referrer-Policy', 'no-referrer'],
          ],
        }),
      ),
  )
  return {
    files: built.documents,
    find(path) {
      if (!path.startsWith(ROOT)) return undefined
      if (path.length === ROOT.length) return pages[0]
      if (path[ROOT.length] !== '/' || path.startsWith(`${ROOT}/assets/`)) return undefined
      const depth = path.slice(ROOT.length + 1).split('/', DEEPEST + 1).length
      return pages[depth]
    },
  }
}

function settingsOf({ explorer, networks }: Config, wasmFile: string): PageSettings {
  return {
    wasmFile,
    title: explorer.title,
    accent: explorer.accent,
    hasUnlockedAccounts: explorer.hasUnlockedAccounts,
    networks: networks.map(({ networkId, startBlock, name, explorerUrl, publicRpc }) => ({
      networkId,
      startBlock,
      ...(name === undefined ? {} : { name }),
      ...(explorerUrl === undefined ? {} : { explorerUrl }),
      ...(publicRpc === undefined ? {} : { rpcUrl: publicRpc }),
    })),
  }
}

/** Its own files, the API beside it and the endpoints that the configuration makes public; nothing inline. Wallets show their icons as `data:`. */
function policyOf({ networks }: PageSettings): string {
  const origins = networks.flatMap(({ rpcUrl }) => (rpcUrl === undefined ? [] : [new URL(rpcUrl).origin]))
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...new Set(origins)].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function htmlOf(settings: PageSettings, { nameOf }: BuiltFiles, prefix: string): string {
  const file = (kind: RegExp): string => `${prefix}assets/${nameOf(kind)}`
  const title = toHtml(settings.title)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<meta name="page-settings" content="${toHtml(JSON.stringify(settings))}">
<link rel="icon" href="${file(/^icon-.*\.svg$/)}"><link rel="stylesheet" href="${file(/^style-.*\.css$/)}"><script type="module" src="${file(/^main-.*\.js$/)}"></script>
</head><body><div id="page"><noscript>This page needs JavaScript. The API does not: see docs.</noscript></div></body></html>
`
}

function toHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
