import { fork } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findAnvilBinary } from './anvilBinary.js'
import type { GuardOrders, GuardReport } from './anvilGuard.js'
import { DevnetError } from './devnetError.js'

export interface AnvilOptions {
  readonly chainId: number
  /** Clock of the genesis block, Unix seconds; the node's clock runs on from there. */
  readonly timestampSec?: number
}

interface Anvil {
  readonly rpcUrl: string
  readonly pid: number
}

/** Running nodes, in the order asked for. */
export interface AnvilGroup {
  /** For the nodes' files, and for whatever else shall go when they go. */
  readonly folder: string
  readonly anvils: readonly Anvil[]
  /** The process that ends the nodes when this one is gone. */
  readonly guardPid: number
  /** Resolves with the reason when a node ends that nobody stopped. */
  readonly failed: Promise<string>
  /** Kills the nodes and removes the folder; resolves when both are done. May be called more than once. */
  stop(): Promise<void>
}

/**
 * Starts anvil nodes on free loopback ports. They die with this process, whatever kills it.
 * @param folderPrefix how the path of their new folder starts.
 * @throws DevnetError when a node does not start.
 */
export async function startAnvils(
  options: readonly AnvilOptions[],
  folderPrefix: string,
): Promise<AnvilGroup> {
  const binary = findAnvilBinary()
  const folder = mkdtempSync(folderPrefix)
  const orders: GuardOrders = {
    binary,
    folder,
    nodes: options.map((option, node) => anvilArguments(option, `${folder}/anvil-${node}`)),
  }
  const guard = fork(fileURLToPath(new URL('anvilGuard.js', import.meta.url)), [JSON.stringify(orders)], {
    // Its own process group: a Ctrl-C in the terminal reaches only us, and the nodes live until we are done with them.
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = new Promise<void>((resolve) => guard.once('exit', () => resolve()))
  const anvils: Anvil[] = []
  let stopping = false

  const stop = async (): Promise<void> => {
    stopping = true
    if (guard.connected) guard.disconnect()
    await exited
  }

  let reportFailure: (reason: string) => void = () => undefined
  const failed = new Promise<string>((resolve) => {
    reportFailure = resolve
  })
  const listening = new Promise<void>((resolve) => {
    guard.on('message', (report: GuardReport) => {
      if (report.type === 'ended') {
        reportFailure(`anvil of chain ${options[report.node]?.chainId} ended: ${report.reason}`)
        return
      }
      anvils[report.node] = { rpcUrl: `http://127.0.0.1:${report.port}`, pid: report.pid }
      if (Object.keys(anvils).length === options.length) resolve()
    })
  })
  void exited.then(() => {
    if (stopping) return
    // Without its guard a node would outlive us.
    for (const { pid } of Object.values(anvils)) killIfAlive(pid)
    reportFailure('the process that guards the anvil nodes ended')
  })

  const failure = await Promise.race([listening, failed])
  if (failure !== undefined) {
    await stop()
    throw new DevnetError(`cannot start the devnet's chains: ${failure}`)
  }
  return { folder, anvils, guardPid: guard.pid!, failed, stop }
}

function anvilArguments(options: AnvilOptions, cacheFolder: string): string[] {
  const args = ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(options.chainId)]
  // `finalized` is two epochs behind the head: two blocks instead of 64, so that finality shows within seconds.
  args.push('--slots-in-an-epoch', '1')
  // Old states go to disk: into our folder, not into the home directory.
  args.push('--cache-path', cacheFolder)
  if (options.timestampSec !== undefined) args.push('--timestamp', String(options.timestampSec))
  return args
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
