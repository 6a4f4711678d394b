import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { projectRoot } from '../micro/project.js'
import type { BenchNetwork } from './contenders.js'

/** The chain that a backfill reads. */
export interface SourceChain {
  readonly networks: readonly BenchNetwork[]
  stop(): Promise<void> | void
}

/**
 * Starts the generator of large chains (three networks), which lies outside of the project, like the data of the shared tests.
 * If it is missing, one line says so and the process ends.
 */
export async function startSyntheticChain(folder: string, bridges: number): Promise<SourceChain> {
  const script = resolve(projectRoot, folder, 'replay', 'synth-rpc.mjs')
  if (!existsSync(script)) {
    console.error(
      `${script} is not there: --shared names the folder that holds the generator, --anvil needs none`,
    )
    process.exit(1)
  }
  const args = [script, '--bridges', String(bridges), '--networks', '3', '--seed', '7', '--port', '0']
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const line = await new Promise<string>((resolveLine, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolveLine)
    child.once('exit', (code) => reject(new Error(`the synthetic chain ended with code ${code}`)))
  })
  const { networks } = JSON.parse(line) as { networks: Record<string, BenchNetwork> }
  return { networks: Object.values(networks), stop: () => void child.kill() }
}
