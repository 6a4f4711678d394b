import type {
  ChainEvent,
  DepositEvent,
  ForwardLeaf,
  IndexedBlock,
  Sender,
} from '../../src/protocol/chainEvent.js'
import { modelLeafHash, NaiveTree } from './naiveTree.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export interface ModelDeposit {
  readonly leaf: ForwardLeaf
  readonly leafHash: Uint8Array
  readonly transactionHash: Uint8Array
  readonly blockNumber: number
  readonly logIndex: number
  readonly isForwardLeaf: boolean
  readonly sender: Sender | null
}

export interface ModelClaim {
  readonly sourceNetwork: number
  readonly depositCount: number
  readonly transactionHash: Uint8Array
  readonly blockNumber: number
  readonly logIndex: number
  readonly isSetByAdministrator: boolean
  readonly destinationAddress: Uint8Array | null
  readonly amount: bigint
  readonly sender: Sender | null
  isInForce: boolean
}

export interface ModelMapping {
  readonly origin: string
  readonly wrapped: string
  isCurrent: boolean
  isRemoved: boolean
}

/** What a shard should hold after a list of blocks, in plain arrays and maps: the oracle of the writer's tests. */
export class ShardModel {
  readonly networkId: number
  deposits: ModelDeposit[] = []
  readonly archived: (ModelDeposit & { lineage: number; depositCount: number })[] = []
  lineage = 0
  /** What each lineage held when it was cut, and at which count, by its number. */
  readonly former: { leaves: readonly ModelDeposit[]; cut: number }[] = []
  /** Exit root → lineage and leaf count, the newest where a root occurred twice. */
  readonly localExitRoots = new Map<string, { lineage: number; leafCount: number }>()
  readonly claims: ModelClaim[] = []
  readonly mappings: ModelMapping[] = []
  readonly injections: string[] = []
  readonly gersInForce = new Set<string>()
  readonly l1InfoLeaves: { mainnetExitRoot: string; rollupExitRoot: string; mainnetLeafCount: number }[] = []
  isEmergency = false

  constructor(networkId: number, blocks: readonly IndexedBlock[] = []) {
    this.networkId = networkId
    for (const block of blocks) this.apply(block)
  }

  get root(): Uint8Array {
    return new NaiveTree(this.deposits.map((deposit) => deposit.leafHash)).root
  }

  apply({ header, events }: IndexedBlock): void {
    const { lineage } = this
    const before = this.deposits.length
    for (const event of events) this.#applyEvent(event, header.number)
    // A block that cuts the tree and regrows it to the same length ends with another root.
    if (this.networkId !== 0 && (this.deposits.length !== before || this.lineage !== lineage))
      this.#noteRoot()
  }

