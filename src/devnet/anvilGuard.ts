import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

/*
 * A small process that owns the anvil processes and the devnet's folder. It ends the nodes and removes the folder when the
 * channel to its parent closes, which the operating system does however the parent ends, even by SIGKILL.
 */

export interface GuardOrders {
  readonly binary: string
  /** Command line arguments, one list per node. */
  readonly nodes: readonly (readonly string[])[]
  /** Removed at the end. */
  readonly folder: string
}

export type GuardReport =
  | { readonly type: 'listening'; readonly node: number; readonly port: number; readonly pid: number }
  | { readonly type: 'ended'; readonly node: number; readonly reason: string }

const orders = JSON.parse(process.argv[2] ?? '') as GuardOrders
const linesToQuote = 5
let ending = false

const nodes = orders.nodes.map((args, node) => {
  const child = spawn(orders.binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lastLines: string[] = []

  const onLine = (line: string): void => {
    if (line.trim() !== '' && lastLines.push(line.trim()) > linesToQuote) lastLines.shift()
    const port = /^Listening on .*:(\d+)/.exec(line)?.[1]
    if (port !== undefined) report({ type: 'listening', node, port: Number(port), pid: child.pid ?? 0 })
  }
  createInterface(child.stdout).on('line', onLine)
  createInterface(child.stderr).on('line', onLine)
  child.once('error', (error) => report({ type: 'ended', node, reason: error.message }))
  child.once('close', (code, signal) => {
    report({ type: 'ended', node, reason: `${signal ?? `exit code ${code}`}: ${lastLines.join(' | ')}` })
  })
  return { child, ended }
})

function report(message: GuardReport): void {
  // The parent may close the channel meanwhile. Without a callback that would be an error event, which ends us before we clean up.
  if (!ending && process.connected) process.send?.(message, () => undefined)
}

async function end(): Promise<void> {
  ending = true
  for (const { child } of nodes) child.kill('SIGKILL')
  await Promise.all(nodes.map(({ ended }) => ended))
  rmSync(orders.folder, { recursive: true, force: true })
  process.exit(0)
}

process.once('disconnect', () => void end())
// The guard ignores signals: its parent closes the channel when it no longer needs the nodes.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
