import { createRpcTransport } from '../../../src/chain/rpc/rpcTransport.js'
import { readProcessMemory } from '../../../src/telemetry/processMemory.js'

/** What one call came to: its failure or '', and the memory of this process. */
export interface CallReport {
  readonly failure: string
  readonly anonymousBytes: number
  /** The most that was ever resident. */
  readonly peakBytes: number
}

// Asks the endpoint whose address is the argument for each method that it gets as a message, as a service does by default.
const transport = createRpcTransport({
  url: process.argv[2]!,
  alias: 'alpha',
  timeoutMs: 60_000,
  maxBodyBytes: 64 * 1024 ** 2,
})

process.on('message', async (method: string) => {
  const { signal } = new AbortController()
  const failure = await transport.request({ method, params: [] }, signal).then(
    () => '',
    (error: Error) => error.message,
  )
  const report: CallReport = {
    failure,
    anonymousBytes: readProcessMemory()?.anonymousBytes ?? 0,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }
  process.send!(report)
})
