import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { makeDocument, type StaticDocument } from './documents.js'
import { IMMUTABLE } from './wire/cacheControl.js'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
}

/** The files of a page for browsers, as the build has made them: the name of each holds a digest of it, so it never changes. */
export interface BuiltFiles {
  readonly documents: readonly StaticDocument[]
  /** The name of the one file that `kind` matches; '' for none. */
  nameOf(kind: RegExp): string
}

/**
 * Reads a folder of `dist/`.
 * @param path what goes before the names of the files: `/explorer/assets`.
 * @returns undefined where the build has not made it.
 */
export function readBuiltFiles(
  name: 'explorer' | 'docs',
  path: string,
  route: StaticDocument['route'],
  mayCompress: boolean,
): BuiltFiles | undefined {
  const folder = new URL(`../../${name}/`, import.meta.url)
  if (!existsSync(folder)) return undefined
  const names = readdirSync(folder).filter((file) => extname(file) in CONTENT_TYPES)
  return {
    documents: names.map((file) =>
      makeDocument({
        path: `${path}/${file}`,
        route,
        contentType: CONTENT_TYPES[extname(file)]!,
        body: readFileSync(new URL(file, folder)),
        cacheControl: IMMUTABLE,
        mayCompress,
      }),
    ),
    nameOf: (kind) => names.find((file) => kind.test(file)) ?? '',
  }
}
