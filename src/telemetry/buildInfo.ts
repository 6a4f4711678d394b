import { readFileSync } from 'node:fs'

/** Version of the API, shown in the health record. It changes with the interface, not with the software. */
export const API_VERSION = '1.0.0'

export interface BuildInfo {
  /** Version of the package. */
  readonly version: string
  readonly node: string
}

/** Read once from the manifest of the package that holds this file. */
export const buildInfo: BuildInfo = readBuildInfo()

function readBuildInfo(): BuildInfo {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  )
  const version = (manifest as { readonly version?: unknown }).version
  return { version: typeof version === 'string' ? version : '0.0.0', node: process.versions.node }
}
