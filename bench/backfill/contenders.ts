import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Who takes part: `parse` asks and parses only, `service/service` is our own threads, `viem` the same threads with viem's decoding. */
export type ContenderName = 'parse' | 'service' | 'viem'

/** One network of the chain that is read, as the synthetic chain tells it. */
export interface BenchNetwork {
  readonly rpc: string
  readonly networkId: number
  readonly chainId: number
  readonly bridge: string
  readonly globalExitRootManager: string
  readonly rollupManager?: string
  readonly lastBlock: number
}

export interface ContenderTask {
  /** Empty folder of its own. */
  readonly folder: string
  readonly networks: readonly BenchNetwork[]
  /** Also until every sender is known, which takes a question per transaction: the same for both pipelines. */
  readonly withSenders: boolean
}

/** What was read; the contenders must agree. */
export interface BackfillCounts {
  readonly deposits: number
  readonly claims: number
}

export interface ContenderResult extends BackfillCounts {
  /** Logs that came in; only the contender that parses counts them. */
  readonly logs?: number
  readonly cpuMs: number
  readonly wallMs: number
  readonly peakRssBytes: number
  /** Without pages of mapped files. Linux only. */
  readonly peakAnonymousBytes?: number
}

/**
 * The newest blocks are left out: near the head every header is read and senders are waited for, which is another job
 * than history.
 */
export const BLOCKS_LEFT_OUT = 48

/** Blocks per window, as the configuration has it by default. */
export const WINDOW_BLOCKS = 10_000

/** Runs one contender in a process of its own: all its threads count, its start too. */
export async function runContender(name: ContenderName, task: ContenderTask): Promise<ContenderResult> {
  const entry = fileURLToPath(new URL('../backfillContender.js', import.meta.url))
  const child = spawn(process.execPath, [entry, name, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  if (code !== 0) throw new Error(`contender ${name} ended with code ${code}`)
  return JSON.parse(output) as ContenderResult
}
