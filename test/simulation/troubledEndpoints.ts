import { topicOf } from '../support/encodedLogs.js'
import type { FakeNetwork } from '../support/fakeChain.js'
import { type FakeCall, FakeEndpoint, type Fault } from '../support/fakeEndpoint.js'
import type { FaultKind } from '../support/fakeRpc.js'

/** Probability of each fault, per request; 0 … 1. */
export interface Trouble {
  readonly refusals: number
  readonly silence: number
  readonly lag: number
  readonly otherBranch: number
  readonly hiddenLogs: number
  readonly noTraces: number
  /** Widest log range and most logs that the endpoint answers. Undefined: no limit. */
  readonly maxRange: number | undefined
  readonly maxLogs: number | undefined
  readonly zeroBloom: boolean
  readonly finality: 'right' | 'unsupported' | 'null' | 'zero'
}

const PROVIDER_TEXTS = [
  { code: -32005, message: 'query returned more than 10000 results' },
  { code: -32000, message: 'no backend is currently healthy' },
  { code: -32603, message: 'internal error' },
]

/**
 * An endpoint that misbehaves by a seed. Whether a request goes wrong depends on the seed, the request and how often it was
 * made, not on the order of requests that run at the same time: the same seed gives the same trouble.
 */
export function troubledEndpoint(
  network: FakeNetwork,
  trouble: Trouble,
  seed: number,
  calm: () => boolean,
): FakeEndpoint {
  const endpoint = new FakeEndpoint(network)
  const add = (salt: number, share: number, fault: FaultKind, methods?: readonly string[]) => {
    if (share === 0) return
    const when = (call: FakeCall) => !calm() && chance(seed + salt, call) < share
    endpoint.fail({ ...fault, when, ...(methods ? { methods } : {}) } as Fault)
  }
  const abandoned = () => network.abandoned.at(-1) ?? network.blocks
  add(1, trouble.refusals / 4, { type: 'http', status: 429, body: 'slow down' })
  add(2, trouble.refusals / 4, { type: 'http', status: 503 })
  add(3, trouble.refusals / 4, { type: 'close' })
  PROVIDER_TEXTS.forEach((text, index) => {
    add(10 + index, trouble.refusals / 12, { type: 'error', ...text })
  })
  add(20, trouble.silence, { type: 'silent' })
  add(21, trouble.lag, { type: 'lag', blocks: 1 + (seed % 9) })
  add(22, trouble.otherBranch, { type: 'branch', blocks: abandoned })
  add(23, trouble.otherBranch, { type: 'orphanLogs', blocks: abandoned }, ['eth_getLogs'])
  add(25, trouble.noTraces, { type: 'error', code: -32000, message: 'tracing timed out' }, [
    'debug_traceTransaction',
  ])
  // The only fault that the chain's own arithmetic can miss, since in far history no bloom is read.
  const countable = [topicOf('BridgeEvent'), topicOf('UpdateL1InfoTree'), topicOf('UpdateL1InfoTreeV2')]
  const hidden = (logIndex: number, blockNumber: number) => (seed + 31 * blockNumber + logIndex) % 5 === 0
  add(
    24,
    trouble.hiddenLogs,
    {
      type: 'hideLogs',
      match: (log, block) => countable.includes(log.topics[0]!) && hidden(log.logIndex, block.number),
    },
    ['eth_getLogs'],
  )
  if (trouble.maxRange !== undefined) endpoint.fail({ type: 'range', limit: trouble.maxRange })
  if (trouble.maxLogs !== undefined) endpoint.fail({ type: 'results', limit: trouble.maxLogs })
  if (trouble.zeroBloom) endpoint.fail({ type: 'zeroBloom' })
  if (trouble.finality !== 'right') endpoint.fail({ type: 'finality', mode: trouble.finality })
  return endpoint
}

/** 0 ≤ x < 1 from all that distinguishes a request (FNV-1a, then mixed). */
function chance(salt: number, { method, params, nth }: FakeCall): number {
  let hash = 0x811c_9dc5 ^ salt
  for (const character of `${method}${JSON.stringify(params)}${nth}`)
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}
