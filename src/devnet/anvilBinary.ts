import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DevnetError } from './devnetError.js'

const architectures: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Path of the anvil program inside its platform package. The package's `.bin` wrapper is passed by: it would be one
 * more process between us and the node, and killing it would leave the node alive.
 * @throws DevnetError when there is none for this platform, or npm left out optional packages.
 */
export function findAnvilBinary(): string {
  const platformPackage = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`
  // Resolved from the package that depends on it: npm may nest it there.
  const require = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
  let manifestPath: string
  try {
    manifestPath = require.resolve(`${platformPackage}/package.json`)
  } catch {
    throw new DevnetError(
      `the devnet needs the package ${platformPackage}, which is not installed (was npm run with --omit=optional, or does the platform have no build of anvil?)`,
    )
  }
  const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as { bin: { anvil: string } }
  return join(dirname(manifestPath), manifest.bin.anvil)
}
