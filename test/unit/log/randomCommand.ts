import { haltReasons } from '../../../src/board/haltReason.js'
import { headPlaces } from '../../../src/board/statusBoard.js'
import type {
  BlockBatch,
  BlockHeader,
  ChainEvent,
  ForwardLeaf,
  IndexedBlock,
  Sender,
} from '../../../src/protocol/chainEvent.js'
import type {
  BlockNumber,
  ClaimOrdinal,
  DepositCount,
  L1InfoTreeIndex,
  LeafCount,
  Lineage,
  NetworkId,
} from '../../../src/protocol/units.js'
import type { CorrectedSender, RowSender, TransactionLog } from '../../../src/shard/senders.types.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import type { LogSettings } from '../../../src/shard/shardLog.types.js'
import { type TableName, tables } from '../../../src/store/layout/tables.js'
import type { TestNumbers } from '../../support/testNumbers.js'

/** Those behind are of one instance: no log has them. */
const LOGGED_REASONS = haltReasons.slice(0, haltReasons.indexOf('log_full'))

/**
 * Makes commands of every type from a seed, with values that are not checked against each other: small and large ones, and those at
 * the limits of their types. Their events are objects.
 */
export class RandomCommands {
  readonly #numbers: TestNumbers
  readonly #addresses: readonly Uint8Array[]
  readonly #metadata: readonly Uint8Array[]
  /** Of the last sender: many are of one transaction. */
  #transactionHash: Uint8Array = new Uint8Array(32)

  constructor(numbers: TestNumbers) {
    this.#numbers = numbers
    this.#addresses = Array.from({ length: 9 }, () => this.#bytes(20))
    this.#metadata = [0, 1, 31, 96, 300, 1_024, 1_025, 3_000].map((length) => this.#bytes(length))
  }

