import type { ChainClient, ContractReads, Judgement } from '../../../src/chain/chainClient.types.js'
import { createChainClient } from '../../../src/chain/client/chainClient.js'
import { createHttpPost } from '../../../src/chain/rpc/httpPost.js'
import type { NetworkConfig, RpcEndpointConfig } from '../../../src/config/config.types.js'
import type { LogScanner } from '../../../src/events/packedLogs.js'
import { plainBlocks } from '../../../src/events/rowsOfLogs.js'
import type { IndexedBlock } from '../../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../../src/protocol/units.js'
import {
  createIndexerCounts,
  IndexerCounts,
  IndexerCountsReader,
} from '../../../src/telemetry/counts/indexerCounts.js'
import { createFakeWorld, type FakeNetwork } from '../../support/fakeChain.js'
import { type FakeCall, type FakeEndpoint, type Fault, serveFakeNetwork } from '../../support/fakeEndpoint.js'
import { headerOf } from '../../support/indexedBlocks.js'
import { createKeepingLogger, type KeptLine } from '../../support/keepingLogger.js'
import { VirtualClock } from '../../support/virtualClock.js'
import { ENDLESS_MS } from './wireScripts.js'

const { signal } = new AbortController()

/** A chain client with endpoints of its own and a clock that jumps over every wait but those for an answer. */
export interface OpenChain {
  readonly client: ChainClient
  readonly endpoints: readonly FakeEndpoint[]
  readonly clock: VirtualClock
  readonly lines: readonly KeptLine[]
  readonly counted: IndexerCountsReader
  close(): Promise<void>
}

interface OpenChainOptions {
  readonly endpoints?: number
  readonly config?: Partial<NetworkConfig>
  /** Weights and roles, endpoint by endpoint. */
  readonly rpc?: readonly Partial<RpcEndpointConfig>[]
  readonly scanner?: LogScanner
}

export async function openChain(
  network: FakeNetwork,
  { endpoints: count = 1, config, rpc, scanner }: OpenChainOptions = {},
): Promise<OpenChain> {
  const servers = await Promise.all(Array.from({ length: count }, () => serveFakeNetwork(network)))
  const clock = new VirtualClock()
  const { logger, lines } = createKeepingLogger()
  const plain = network.config(
    servers.map(({ url }) => url),
    { rpcTimeoutMs: ENDLESS_MS, ...config },
  )
  let inFlight = 0
  clock.busy = () => inFlight > 0
  const openPost: typeof createHttpPost = (options) => {
    const post = createHttpPost(options)
    return (...request) => {
      inFlight++
      return post(...request).finally(() => inFlight--)
    }
  }
  const handle = createIndexerCounts([plain.networkId])
  const client = createChainClient({
    counts: new IndexerCounts(handle, plain.networkId),
    network: { ...plain, rpc: plain.rpc.map((each, i) => ({ ...each, ...rpc?.[i] })) },
    ...{ logger, clock, openPost, ...(scanner === undefined ? {} : { scanner }) },
  })
  return {
    counted: new IndexerCountsReader(handle, plain.networkId),
    ...{ client, clock, lines, endpoints: servers.map(({ endpoint }) => endpoint) },
    async close() {
      client.close()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

/** Runs `body` with a client of `network`, then closes both. */
export async function withChain(
  network: FakeNetwork,
  body: (chain: OpenChain) => Promise<void>,
  options: OpenChainOptions = {},
): Promise<void> {
  const chain = await openChain(network, options)
  try {
    await body(chain)
  } finally {
    await chain.close()
  }
}

/** Network 1 with one deposit in each of its blocks but the first. */
export function depositsInEveryBlock(count: number): FakeNetwork {
  const network = createFakeWorld({ networks: [1] }).network(1)
  for (let block = 0; block < count; block++) network.mine((builder) => builder.tx().deposit())
  return network
}

/** A range with all its events as objects. */
export async function fetchRange({ client }: OpenChain, from: number, to: number) {
  const range = await client.fetchRange(asBlockNumber(from), asBlockNumber(to), signal)
  return { ...range, blocks: plainBlocks(range.blocks) }
}

export function depositCounts(blocks: readonly IndexedBlock[]): number[] {
  return blocks.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'deposit' ? [event.depositCount] : [])),
  )
}

/** The numbers from … to, both included. */
export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Compares another deposit count than the stored one with the contract. @returns how the judge settles it. */
type Judge = (block: number, stored?: number) => Promise<Judgement<number>>

/** A chain of 40 blocks with deposits in blocks 1 to 5 and 20, and its endpoints. */
export async function withStateChain(
  endpoints: number,
  body: (chain: OpenChain, judge: Judge, network: FakeNetwork) => Promise<void>,
): Promise<void> {
  const network = depositsInEveryBlock(5)
  network.mineEmpty(14)
  network.mine((builder) => builder.tx().deposit())
  network.mineEmpty(20)
  const held = network.blocks
  await withChain(
    network,
    (chain) => {
      const judge: Judge = (block, stored = 1_000) => {
        const before = asBlockNumber(block < 20 ? 4 : 19)
        const check = { block: headerOf(held[block]!), before, isChanged: true }
        const ask = (reads: ContractReads) => reads.getContractDepositCount(asBlockNumber(block), signal)
        return chain.client.checkContradiction(check, stored, ask, signal)
      }
      return body(chain, judge, network)
    },
    { endpoints },
  )
}

/** Contract calls are refused in these words. */
export const refused = (message: string, code = -32601): Fault => ({
  type: 'error',
  code,
  message,
  methods: ['eth_call'],
})

/** State of blocks below is pruned. */
export const keepsFrom = (block: number): Fault => ({
  ...refused('missing trie node 5e', -32000),
  when: ({ params: [, tag] }: FakeCall) => typeof tag === 'string' && Number(tag) < block,
})
