import { hexToBytes, keccak256 } from 'viem/utils'
import { plainBlocks } from '../../../src/events/rowsOfLogs.js'
import type { BlockBatch, BlockHeader, ChainEvent, Hash, Sender } from '../../../src/protocol/chainEvent.js'
import { decodeGlobalIndex } from '../../../src/protocol/globalIndex.js'
import { encodeHex } from '../../../src/protocol/hex.js'
import { asClaimOrdinal, asDepositCount, asNetworkId, type BlockNumber } from '../../../src/protocol/units.js'
import type { ContractState, CurrentMapping } from '../../../src/shard/contractState.types.js'
import type {
  CorrectedSender,
  NotedSender,
  NotedSendersRange,
  RowSender,
  SenderNotes,
  TransactionLog,
  UnresolvedSender,
} from '../../../src/shard/senders.types.js'
import type {
  Applied,
  CommandOutcome,
  RefusalReason,
  Refused,
  ShardCommand,
  StartOvers,
} from '../../../src/shard/shardCommand.types.js'
import type { ShardCounts, ShardWriter } from '../../../src/shard/shardWriter.types.js'
import { ContractTree, depositLeaf } from '../../support/naiveTree.js'

interface Row {
  readonly header: BlockHeader
  readonly event: ChainEvent
  sender: Sender | null
  /** No endpoint knows the transaction. */
  isUntold?: boolean
}

/** A shard writer that keeps lists in memory. It checks that deposit counts have no gap and keeps undo, nothing else. */
export class MemoryShard implements ShardWriter {
  /** Every batch that was applied, reverted ones too. */
  readonly batches: BlockBatch[] = []
  readonly reverts: number[] = []
  finalized = 0
  readonly polledGers: Hash[] = []
  #polledLeaves: number | undefined
  /** Thrown by the next commands that apply blocks, once each. */
  readonly failures: Error[] = []
  #headers: BlockHeader[] = []
  #rows: Row[] = []
  #undoFloor = 0

  /** All events in force with their senders, in order. */
  events(): ReadonlyArray<{
    readonly block: number
    readonly event: ChainEvent
    readonly sender: Sender | null
  }> {
    return this.#rows.map(({ header, event, sender }) => ({ block: header.number, event, sender }))
  }

  checkpoint(): BlockHeader | undefined {
    return this.#headers.at(-1)
  }

  origin(): BlockHeader | undefined {
    return this.batches[0]?.head
  }

  headerAtOrBelow(block: BlockNumber): BlockHeader | undefined {
    return this.#headers.findLast((header) => header.number <= block)
  }

  perTransactionFrom(): undefined {
    return undefined
  }

  counts(): ShardCounts {
    const of = (type: ChainEvent['type']) => this.#rows.filter(({ event }) => event.type === type).length
    const open = this.#rows.filter(needsSender).length
    return {
      deposits: of('deposit'),
      claims: of('claim'),
      l1InfoLeaves: of('l1InfoLeaf'),
      unresolvedSenders: open,
      gerInjections: of('gerInjected'),
    }
  }

  localExitRoot(): Hash {
    const deposits = this.#rows.flatMap(({ event }) => (event.type === 'deposit' ? [event] : []))
    return deposits.reduce(
      (tree, deposit) => tree.append(hexToBytes(depositLeaf(deposit))),
      new ContractTree(),
    ).root
  }

