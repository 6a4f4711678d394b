import type { Hex } from 'viem'
import { hexToBytes } from 'viem/utils'
import type { IndexedBlock, Sender } from '../../src/protocol/chainEvent.js'
import { createFakeWorld, type FakeNetwork } from './fakeChain.js'
import { account, archivedIn, type FakeState, userContract } from './fakeState.js'
import type { ClaimedDeposit, FakeTransactionBuilder } from './fakeTransaction.js'
import { indexedBlock } from './indexedBlocks.js'
import { globalIndexOf, type LeafParts } from './naiveTree.js'
import { TestNumbers } from './testNumbers.js'

type Act = (tx: FakeTransactionBuilder, state: FakeState) => unknown

const bytes = (count: number, byte: string): Hex => `0x${byte.repeat(count)}`
/** The last is too long for a list. */
const METADATA = [
  '0x',
  '0x',
  bytes(96, '01'),
  bytes(300, '00'),
  bytes(300, '02'),
  bytes(5_000, '03'),
] as const

/** A random chain of one L2 with events of every type. Blocks may be dropped from its end and new ones added. */
export class RandomChain {
  readonly network: FakeNetwork = createFakeWorld({ networks: [1] }).network(1)
  /** As the indexer is given them, block 1 first. */
  readonly blocks: IndexedBlock[] = []
  readonly #numbers: TestNumbers
  readonly #acts: readonly Act[]

  constructor(seed: number) {
    const numbers = new TestNumbers(seed)
    const globalExitRoot = () => bytes(32, `0${1 + numbers.below(9)}`)
    const acts: readonly (readonly [share: number, Act])[] = [
      [45, (tx) => tx.deposit(this.#leaf())],
      [24, (tx) => this.#claim(tx)],
      [4, (tx) => tx.unsetClaim(this.#claimed())],
      [3, (tx) => tx.setClaim(this.#claimed())],
      [
        5,
        (tx) => tx.setSovereignToken(numbers.below(3), this.#address(), this.#address(), numbers.chance(0.5)),
      ],
      [2, (tx) => tx.removeLegacyToken(this.#address())],
      [7, (tx) => tx.injectGer(globalExitRoot(), 'insert')],
      [3, (tx) => tx.removeGer(globalExitRoot(), 'insert')],
      [2, (tx) => tx.setEmergency(numbers.chance(0.5))],
      [2, (tx, { deposits }) => tx.backwardLet(numbers.below(deposits.length + 1))],
      [3, (tx, state) => tx.forwardLet(this.#regrown(state))],
    ]
    this.#numbers = numbers
    this.#acts = acts.flatMap(([share, act]) => Array<Act>(share).fill(act))
  }

  /** What the contracts hold after the last block. */
  get state(): FakeState {
    return this.network.head.state
  }

  /** Adds a block in which 1 … `most` things happen, often several in one transaction of a contract. */
  grow(most: number): IndexedBlock {
    const numbers = this.#numbers
    const mined = this.network.mine((block) => {
      let shared: FakeTransactionBuilder | undefined
      for (let left = 1 + numbers.below(most); left > 0; left--) {
        const from = this.#address()
        if (numbers.chance(0.3)) shared = undefined
        else if (shared === undefined || numbers.chance(0.3))
          shared = block.tx({ from, to: userContract(numbers.below(3)) })
        numbers.pick(this.#acts)(shared ?? block.tx({ from }), block.state)
      }
    })
    this.blocks.push(indexedBlock(this.network, mined, true))
    return this.blocks.at(-1)!
  }

  /** Drops all blocks above `number`. */
  dropAbove(number: number): void {
    this.network.rollback(Math.max(0, this.network.head.number - number))
    this.blocks.splice(number)
  }

  sender(): Sender {
    return { caller: hexToBytes(this.#address()), transactionSender: hexToBytes(this.#address()) }
  }

  #address(): Hex {
    return account(this.#numbers.below(12))
  }

  #leaf(): LeafParts {
    const numbers = this.#numbers
    return {
      leafType: numbers.below(2),
      originNetwork: numbers.below(3),
      originAddress: this.#address(),
      destinationNetwork: numbers.pick([0, 2, 7]),
      destinationAddress: this.#address(),
      amount: numbers.pick([0n, 1n, 2n ** 256n - 1n, BigInt(numbers.below(2 ** 31))]),
      metadata: numbers.pick(METADATA),
    }
  }

  /** One of few deposits, so that it is claimed, unset and claimed again. */
  #claimed(): ClaimedDeposit {
    const [networkId, depositCount] = [this.#numbers.below(3), this.#numbers.below(8)]
    return { ...this.#leaf(), networkId, depositCount, globalIndex: globalIndexOf(networkId, depositCount) }
  }

  #claim(tx: FakeTransactionBuilder): void {
    const numbers = this.#numbers
    const deposit = this.#claimed()
    const dirty = deposit.globalIndex | (1n << 200n)
    tx.claim({
      ...{ deposit, again: true, eventLast: numbers.chance(0.5) },
      // A claim of before etrog names a deposit of the L1.
      ...(deposit.networkId === 0 && numbers.chance(0.5) ? { generation: 'v1' } : {}),
      ...(numbers.chance(0.2) ? { globalIndex: dirty } : {}),
      ...(numbers.chance(0.2) ? { newWrappedToken: this.#address() } : {}),
    })
  }

  /** Some archived leaves are appended again, some of them at the same count. */
  #regrown(state: FakeState): LeafParts[] {
    const numbers = this.#numbers
    const archived = archivedIn(state)
    return Array.from({ length: 1 + numbers.below(4) }, (_, index) => {
      if (archived.length === 0 || numbers.chance(0.4)) return this.#leaf()
      const same = archived.findLast(({ depositCount }) => depositCount === state.deposits.length + index)
      return (numbers.chance(0.8) ? same : undefined) ?? numbers.pick(archived)
    })
  }
}
