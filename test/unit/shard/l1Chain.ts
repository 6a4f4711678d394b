import type { DepositEvent, Hash } from '../../../src/protocol/chainEvent.js'
import type { DepositCount, LeafCount, NetworkId } from '../../../src/protocol/units.js'
import { EventChain, type Unplaced } from '../../support/eventChain.js'
import { hashPair, modelLeafHash, NaiveTree, plainKeccak } from '../../support/naiveTree.js'

const NO_ROOT: Hash = new Uint8Array(32)

/** A correct L1 made by hand: each method makes the events of one action, and `block` closes a block of transactions. */
export class L1Chain extends EventChain {
  readonly depositLeaves: Hash[] = []
  readonly infoLeaves: Hash[] = []
  readonly localExitRoots = new Map<number, Hash>()
  mainnetExitRoot = NO_ROOT
  rollupExitRoot = NO_ROOT

  constructor() {
    super(7)
  }

  unforcedDeposit(): Unplaced<DepositEvent>[] {
    const depositCount = this.depositLeaves.length as DepositCount
    const address = Buffer.alloc(20, 1 + depositCount)
    const content = {
      leafType: 0,
      originNetwork: 0 as NetworkId,
      originAddress: address,
      destinationNetwork: 1 as NetworkId,
      destinationAddress: address,
      amount: BigInt(depositCount),
      metadata: new Uint8Array(0),
    }
    this.depositLeaves.push(modelLeafHash(content))
    const sender = { caller: address, transactionSender: address }
    return [{ type: 'deposit', ...content, depositCount, sender }]
  }

  deposit(): Unplaced[] {
    const events = this.unforcedDeposit()
    this.mainnetExitRoot = new NaiveTree(this.depositLeaves).root
    return [...events, ...this.leaf()]
  }

  addRollup(networkId: number, initialLocalExitRoot = NO_ROOT): Unplaced[] {
    if (initialLocalExitRoot !== NO_ROOT) this.localExitRoots.set(networkId, initialLocalExitRoot)
    const rollup = { networkId: networkId as NetworkId, rollupAddress: Buffer.alloc(20, networkId) }
    return [{ type: 'rollupAdded', ...rollup, chainId: 1000n, initialLocalExitRoot }]
  }

  /** The leaf comes before the event that names the local exit root. */
  settle(networkId: number, localExitRoot: Hash, certainty: 'applied' | 'pending' = 'applied'): Unplaced[] {
    this.localExitRoots.set(networkId, localExitRoot)
    this.rollupExitRoot = this.rootOfRollups()
    return [...this.leaf(), this.settlement(networkId, localExitRoot, certainty)]
  }

  settlement(networkId: number, localExitRoot: Hash, certainty: 'applied' | 'pending'): Unplaced {
    return { type: 'rollupSettled', networkId: networkId as NetworkId, localExitRoot, certainty }
  }

  rootOfRollups(): Hash {
    const last = Math.max(...this.localExitRoots.keys())
    return new NaiveTree(
      Array.from({ length: last }, (_, index) => this.localExitRoots.get(index + 1) ?? NO_ROOT),
    ).root
  }

  /** UpdateL1InfoTree and its V2 for the present roots. */
  leaf(): Unplaced[] {
    const { mainnetExitRoot, rollupExitRoot } = this
    const { parentHash, timestampSec } = this.header
    const time = Buffer.alloc(8)
    time.writeBigUInt64BE(BigInt(timestampSec))
    this.infoLeaves.push(
      plainKeccak(Buffer.concat([hashPair(mainnetExitRoot, rollupExitRoot), parentHash, time])),
    )
    const leafCount = this.infoLeaves.length as LeafCount
    const l1InfoRoot = new NaiveTree(this.infoLeaves).root
    return [
      { type: 'l1InfoLeaf', mainnetExitRoot, rollupExitRoot },
      { type: 'l1InfoRoot', l1InfoRoot, leafCount, previousBlockHash: parentHash, timestampSec },
    ]
  }
}
