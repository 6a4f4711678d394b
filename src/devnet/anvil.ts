import { mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DevnetError } from './devnetError.js'
import { type GuardedGroup, startGuarded } from './guardedGroup.js'

const architectures: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

const ANVIL = '@foundry-rs/anvil'
/** The version that the manifest of this package names as its peer. */
const ANVIL_VERSION = '1.7.1'

/**
 * Path of the anvil program inside its platform package. The package's `.bin` wrapper is not used: it would be one more
 * process, and killing it would not end the node.
 * @throws DevnetError when anvil is not installed, or has no build for this platform.
 */
function findAnvilBinary(): string {
  const platformPackage = `${ANVIL}-${process.platform}-${architectures[process.arch] ?? process.arch}`
  let home: string
  try {
    home = createRequire(import.meta.url).resolve(`${ANVIL}/package.json`)
  } catch {
    throw new DevnetError(
      `the devnet needs anvil (43 MB), which is not installed: npm install ${ANVIL}@${ANVIL_VERSION}`,
    )
  }
  // Resolved from the package that depends on it, because npm may nest it there.
  const require = createRequire(home)
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

export interface AnvilOptions {
  readonly chainId: number
  /** Timestamp of the genesis block in Unix seconds, from which the node's clock runs on. */
  readonly timestampSec?: number
}

interface Anvil {
  readonly rpcUrl: string
  readonly pid: number
}

/** Running nodes, in the order of their options. */
export interface AnvilGroup extends Pick<GuardedGroup, 'folder' | 'guardPid' | 'stop'> {
  readonly anvils: readonly Anvil[]
  /** Resolves with the reason when a node ends without `stop`. */
  readonly failed: Promise<string>
}

/**
 * Starts anvil nodes on free loopback ports. They end with this process, however it ends.
 * @param folderPrefix start of the path of their new folder.
 * @throws DevnetError when a node does not start.
 */
export async function startAnvils(
  options: readonly AnvilOptions[],
  folderPrefix: string,
): Promise<AnvilGroup> {
  const binary = findAnvilBinary()
  const folder = mkdtempSync(folderPrefix)
  const commands = options.map(
    (option, node) => [binary, ...anvilArguments(option, `${folder}/anvil-${node}`)] as const,
  )
  let report: (reason: string) => void = () => undefined
  const failed = new Promise<string>((resolve) => {
    report = resolve
  })
  const group = await startGuarded(folder, commands, {
    what: "the devnet's chains",
    nameOf: (at) => `anvil of chain ${options[at]?.chainId}`,
    onEnd: report,
  })
  const anvils = group.processes.map(({ port, pid }) => ({ rpcUrl: `http://127.0.0.1:${port}`, pid }))
  return { folder, anvils, guardPid: group.guardPid, failed, stop: group.stop }
}

function anvilArguments(options: AnvilOptions, cacheFolder: string): string[] {
  const args = ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(options.chainId)]
  // `finalized` is two epochs behind the head. With epochs of one block, blocks become final within seconds.
  args.push('--slots-in-an-epoch', '1')
  // Anvil writes old states to disk: into our folder, not into the home directory.
  args.push('--cache-path', cacheFolder)
  if (options.timestampSec !== undefined) args.push('--timestamp', String(options.timestampSec))
  return args
}
