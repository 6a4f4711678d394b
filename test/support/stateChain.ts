import type { ContractReads, Judgement } from '../../src/chain/chainClient.types.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import { headerOf } from './directClient.js'
import { createFakeWorld, type FakeNetwork } from './fakeChain.js'
import type { FakeCall, Fault } from './fakeRpcFaults.js'
import { type OpenChain, openChain } from './openChain.js'

const { signal } = new AbortController()

/** A chain of 40 blocks with deposits in blocks 1 to 5 and 20, and its endpoints. */
export async function withStateChain(
  endpoints: number,
  body: (
    chain: OpenChain,
    /**
     * Compares another deposit count than the stored one with the contract.
     * @returns how the judge settles it.
     */
    judge: (block: number, stored?: number) => Promise<Judgement<number>>,
    network: FakeNetwork,
  ) => Promise<void>,
): Promise<void> {
  const network = createFakeWorld({ networks: [1] }).network(1)
  for (let block = 1; block <= 40; block++)
    network.mine((builder) => {
      if (block <= 5 || block === 20) builder.tx().deposit()
    })
  const chain = await openChain(network, { endpoints })
  const held = network.blocks
  const judge = (block: number, stored = 1_000) => {
    const before = asBlockNumber(block < 20 ? 4 : 19)
    const check = { block: headerOf(held[block]!), before, isChanged: true }
    const ask = (reads: ContractReads) => reads.getContractDepositCount(asBlockNumber(block), signal)
    return chain.client.checkContradiction(check, stored, ask, signal)
  }
  try {
    await body(chain, judge, network)
  } finally {
    await chain.close()
  }
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
