import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Devnet, devnetFolderPrefix } from './devnet.js'
import type { DevnetAccounts, DevnetChain } from './devnetChain.js'
import { DevnetError } from './devnetError.js'

/** Content of `devnet.json` in a devnet's folder, for other processes. */
export interface RunningDevnet {
  readonly pid: number
  readonly serviceUrl: string
  readonly opsUrl: string
  readonly accounts: DevnetAccounts
  readonly chains: readonly Omit<DevnetChain, 'client'>[]
}

const fileName = 'devnet.json'

/** Lets other processes find the devnet, until its folder is removed. */
export function announceDevnet(
  { folder, accounts, chains }: Devnet,
  service: Pick<RunningDevnet, 'serviceUrl' | 'opsUrl'>,
): void {
  const description: RunningDevnet = {
    pid: process.pid,
    ...service,
    accounts,
    chains: chains.map(({ client: _, ...chain }) => chain),
  }
  const file = join(folder, fileName)
  // Renamed into place, so that nobody reads a half-written file.
  writeFileSync(`${file}.new`, `${JSON.stringify(description, undefined, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/**
 * Finds the devnet that the user means.
 * @param url address of its service, if the user gave one.
 * @throws DevnetError when none runs, or several do and no address was given.
 */
export function findRunningDevnet(url?: string): RunningDevnet {
  const running = listDevnets().flatMap(({ devnet }) =>
    devnet !== undefined && isAlive(devnet.pid) ? [devnet] : [],
  )
  const urls = running.map(({ serviceUrl }) => serviceUrl)
  if (running.length === 0) throw new DevnetError('no devnet is running: start one with bds start')
  if (url === undefined && running.length > 1)
    throw new DevnetError(`several devnets are running: choose one with --url ${urls.join(' or --url ')}`)
  const found =
    url === undefined ? running[0] : running.find(({ serviceUrl }) => serviceUrl === url.replace(/\/+$/, ''))
  if (found === undefined) throw new DevnetError(`no devnet serves at ${url}; running: ${urls.join(', ')}`)
  return found
}

/** Removes the folders of devnets whose process and guard were killed before they could remove them. */
export function removeDeadDevnets(): void {
  for (const { folder, devnet } of listDevnets())
    if (devnet !== undefined && !isAlive(devnet.pid)) rmSync(folder, { recursive: true, force: true })
}

/** Lists the folders of devnets. `devnet` is undefined for one that is still starting, or that another user owns. */
function listDevnets(): { folder: string; devnet: RunningDevnet | undefined }[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(devnetFolderPrefix))
    .map((name) => {
      const folder = join(tmpdir(), name)
      return { folder, devnet: readDescription(join(folder, fileName)) }
    })
}

function readDescription(file: string): RunningDevnet | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return undefined
    throw error
  }
  return JSON.parse(text) as RunningDevnet
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