  #applyEvent(event: ChainEvent, blockNumber: number): void {
    switch (event.type) {
      case 'deposit':
        this.#addDeposit(event, event, blockNumber, false, event.sender)
        break
      case 'claim': {
        const isMainnet = (event.globalIndex >> 64n) & 1n
        const source = isMainnet ? 0 : Number((event.globalIndex >> 32n) & 0xffff_ffffn) + 1
        const v1Source = this.networkId === 0 ? 1 : 0
        const sourceNetwork = event.generation === 'v1' ? v1Source : source
        const depositCount = Number(event.globalIndex & 0xffff_ffffn)
        this.#takeOutOfForce(sourceNetwork, depositCount)
        this.claims.push({
          ...event,
          sourceNetwork,
          depositCount,
          isSetByAdministrator: false,
          isInForce: true,
        })
        break
      }
      case 'claimSet':
        if (this.claimInForce(event.sourceNetwork, event.depositCount)) break
        this.claims.push({
          ...event,
          isSetByAdministrator: true,
          destinationAddress: null,
          amount: 0n,
          isInForce: true,
        })
        break
      case 'claimUnset':
        this.#takeOutOfForce(event.sourceNetwork, event.depositCount)
        break
      case 'wrappedToken':
        this.#map(`${event.originNetwork}:${hex(event.originTokenAddress)}`, hex(event.wrappedTokenAddress))
        break
      case 'sovereignToken':
        this.#map(`${event.originNetwork}:${hex(event.originTokenAddress)}`, hex(event.sovereignTokenAddress))
        break
      case 'legacyTokenRemoved':
        for (const mapping of this.mappings)
          if (mapping.wrapped === hex(event.sovereignTokenAddress)) mapping.isRemoved = true
        break
      case 'gerInjected':
        if (this.gersInForce.has(hex(event.globalExitRoot))) break
        this.injections.push(hex(event.globalExitRoot))
        this.gersInForce.add(hex(event.globalExitRoot))
        break
      case 'gerRemoved':
        this.gersInForce.delete(hex(event.globalExitRoot))
        break
      case 'emergencyState':
        this.isEmergency = event.active
        break
      case 'l1InfoLeaf':
        this.l1InfoLeaves.push({
          mainnetExitRoot: hex(event.mainnetExitRoot),
          rollupExitRoot: hex(event.rollupExitRoot),
          mainnetLeafCount: this.#mainnetLeafCount(event.mainnetExitRoot),
        })
        break
      case 'backwardLet': {
        this.former.push({ leaves: [...this.deposits], cut: event.newLeafCount })
        const cut = this.deposits.splice(event.newLeafCount)
        cut.forEach((deposit, index) => {
          const depositCount = event.newLeafCount + index
          this.archived.push({ ...deposit, lineage: this.lineage, depositCount })
        })
        this.lineage++
        this.#noteRoot()
        break
      }
      case 'forwardLet':
        for (const leaf of event.newLeaves) {
          const hash = hex(modelLeafHash(leaf))
          const twins = this.archived.filter((deposit) => hex(deposit.leafHash) === hash)
          const sender = twins.length === 1 ? twins[0]!.sender : event.sender
          this.#addDeposit(leaf, event, blockNumber, true, sender)
        }
        this.#noteRoot()
        break
    }
  }

  /** Counts above every later cut at which a former lineage had the present leaf, by lineage. */
  regrown(): number[][] {
    return this.former.map(({ leaves }, lineage) => {
      const lowestCut = Math.min(...this.former.slice(lineage).map(({ cut }) => cut))
      return leaves.flatMap(({ leafHash }, depositCount) => {
        const today = this.deposits[depositCount]?.leafHash
        return depositCount >= lowestCut && today !== undefined && hex(today) === hex(leafHash)
          ? [depositCount]
          : []
      })
    })
  }

  claimInForce(sourceNetwork: number, depositCount: number): ModelClaim | undefined {
    return this.claims.find(
      (claim) =>
        claim.isInForce && claim.sourceNetwork === sourceNetwork && claim.depositCount === depositCount,
    )
  }

  #addDeposit(
    leaf: ForwardLeaf,
    position: Pick<DepositEvent, 'transactionHash' | 'logIndex'>,
    blockNumber: number,
    isForwardLeaf: boolean,
    sender: Sender | null,
  ): void {
    const { transactionHash, logIndex } = position
    const leafHash = modelLeafHash(leaf)
    this.deposits.push({ leaf, leafHash, transactionHash, blockNumber, logIndex, isForwardLeaf, sender })
  }

  #takeOutOfForce(sourceNetwork: number, depositCount: number): void {
    const claim = this.claimInForce(sourceNetwork, depositCount)
    if (claim !== undefined) claim.isInForce = false
  }

  #map(origin: string, wrapped: string): void {
    for (const mapping of this.mappings) if (mapping.origin === origin) mapping.isCurrent = false
    this.mappings.push({ origin, wrapped, isCurrent: true, isRemoved: false })
  }

  #noteRoot(): void {
    this.localExitRoots.set(hex(this.root), { lineage: this.lineage, leafCount: this.deposits.length })
  }

  #mainnetLeafCount(root: Uint8Array): number {
    if (root.every((byte) => byte === 0)) return 0
    if (!this.localExitRoots.has(hex(root))) this.#noteRoot()
    return this.localExitRoots.get(hex(root))!.leafCount
  }
}
