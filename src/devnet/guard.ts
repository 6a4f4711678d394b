import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

/*
 * A small process that owns other processes and a folder of theirs. It ends them and removes the folder when the channel to its
 * parent closes, which the operating system does however the parent ends, even by SIGKILL.
 */

export interface GuardOrders {
  /** Program and arguments of each process. It tells its port in a line with `listening … on …:port`. */
  readonly commands: readonly (readonly [program: string, ...args: string[]])[]
  /** Removed at the end. */
  readonly folder: string
}

export type GuardReport =
  | { readonly type: 'listening'; readonly at: number; readonly port: number; readonly pid: number }
  | { readonly type: 'ended'; readonly at: number; readonly reason: string }

const orders = JSON.parse(process.argv[2] ?? '') as GuardOrders
const linesToQuote = 5
let ending = false

const processes = orders.commands.map(([program, ...args], at) => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lastLines: string[] = []

  const onLine = (line: string): void => {
    if (line.trim() !== '' && lastLines.push(line.trim()) > linesToQuote) lastLines.shift()
    const port = /\blistening (?:for client connections )?on \S*:(\d+)/i.exec(line)?.[1]
    if (port !== undefined) report({ type: 'listening', at, port: Number(port), pid: child.pid ?? 0 })
  }
  createInterface(child.stdout).on('line', onLine)
  createInterface(child.stderr).on('line', onLine)
  child.once('error', (error) => report({ type: 'ended', at, reason: error.message }))
  child.once('close', (code, signal) => {
    report({ type: 'ended', at, reason: `${signal ?? `exit code ${code}`}: ${lastLines.join(' | ')}` })
  })
  return { child, ended }
})

function report(message: GuardReport): void {
  // The parent may close the channel meanwhile. Without a callback that would be an error event, which ends us before we clean up.
  if (!ending && process.connected) process.send?.(message, () => undefined)
}

async function end(): Promise<void> {
  ending = true
  for (const { child } of processes) child.kill('SIGKILL')
  await Promise.all(processes.map(({ ended }) => ended))
  rmSync(orders.folder, { recursive: true, force: true })
  process.exit(0)
}

process.once('disconnect', () => void end())
// The guard ignores signals: its parent closes the channel when it no longer needs them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
