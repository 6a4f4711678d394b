import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { DevnetError } from './devnetError.js'
import type { GuardOrders, GuardReport } from './guard.js'

/** Processes that end with this one, however it ends. */
export interface GuardedGroup {
  readonly folder: string
  /** In the order of their commands. */
  readonly processes: readonly { readonly port: number; readonly pid: number }[]
  /** The process that ends them when this process has ended. */
  readonly guardPid: number
  /** Kills them and removes the folder; resolves when both are done. May be called more than once. */
  stop(): Promise<void>
}

export interface GuardedOptions {
  /** What they are together, and each of them, in messages. */
  readonly what: string
  nameOf(at: number): string
  /** Called with the reason for each one that ends without `stop` once all have started, and when their guard does. */
  onEnd(reason: string): void
}

/**
 * Starts processes that tell their ports.
 * @param folder has their files, and is removed with them.
 * @throws DevnetError when one does not start; then none is left.
 */
export async function startGuarded(
  folder: string,
  commands: GuardOrders['commands'],
  { what, nameOf, onEnd }: GuardedOptions,
): Promise<GuardedGroup> {
  const orders: GuardOrders = { commands, folder }
  const guard = fork(fileURLToPath(new URL('guard.js', import.meta.url)), [JSON.stringify(orders)], {
    // In its own process group, so that a Ctrl-C in the terminal does not reach the guard and what it guards.
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = new Promise<void>((resolve) => guard.once('exit', () => resolve()))
  const processes: { port: number; pid: number }[] = []
  let stopping = false

  const stop = async (): Promise<void> => {
    stopping = true
    if (guard.connected) guard.disconnect()
    await exited
  }

  let tell: (reason: string) => void = () => undefined
  const failed = new Promise<string>((resolve) => {
    tell = resolve
  })
  const listening = new Promise<void>((resolve) => {
    guard.on('message', (report: GuardReport) => {
      if (report.type === 'ended') {
        tell(`${nameOf(report.at)} ended: ${report.reason}`)
        return
      }
      processes[report.at] = { port: report.port, pid: report.pid }
      if (Object.keys(processes).length === commands.length) resolve()
    })
  })
  void exited.then(() => {
    if (stopping) return
    // Without their guard they would outlive us.
    for (const { pid } of Object.values(processes)) killIfAlive(pid)
    tell(`the process that guards ${what} ended`)
  })

  const failure = await Promise.race([listening, failed])
  if (failure !== undefined) {
    await stop()
    throw new DevnetError(`cannot start ${what}: ${failure}`)
  }
  // Of one that ended right after it had told its port.
  void failed.then(onEnd)
  tell = onEnd
  return { folder, processes, guardPid: guard.pid!, stop }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
