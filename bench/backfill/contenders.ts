import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The contenders. `parse` only asks and parses, `service` is our indexer threads, `viem` is the same threads with viem's decoding. */
export type ContenderName = 'parse' | 'service' | 'viem'

/** One network of the chains that are read. */
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
  /** An empty folder for this contender. */
  readonly folder: string
  readonly networks: readonly BenchNetwork[]
  /** Whether to go on until every sender is known. That takes one call per transaction, in both pipelines. */
  readonly withSenders: boolean
}

/** What was read. All contenders must agree. */
export interface BackfillCounts {
  readonly deposits: number
  readonly claims: number
}

export interface ContenderResult extends BackfillCounts {
  /** Logs that were received; only `parse` counts them. */
  readonly logs?: number
  readonly cpuMs: number
  readonly wallMs: number
  readonly peakRssBytes: number
  /** Without pages of mapped files. Linux only. */
  readonly peakAnonymousBytes?: number
}

/**
 * The newest blocks are left out: near the head every header is read and senders are waited for, which is not what this bench
 * measures.
 */
export const BLOCKS_LEFT_OUT = 48

/** Blocks per window: the default of the configuration. */
export const WINDOW_BLOCKS = 10_000

/** Runs one contender in its own process. All its threads and its start are counted. */
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
