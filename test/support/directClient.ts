import type {
  ChainClient,
  ContractReads,
  FetchedRange,
  GerHashChains,
  Judgement,
  MappedToken,
  SenderAnswer,
  SenderQuestion,
  StateCheck,
} from '../../src/chain/chainClient.types.js'
import { senderKey } from '../../src/chain/senderKey.js'
import type { BlockHeader, Hash, IndexedBlock } from '../../src/protocol/chainEvent.js'
import { type ClaimedWord, claimedWordPosition } from '../../src/protocol/claimedBitMap.js'
import { decodeHex, encodeHex } from '../../src/protocol/hex.js'
import { asBlockNumber, type BlockNumber } from '../../src/protocol/units.js'
import type { FakeBlock, FakeNetwork } from './fakeChain.js'
import { claimedBitMap, localExitRootOf, wrappedToken } from './fakeState.js'
import { headerOf, indexedBlock } from './indexedBlocks.js'

type Method = Exclude<
  keyof ChainClient,
  | 'canTrace'
  | 'isDown'
  | 'isSilent'
  | 'probe'
  | 'close'
  | 'readCarefully'
  | 'distrust'
  | 'reorged'
  | 'checkContradiction'
  | 'readsManyWords'
  | 'countPerTransactionFrom'
  | 'getHighestHead'
>

/** A call of the client, before its answer. */
export interface DirectCall {
  readonly method: Method
  readonly from: number
  readonly to: number
}

/**
 * A chain client that reads a fake network's blocks without RPC: for tests of the sync loop alone. `before` may throw, wait
 * or change the world; `view` chooses the blocks that a call sees.
 */
export class DirectClient implements ChainClient {
  readonly calls: DirectCall[] = []
  readonly careful: Array<readonly [number, number]> = []
  before: (call: DirectCall) => void | Promise<void> = () => {}
  view: (call: DirectCall) => readonly FakeBlock[] = () => this.#network.blocks
  /** Widest range that is answered, in blocks. */
  maxRange = Number.POSITIVE_INFINITY
  finalized: (head: number) => number = (head) => head
  depositCount: (block: FakeBlock) => number | undefined = (block) => block.state.deposits.length
  isProvisional: (transactionHash: string) => boolean = () => false
  isUnknown: (transactionHash: string) => boolean = () => false
  /** Called with the transactions of each question, and may throw. */
  beforeSenders: (transactionHashes: readonly string[]) => void = () => {}
  /** The caller that a trace would show, by default tx.from. */
  callerOf: (transactionHash: string) => string | undefined = () => undefined
  tracing = true
  keepsHashChains = true
  down = false
  readonly #network: FakeNetwork

  constructor(network: FakeNetwork) {
    this.#network = network
  }

  callCount(method: Method): number {
    return this.calls.filter((call) => call.method === method).length
  }

  /**
   * From now on ranges lack the logs of the chosen blocks, as from a provider with holes. Every other answer is
   * complete.
   */
  hideLogs(isHole: (block: FakeBlock) => boolean): void {
    this.view = ({ method }) =>
      method === 'fetchRange'
        ? this.#network.blocks.map((block) => (isHole(block) ? { ...block, logs: [] } : block))
        : this.#network.blocks
  }

  async verifyIdentity(): Promise<void> {
    await this.#call('verifyIdentity')
  }

  async getHead(): Promise<BlockHeader> {
    const { blocks } = await this.#call('getHead')
    return headerOf(blocks.at(-1)!)
  }

  getHighestHead(): Promise<BlockHeader> {
    return this.getHead()
  }

  async getHeader(number: BlockNumber): Promise<BlockHeader | undefined> {
    const { blocks } = await this.#call('getHeader', number, number)
    const block = blocks[number]
    return block && headerOf(block)
  }

  async getFinalizedBlock({ number: head }: Pick<BlockHeader, 'number'>): Promise<BlockNumber> {
    await this.#call('getFinalizedBlock', head, head)
    return asBlockNumber(Math.min(head, this.finalized(head)))
  }

  async fetchRange(from: BlockNumber, to: BlockNumber): Promise<FetchedRange> {
    const { blocks } = await this.#call('fetchRange', from, to)
    const last = Math.min(to, from + this.maxRange - 1)
    const stretch = blocks.slice(from, last + 1)
    return {
      fromBlock: from,
      head: headerOf(stretch.at(-1)!),
      blocks: stretch.map((block) => this.indexed(block)).filter(({ events }) => events.length > 0),
    }
  }

