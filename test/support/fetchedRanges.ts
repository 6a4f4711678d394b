import type { IndexedBlock } from '../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import { createFakeWorld, type FakeNetwork } from './fakeChain.js'
import { type OpenChain, openChain } from './openChain.js'

const { signal } = new AbortController()

/** Runs `body` with a client of `network`, then closes both. */
export async function withChain(
  network: FakeNetwork,
  body: (chain: OpenChain) => Promise<void>,
  options: Parameters<typeof openChain>[1] = {},
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

export function fetchRange({ client }: OpenChain, from: number, to: number) {
  return client.fetchRange(asBlockNumber(from), asBlockNumber(to), signal)
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
