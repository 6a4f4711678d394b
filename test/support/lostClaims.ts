import type { FakeEndpoint } from './fakeEndpoint.js'
import type { RandomWorld } from './randomWorld.js'

/**
 * Claims of a random world that no log shows at first: a service stores the network without them, and what comes later does not reveal
 * it. When they are found again, which only the contract tells then, undo does not reach them any more: the service starts over.
 */
export class LostClaims {
  readonly networkId: number
  readonly #block: number
  #areLost = true

  /** Mines the claims and as many blocks above them as undo reaches. Of three deposits, so that the contract does not agree as soon as one is unset. */
  constructor({ world }: RandomWorld, networkId: number, rollbackBlocks: number) {
    this.networkId = networkId
    const other = world.network(networkId === 0 ? 1 : 0)
    for (let count = 0; count < 3; count++)
      other.mine((block) => block.tx().deposit({ destinationNetwork: networkId }))
    const deposits = other.deposits().slice(-3)
    const network = world.network(networkId)
    const { number } = network.mine((block) => {
      for (const deposit of deposits) block.tx().claim({ deposit })
    })
    this.#block = number
    // Reorgs of random worlds take four blocks at most.
    network.mineEmpty(rollbackBlocks + 16)
  }

  /** Until they are found, no answer of the endpoint shows their logs, and its contracts tell nothing of the past, as where it is not kept. */
  hideFrom(endpoint: FakeEndpoint): void {
    endpoint.fail({ type: 'zeroBloom' })
    endpoint.fail({ type: 'hideLogs', match: (_, { number }) => this.#areLost && number === this.#block })
    endpoint.fail({
      type: 'error',
      code: -32000,
      message: 'missing trie node 5e',
      methods: ['eth_call'],
      when: ({ params: [, tag] }) => this.#areLost && tag !== 'latest',
    })
  }

  find(): void {
    this.#areLost = false
  }
}