  /** A block as the real client decodes it, with open senders. */
  indexed(block: FakeBlock): IndexedBlock {
    return indexedBlock(this.#network, block, false)
  }

  readCarefully(from: BlockNumber, to: BlockNumber): void {
    this.careful.push([from, to])
  }

  async resolveSenders(questions: readonly SenderQuestion[]): Promise<Map<string, SenderAnswer>> {
    const { blocks } = await this.#call('resolveSenders', questions.length, questions.length)
    this.beforeSenders(questions.map(({ transactionHash }) => encodeHex(transactionHash)))
    const answers = new Map<string, SenderAnswer>()
    for (const { transactionHash, logs } of questions) {
      const hash = encodeHex(transactionHash)
      if (this.isUnknown(hash)) continue
      const { from } = blocks.flatMap((block) => block.transactions).find((each) => each.hash === hash)!
      const isProvisional = this.isProvisional(hash)
      const caller = isProvisional ? from : (this.callerOf(hash) ?? from)
      const sender = { caller: decodeHex(caller)!, transactionSender: decodeHex(from)! }
      for (const { logIndex } of logs)
        answers.set(senderKey(transactionHash, logIndex), {
          ...sender,
          isProvisional,
          isTraceFailed: isProvisional && this.tracing,
        })
    }
    return answers
  }

  canTrace(): boolean {
    return this.tracing
  }

  async getContractDepositCount(block: BlockNumber): Promise<number | undefined> {
    return this.depositCount(await this.#at(block, 'getContractDepositCount'))
  }

  async getContractLocalExitRoot(block: BlockNumber): Promise<Hash | undefined> {
    return decodeHex(localExitRootOf((await this.#at(block, 'getContractLocalExitRoot')).state))
  }

  async getContractL1InfoLeafCount(block: BlockNumber): Promise<number | undefined> {
    return (await this.#at(block, 'getContractL1InfoLeafCount')).state.l1InfoLeaves.length
  }

  async findInjectedGers(globalExitRoots: readonly Hash[], block: BlockNumber): Promise<boolean[]> {
    const { state } = await this.#at(block, 'findInjectedGers', globalExitRoots.length)
    return globalExitRoots.map((ger) => state.globalExitRoots.has(encodeHex(ger)))
  }

  async getClaimedWords(words: readonly ClaimedWord[], block: BlockNumber): Promise<(bigint | undefined)[]> {
    const { state } = await this.#at(block, 'getClaimedWords', words.length)
    const { networkId } = this.#network
    return words.map((word) => claimedBitMap(networkId, state, BigInt(claimedWordPosition(networkId, word))))
  }

  async getWrappedTokens(
    tokens: readonly MappedToken[],
    block: BlockNumber,
  ): Promise<(Uint8Array | undefined)[]> {
    const { state } = await this.#at(block, 'getWrappedTokens', tokens.length)
    return tokens.map(({ originNetwork, originTokenAddress }) =>
      decodeHex(wrappedToken(state, originNetwork, encodeHex(originTokenAddress))),
    )
  }

  async getEmergencyState(block: BlockNumber): Promise<boolean | undefined> {
    return (await this.#at(block, 'getEmergencyState')).state.emergency
  }

  async getGerHashChains(block: BlockNumber): Promise<GerHashChains | undefined> {
    const { injectionHashChain, removalHashChain } = (await this.#at(block, 'getGerHashChains')).state
    if (!this.keepsHashChains) return undefined
    return { inserted: decodeHex(injectionHashChain)!, removed: decodeHex(removalHashChain)! }
  }

  async getKnownGers(globalExitRoots: readonly Hash[], block: BlockNumber): Promise<(boolean | undefined)[]> {
    const { state } = await this.#at(block, 'getKnownGers', globalExitRoots.length)
    return globalExitRoots.map((ger) => state.globalExitRoots.has(encodeHex(ger)))
  }

  /** Whether its answer counts when it differs from what is stored. */
  isProven: (check: StateCheck) => boolean = () => true

  async checkContradiction<T>(
    check: StateCheck,
    stored: T,
    ask: (reads: ContractReads) => Promise<T | undefined>,
  ): Promise<Judgement<T>> {
    const answer = this.isProven(check) ? await ask(this) : undefined
    if (answer === undefined) return { type: 'open' }
    return answer === stored ? { type: 'refuted' } : { type: 'proven', answer }
  }

  readsManyWords(): boolean {
    return false
  }

  distrust(): void {}

  reorged(): void {}

  countPerTransactionFrom(): void {}

  isSilent(): boolean {
    return false
  }

  async probe(): Promise<void> {}

  isDown(): boolean {
    return this.down
  }

  close(): void {}

  async #at(block: BlockNumber, method: Method, to: number = block): Promise<FakeBlock> {
    return (await this.#call(method, block, to)).blocks[block]!
  }

  async #call(method: Method, from = 0, to = 0): Promise<{ blocks: readonly FakeBlock[] }> {
    const call = { method, from, to }
    this.calls.push(call)
    await this.before(call)
    return { blocks: this.view(call) }
  }
}
