import { readFileSync } from 'node:fs'

/** Version of the API, shown in the health record. It changes with the interface, not with the software. */
export const API_VERSION = '1.0.0'

export interface BuildInfo {
  /** Version of the package. */
  readonly version: string
  readonly node: string
}

/** The version of glibc that this process runs on; undefined on other C libraries. It takes milliseconds. */
export function glibcVersion(): string | undefined {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime
}

/** Read once from the manifest of the package that holds this file. */
export const buildInfo: BuildInfo = readBuildInfo()

/**
 * The file that the build makes of a thread's entry. Here because the address is relative: this file lies as deep in `dist/src` as
 * the bundles do in `dist/bundle`, of which it becomes a part.
 */
export function bundledThread(name: string): URL {
  return new URL(`../../bundle/threads/${name}.js`, import.meta.url)
}

function readBuildInfo(): BuildInfo {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  )
  const version = (manifest as { readonly version?: unknown }).version
  return { version: typeof version === 'string' ? version : '0.0.0', node: process.versions.node }
}