  readonly contractState: ContractState = {
    claimSources: () => [...new Set(this.#claimed().map(([source]) => asNetworkId(source)))],
    claimedWordsFrom: (source, from) => {
      const words = this.#claimed().flatMap(([of, depositCount]) =>
        of === source ? [depositCount >>> 8] : [],
      )
      return [...new Set(words)].filter((word) => word >= from).sort((a, b) => a - b)
    },
    claimedWord: ({ sourceNetwork, word }) =>
      this.#claimed()
        .filter(([of, depositCount]) => of === sourceNetwork && depositCount >>> 8 === word)
        .reduce((bits, [, depositCount]) => bits | (1n << BigInt(depositCount & 0xff)), 0n),
    lastRootChange: () => this.#rows.findLast(({ event }) => event.type === 'deposit')?.header.number,
    currentMappings: (below, limit) => {
      const newest = new Map<string, CurrentMapping>()
      const told = this.#rows.flatMap(({ event }) =>
        event.type === 'wrappedToken' || event.type === 'sovereignToken' ? [event] : [],
      )
      told.forEach((event, ordinal) => {
        const { originNetwork, originTokenAddress } = event
        const wrappedTokenAddress =
          event.type === 'wrappedToken' ? event.wrappedTokenAddress : event.sovereignTokenAddress
        newest.set(`${originNetwork} ${encodeHex(originTokenAddress)}`, {
          ordinal,
          originNetwork,
          originTokenAddress,
          wrappedTokenAddress,
        })
      })
      return [...newest.values()]
        .filter((each) => each.ordinal < below && each.originTokenAddress.some((byte) => byte !== 0))
        .sort((a, b) => b.ordinal - a.ordinal)
        .slice(0, limit)
    },
    isEmergency: () => {
      const told = this.#rows.flatMap(({ event }) => (event.type === 'emergencyState' ? [event.active] : []))
      return told.at(-1) ?? false
    },
    insertionChain: () =>
      this.#rows.reduce<Uint8Array>(
        (chain, { event }) =>
          event.type === 'gerInjected'
            ? keccak256(Buffer.concat([chain, event.globalExitRoot]), 'bytes')
            : chain,
        new Uint8Array(32),
      ),
    gerRemovals: () => this.#rows.filter(({ event }) => event.type === 'gerRemoved').length,
    isGerInForce: (root) => {
      const last = this.#rows.findLast(
        ({ event }) =>
          (event.type === 'gerInjected' || event.type === 'gerRemoved') &&
          Buffer.compare(event.globalExitRoot, root) === 0,
      )
      return last?.event.type === 'gerInjected'
    },
  }

  /** Claims in force: source and deposit count. */
  #claimed(): (readonly [number, number])[] {
    const claimed = new Map<string, readonly [number, number]>()
    for (const { event } of this.#rows) {
      if (event.type !== 'claim' && event.type !== 'claimUnset' && event.type !== 'claimSet') continue
      const { sourceNetwork, depositCount } =
        event.type === 'claim' ? decodeGlobalIndex(event.globalIndex) : event
      const key = `${sourceNetwork}:${depositCount}`
      if (event.type === 'claimUnset') claimed.delete(key)
      else claimed.set(key, [sourceNetwork, depositCount])
    }
    return [...claimed.values()]
  }

  apply(command: ShardCommand): CommandOutcome {
    switch (command.type) {
      case 'applyBlocks':
        return this.#applyBlocks(command.batch)
      case 'revertTo':
        return this.#revertTo(command.ancestor)
      case 'startOver':
        this.#startOver(command.startOvers)
        return APPLIED
      case 'noteStartOvers':
        this.#startOvers = command.startOvers
        return APPLIED
      case 'noteCatchingUp':
        this.isCatchingUp = command.isCatchingUp
        return APPLIED
      case 'noteClaimsCompared':
        if (command.isWhole || this.claimsCompared.size > 0)
          for (const { sourceNetwork, deposits } of command.compared)
            this.claimsCompared.set(sourceNetwork, deposits)
        return APPLIED
      case 'setFinalized':
        this.finalized = Math.max(this.finalized, command.block)
        return APPLIED
      case 'resolveSenders':
        return this.#resolveSenders(command.resolved)
      case 'correctSenders':
        this.#correctSenders(command.corrected)
        return APPLIED
      case 'addPolledGers':
        this.polledGers.push(...command.globalExitRoots)
        this.#polledLeaves = command.polledLeaves
        return APPLIED
      case 'addSettledRoots':
        throw new Error('a memory shard has no roots inside a block')
    }
  }

  #applyBlocks(batch: BlockBatch): CommandOutcome {
    const failure = this.failures.shift()
    if (failure) throw failure
    const rows: Row[] = []
    const open = new Set(this.#rows.filter(needsSender).map(({ event }) => event.type))
    let next = this.counts().deposits
    for (const { header, events } of plainBlocks(batch.blocks))
      for (const event of events) {
        if (event.type === 'deposit' && event.depositCount !== next++)
          return refused('deposit_count_gap', `deposit ${event.depositCount}, expected ${next - 1}`)
        // Like the store: a sender that is known before that of an older row is left out, and found again later.
        const isOpen = open.has(event.type)
        const row = { header, event, sender: 'sender' in event && !isOpen ? event.sender : null }
        if (needsSender(row)) open.add(event.type)
        rows.push(row)
      }
    const floor = batch.batchUndoFloor ?? batch.undoFloor
    // Of blocks that are reverted together only the last one can be reverted to.
    const together = batch.blocks.filter(({ header }) => header.number <= batch.undoFloor).slice(0, -1)
    const headers = batch.blocks.filter((block) => !together.includes(block)).map(({ header }) => header)
    if (headers.at(-1)?.number !== batch.head.number) headers.push(batch.head)
    this.batches.push(batch)
    this.#rows = [...this.#rows, ...rows]
    this.#headers = [...this.#headers, ...headers]
    this.#undoFloor = Math.max(this.#undoFloor, floor)
    this.finalized = Math.max(this.finalized, batch.finalizedBlock)
    return APPLIED
  }

  polledLeaves(): number | undefined {
    return this.#polledLeaves
  }

  #revertTo(ancestor: BlockNumber): CommandOutcome {
    if (ancestor < Math.min(this.#undoFloor, this.checkpoint()!.number))
      return refused('reorg_too_deep', `block ${ancestor} is below the undo kept`)
    this.reverts.push(ancestor)
    this.#headers = this.#headers.filter((header) => header.number <= ancestor)
    this.#rows = this.#rows.filter(({ header }) => header.number <= ancestor)
    return APPLIED
  }

  readonly startedOver: StartOvers[] = []
  #startOvers: StartOvers | undefined

  oldestAncestor(): BlockHeader | undefined {
    return this.#headers.find(({ number }) => number >= this.#undoFloor)
  }

  #startOver(startOvers: StartOvers): void {
    this.startedOver.push(startOvers)
    this.#startOvers = startOvers
    this.#headers = []
    this.#rows = []
    this.#undoFloor = 0
    this.finalized = 0
    this.#polledLeaves = undefined
  }

  startOvers(): StartOvers | undefined {
    return this.#startOvers
  }

  isCatchingUp = false
  /** Deposits whose claims were compared, by source network. */
  readonly claimsCompared = new Map<number, number>()

  unresolvedSenders(limit: number): UnresolvedSender[] {
    const open: UnresolvedSender[] = []
    const ordinals = { deposit: 0, claim: 0 }
    for (const row of this.#rows) {
      if (row.event.type !== 'deposit' && row.event.type !== 'claim') continue
      const ordinal = ordinals[row.event.type]++
      if (!needsSender(row) || open.length >= limit) continue
      const { transactionHash, logIndex, type: kind } = row.event
      const named = kind === 'deposit' ? asDepositCount(ordinal) : asClaimOrdinal(ordinal)
      const place = { transactionHash, logIndex, blockNumber: row.header.number }
      open.push({ kind, ordinal: named, ...place, transactionLogs: this.#logsOf(transactionHash) })
    }
    return open
  }

  #resolveSenders(resolved: readonly RowSender[]): CommandOutcome {
    for (const { kind, ordinal, sender } of resolved) {
      const rows = this.#rows.filter(({ event }) => event.type === kind)
      const first = rows.findIndex(needsSender)
      if (first !== ordinal)
        return refused('not_at_watermark', `${kind} ${ordinal} is not the next one without a sender`)
      rows[first]!.sender = sender
      rows[first]!.isUntold = sender === null
    }
    return APPLIED
  }

  senderNotes(): SenderNotes {
    const noted = this.notedSenders({ limit: Number.POSITIVE_INFINITY })
    const unknown = noted.filter(({ isUnknown }) => isUnknown).length
    return { unknown, provisional: noted.length - unknown }
  }

  notedSenders({ limit, after, onlyUnknown }: NotedSendersRange): NotedSender[] {
    const noted: NotedSender[] = []
    for (const kind of ['deposit', 'claim'] as const)
      for (const [ordinal, row] of this.#rows.filter(({ event }) => event.type === kind).entries()) {
        if (row.isUntold !== true && (onlyUnknown === true || row.sender?.isProvisional !== true)) continue
        const { transactionHash, logIndex } = row.event
        const named = kind === 'deposit' ? asDepositCount(ordinal) : asClaimOrdinal(ordinal)
        const place = { transactionHash, logIndex, blockNumber: row.header.number }
        const transactionLogs = this.#logsOf(transactionHash)
        noted.push({ kind, ordinal: named, ...place, transactionLogs, isUnknown: row.isUntold === true })
      }
    const isBehind = ({ kind, ordinal }: NotedSender) =>
      after !== undefined && (kind === after.kind ? ordinal > after.ordinal : kind === 'claim')
    return [...noted.filter(isBehind), ...noted.filter((note) => !isBehind(note))].slice(0, limit)
  }

  #correctSenders(corrected: readonly CorrectedSender[]): void {
    for (const { row, sender } of corrected) {
      const stored = this.#rows.filter(({ event }) => event.type === row.kind)[row.ordinal]
      if (stored === undefined || Buffer.compare(stored.event.transactionHash, row.transactionHash) !== 0)
        continue
      stored.sender = sender
      stored.isUntold = false
    }
  }

  async close(): Promise<void> {}

  #logsOf(transactionHash: Hash): TransactionLog[] {
    const logs: TransactionLog[] = []
    for (const { event } of this.#rows)
      if (
        (event.type === 'deposit' || event.type === 'claim') &&
        Buffer.compare(event.transactionHash, transactionHash) === 0
      )
        logs.push({ kind: event.type, logIndex: event.logIndex })
    return logs
  }
}

const APPLIED: Applied = { type: 'applied' }

function refused(reason: RefusalReason, message: string): Refused {
  return { type: 'refused', reason, message }
}

function needsSender({ event, sender, isUntold }: Row): boolean {
  return (event.type === 'deposit' || event.type === 'claim') && sender === null && isUntold !== true
}