  next(): ShardCommand {
    const numbers = this.#numbers
    const startOvers = {
      count: this.#uint32(),
      notBeforeMs: numbers.pick([undefined, 0, 1_700_000_000_000, 0.5, Number.MAX_VALUE]),
    }
    return numbers.pick<() => ShardCommand>([
      () => ({ type: 'applyBlocks', batch: this.batch() }),
      () => ({
        ...{ type: 'revertTo', ancestor: this.#block() },
        ...(numbers.chance(0.5) ? {} : { reorgSeenAtSec: this.#block() }),
      }),
      () => ({ type: 'startOver', startOvers }),
      () => ({ type: 'noteStartOvers', startOvers }),
      () => ({ type: 'noteCatchingUp', isCatchingUp: numbers.chance(0.5) }),
      () => ({
        type: 'noteClaimsCompared',
        compared: this.#some(9, () => ({ sourceNetwork: this.#network(), deposits: this.#uint32() })),
        isWhole: numbers.chance(0.5),
      }),
      () => ({ type: 'setFinalized', block: this.#block() }),
      () => ({ type: 'resolveSenders', resolved: this.#some(40, () => this.#rowSender()) }),
      () => ({ type: 'correctSenders', corrected: this.#some(5, () => this.#corrected()) }),
      () => ({
        type: 'addPolledGers',
        globalExitRoots: this.#some(9, () => this.#hash()),
        polledLeaves: this.#uint32(),
      }),
      () => ({
        type: 'addSettledRoots',
        found: this.#some(9, () => ({
          ...{ root: this.#hash(), lineage: this.#uint32() as Lineage },
          leafCount: this.#uint32() as LeafCount,
        })),
      }),
      () => ({ type: 'begin', settings: this.#settings() }),
      () => ({
        type: 'mark',
        mark: {
          ...{ localExitRoot: this.#hash(), deposits: this.#uint32(), claims: this.#uint32() },
          ...{ l1InfoLeaves: this.#uint32(), digest: this.#hash(), schema: this.#uint32() },
          stretch: {
            table: numbers.pick(Object.keys(tables) as TableName[]),
            from: this.#bytes(1 + numbers.below(60)),
            entries: this.#uint32(),
          },
        },
      }),
      () => ({ type: 'noteHalt', reason: numbers.pick(LOGGED_REASONS) }),
      () => ({ type: 'noteHeadPlace', place: numbers.pick(Object.values(headPlaces)) }),
      () => ({
        type: 'noteClaimable',
        news: {
          madeFrom: this.#some(4, () => ({
            ...{ networkId: this.#network(), commits: this.#time(), epoch: this.#uint32() },
          })),
          stage: numbers.pick(['history', 'historyEnd', 'news']),
          unclaimable: this.#some(9, () => ({
            ...{ sourceNetwork: this.#network(), depositCount: this.#uint32() as DepositCount },
          })),
          claimable: this.#some(9, () => ({
            ...{ sourceNetwork: this.#network(), depositCount: this.#uint32() as DepositCount },
            ...{ transactionHash: this.#hash(), destinationAddress: this.#address() },
            ...{ leafType: numbers.below(256), l1InfoTreeIndex: this.#uint32() as L1InfoTreeIndex },
          })),
        },
      }),
    ])()
  }

  batch(): BlockBatch {
    return {
      ...{
        fromBlock: this.#block(),
        head: this.#header(),
        blocks: this.#some(6, () => this.#indexedBlock()),
      },
      ...{ finalizedBlock: this.#block(), undoFloor: this.#block() },
      ...this.#maybe(() => ({ batchUndoFloor: this.#block() })),
      ...this.#maybe(() => ({ perTransactionFrom: this.#block() })),
    }
  }

  #indexedBlock(): IndexedBlock {
    const header = this.#header()
    let transactionHash = this.#hash()
    const events = this.#some(12, (): ChainEvent => {
      if (this.#numbers.chance(0.6)) transactionHash = this.#hash()
      return this.#event({ blockNumber: header.number, logIndex: this.#uint32(), transactionHash })
    })
    return { header, events }
  }

  #event(place: { blockNumber: BlockNumber; logIndex: number; transactionHash: Uint8Array }): ChainEvent {
    const numbers = this.#numbers
    const sender = () => (numbers.chance(0.4) ? null : this.#sender())
    const deposit = () => ({ depositCount: this.#uint32() as DepositCount, sourceNetwork: this.#network() })
    const exitRoots = () => ({ mainnetExitRoot: this.#hash(), rollupExitRoot: this.#hash() })
    const cut = () => ({
      ...{ previousLeafCount: this.#leafCount(), previousRoot: this.#hash() },
      ...{ newLeafCount: this.#leafCount(), newRoot: this.#hash() },
    })
    const token = () => ({ originNetwork: this.#network(), originTokenAddress: this.#address() })
    const { sourceNetwork, depositCount } = deposit()
    return numbers.pick<() => ChainEvent>([
      () => ({ type: 'deposit', ...place, ...this.#leaf(), depositCount, sender: sender() }),
      () => {
        const { leafType, destinationNetwork, metadata, ...content } = this.#leaf()
        const generation = numbers.pick(['v1', 'v2'] as const)
        return {
          type: 'claim',
          ...place,
          ...content,
          generation,
          globalIndex: this.#uint256(),
          sender: sender(),
        }
      },
      () => ({
        ...{ type: 'claimUnset', ...place, sourceNetwork, depositCount },
        ...(numbers.chance(0.5) ? {} : { hashChain: this.#hash() }),
      }),
      () => ({ type: 'claimSet', ...place, sourceNetwork, depositCount, sender: sender() }),
      () => ({
        ...{ type: 'wrappedToken', ...place, ...token(), wrappedTokenAddress: this.#address() },
        metadata: numbers.pick(this.#metadata),
      }),
      () => ({
        ...{ type: 'sovereignToken', ...place, ...token(), sovereignTokenAddress: this.#address() },
        isNotMintable: numbers.chance(0.5),
      }),
      () => ({ type: 'legacyTokenRemoved', ...place, sovereignTokenAddress: this.#address() }),
      () => ({ type: 'l1InfoLeaf', ...place, ...exitRoots() }),
      () => ({
        ...{ type: 'l1InfoRoot', ...place, l1InfoRoot: this.#hash(), leafCount: this.#leafCount() },
        ...{ previousBlockHash: this.#hash(), timestampSec: this.#time() },
      }),
      () => ({ type: 'l1InfoRootMapInit', ...place, l1InfoRoot: this.#hash(), leafCount: this.#leafCount() }),
      () => ({ type: 'v1GlobalExitRoot', ...place, ...exitRoots() }),
      () => ({
        ...{
          type: 'rollupAdded',
          ...place,
          networkId: Math.max(1, this.#network()) as NetworkId,
          chainId: this.#uint256() >> 192n,
        },
        ...{ rollupAddress: this.#address(), initialLocalExitRoot: this.#hash() },
      }),
      () => ({
        ...{
          type: 'rollupSettled',
          ...place,
          networkId: Math.max(1, this.#network()) as NetworkId,
          localExitRoot: this.#hash(),
        },
        certainty: numbers.pick(['applied', 'pending']),
      }),
      () => ({ type: 'gerInjected', ...place, globalExitRoot: this.#hash() }),
      () => ({ type: 'gerRemoved', ...place, globalExitRoot: this.#hash() }),
      () => ({ type: 'backwardLet', ...place, ...cut() }),
      () => ({
        ...{ type: 'forwardLet', ...place, ...cut() },
        ...{ newLeaves: this.#some(4, () => this.#leaf()), sender: sender() },
      }),
      () => ({ type: 'emergencyState', ...place, active: numbers.chance(0.5) }),
      () => ({
        ...{ type: 'tokenMigrated', ...place, account: this.#address(), amount: this.#uint256() },
        ...{ legacyTokenAddress: this.#address(), updatedTokenAddress: this.#address() },
      }),
    ])()
  }

  #settings(): LogSettings {
    const numbers = this.#numbers
    return {
      ...{ logId: this.#bytes(16), networkId: this.#network(), chainId: this.#time() },
      ...{ bridge: this.#address(), globalExitRootManager: this.#address() },
      ...{ rollupManager: numbers.chance(0.5) ? undefined : this.#address(), startBlock: this.#block() },
      ...{ rollbackBlocks: this.#uint32(), finalityDepth: this.#uint32() },
      feedKeepEvents: this.#uint32(),
      finalityTag: numbers.pick(['latest', 'safe', 'finalized']),
      gerInjection: numbers.pick(['auto', 'event', 'poll']),
    }
  }

  #rowSender(): RowSender {
    const [kind, ordinal] = [
      this.#numbers.pick(['deposit', 'claim'] as const),
      this.#uint32() as DepositCount,
    ]
    const transactionHash = this.#numbers.chance(0.5) ? this.#transactionHash : this.#hash()
    this.#transactionHash = transactionHash.slice()
    const log = { transactionHash, logIndex: this.#uint32(), blockNumber: this.#block() }
    return { kind, ordinal, ...log, sender: this.#numbers.chance(0.2) ? null : this.#sender() }
  }

  #corrected(): CorrectedSender {
    const row = {
      ...{ kind: this.#numbers.pick(['deposit', 'claim'] as const), ordinal: this.#uint32() as ClaimOrdinal },
      ...{ transactionHash: this.#hash(), logIndex: this.#uint32(), blockNumber: this.#block() },
      ...{
        transactionLogs: this.#some(4, () => this.#transactionLog()),
        isUnknown: this.#numbers.chance(0.5),
      },
    }
    return { row, sender: this.#sender() }
  }

  #transactionLog(): TransactionLog {
    return {
      kind: this.#numbers.pick(['deposit', 'claim', 'claimSet', 'forwardLet']),
      logIndex: this.#uint32(),
      ...this.#maybe(() => ({ leafType: this.#numbers.below(256) })),
      ...this.#maybe(() => ({ originAddress: this.#address() })),
      ...this.#maybe(() => ({ depositCount: this.#uint32() as DepositCount })),
      ...this.#maybe(() => ({ globalIndex: this.#uint256() })),
      ...this.#maybe(() => ({ destinationNetwork: this.#network() })),
      ...this.#maybe(() => ({ destinationAddress: this.#address() })),
      ...this.#maybe(() => ({ amount: this.#uint256() })),
    }
  }

  #sender(): Sender {
    return {
      ...{ caller: this.#address(), transactionSender: this.#address() },
      ...this.#maybe(() => ({ isProvisional: this.#numbers.chance(0.5) })),
    }
  }

  #leaf(): ForwardLeaf {
    return {
      ...{ leafType: this.#numbers.pick([0, 1, 255]), originNetwork: this.#network() },
      ...{ originAddress: this.#address(), destinationNetwork: this.#network() },
      ...{ destinationAddress: this.#address(), amount: this.#uint256() },
      metadata: this.#numbers.pick(this.#metadata),
    }
  }

  #header(): BlockHeader {
    return {
      ...{ number: this.#block(), hash: this.#hash(), timestampSec: this.#time() },
      ...this.#maybe(() => ({ parentHash: this.#hash() })),
    }
  }

  #maybe<T>(make: () => T): T | Record<string, never> {
    return this.#numbers.chance(0.5) ? make() : {}
  }

  /** 0 … `most` of them. */
  #some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.#numbers.below(most + 1) }, make)
  }

  #bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#numbers.below(256))
  }

  #hash(): Uint8Array {
    return this.#numbers.chance(0.05) ? new Uint8Array(32) : this.#bytes(32)
  }

  /** One of few, mostly: those that come again are only named. */
  #address(): Uint8Array {
    return this.#numbers.chance(0.7) ? this.#numbers.pick(this.#addresses).slice() : this.#bytes(20)
  }

  #below2(bits: number): number {
    const numbers = this.#numbers
    const most = 2 ** numbers.below(bits + 1)
    return numbers.chance(0.1) ? 2 ** bits - 1 : Math.min(2 ** bits - 1, numbers.below(most))
  }

  #uint32(): number {
    return this.#below2(32)
  }

  #leafCount(): LeafCount {
    return this.#uint32() as LeafCount
  }

  #network(): NetworkId {
    return this.#uint32() as NetworkId
  }

  #block(): BlockNumber {
    return this.#below2(48) as BlockNumber
  }

  #time(): number {
    return this.#below2(53)
  }

  #uint256(): bigint {
    const value = BigInt(`0x${Buffer.from(this.#bytes(32)).toString('hex')}`)
    return this.#numbers.chance(0.1) ? 2n ** 256n - 1n : value >> BigInt(this.#numbers.below(257))
  }
}
