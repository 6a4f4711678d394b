import type { CommitWatch } from '../../board/statusBoard.js'
import type { ChainClient, FetchedRange } from '../../chain/chainClient.types.js'
import type { NetworkConfig } from '../../config/config.types.js'
import { RetryableError } from '../../errors/chainErrors.js'
import type { BlockEvent, BlockHeader, IndexedBlock } from '../../protocol/chainEvent.js'
import { asBlockNumber, type NetworkId } from '../../protocol/units.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { ClaimableSearch } from '../../shard/readiness/claimableSearch.js'
import type { L1InfoGerReader } from '../../shard/readiness/l1ShardReader.js'
import type { ShardReads } from '../../shard/shardWriter.types.js'
import { type Clock, unixMs } from '../../telemetry/clocks.js'
import type { Auditor } from '../audit/audit.js'
import { openAuditor } from '../audit/openAuditor.js'
import { LINKED_DEPTH, LocalChain } from '../localChain.js'
import { Recovery } from '../recovery/recovery.js'
import { RecoveryDriver } from '../recovery/recoveryDriver.js'
import { StartOver } from '../recovery/startOver.js'
import { resolveBeforeCommit } from '../senders/batchSenders.js'
import { SenderPass } from '../senders/senderPass.js'
import type { SyncReport } from '../syncReport.js'
import {
  assertContinues,
  BatchUndo,
  type ChainPosition,
  countEvents,
  isCountedAlike,
  makeBatch,
  UNDOABLE_BATCHES,
} from './batches.js'
import { ClaimableTeller } from './claimableTeller.js'
import type { ExitRootSearch } from './exitRootSearch.js'
import type { GerPoller } from './gerPoller.js'
import type { HeadHints } from './headHints.js'
import { HeadWatch } from './headWatch.js'
import { assertIdentity } from './origin.js'
import { PollPacer } from './pollPacer.js'
import { seedShard } from './seedShard.js'
import { watchSilence } from './silenceWatch.js'
import { stretchEvents, WindowPipeline } from './windowPipeline.js'

/** At the tip, blocks wait so long for their senders before they are committed without. */
const SENDER_BUDGET_MS = 2_000
/** In backfill the head is asked for this often; nothing else depends on it there. */
const HEAD_REFRESH_MS = 5_000
/** A resting network looks at what other networks have stored as soon as one commits, but not more often than this. */
const LOOKS_APART_MS = 50
/** Claims of deposits that others store all the time are compared no more often than this. */
const COMPARISONS_APART_MS = 200
/** Pause between two steps of an exit root search that is not finished. */
const SEARCH_REST_MS = 5

export interface SyncLoopOptions {
  readonly network: NetworkConfig
  readonly client: ChainClient
  readonly writer: ShardReads
  readonly proposer: Proposer
  readonly clock: Clock
  readonly report: SyncReport
  /** Finds injections that have no event; absent where all have one. */
  readonly gerPoller?: Pick<GerPoller, 'hasNews' | 'sweep'>
  /** Finds roots that were settled inside a block; absent on the L1. */
  readonly exitRootSearch?: Pick<ExitRootSearch, 'hasWork' | 'isBehind' | 'step'>
  /** Ends waits when a new head is announced. */
  readonly headHints?: Pick<HeadHints, 'hasNews' | 'rest'>
  /** Ends waits when another network has committed. */
  readonly commits: Pick<CommitWatch, 'count' | 'onCommit'>
  /** Number of indexed deposits, by source network: those that may have been claimed here. */
  readonly indexedDeposits: () => ReadonlyMap<NetworkId, number>
  /** Finds out what the feed must be told of deposits to this network. */
  readonly claimables?: Pick<ClaimableSearch, 'next' | 'forget' | 'isBehind'>
  /** L1 info leaves; absent on the L1. */
  readonly leaves?: Pick<L1InfoGerReader, 'read'>
  /** Called when a history was read and all its senders are known: much memory was used that is not needed at the head. */
  readonly afterHistory?: () => void
}

/**
 * Follows one network from its checkpoint to the head, and then block by block, until `signal` aborts. All state is in the shard: a
 * restart goes on from the checkpoint. It never throws: failures are published on the status board.
 */
export async function runSyncLoop(options: SyncLoopOptions, signal: AbortSignal): Promise<void> {
  await Promise.all([new SyncLoop(options, signal).run(), watchSilence(options, signal)])
}

/** Why a rest has ended: its time is over, a head was announced, a network has committed or senders were answered. */
type RestEnd = 'rested' | 'announced' | 'woken'

class SyncLoop {
  readonly #options: SyncLoopOptions
  readonly #signal: AbortSignal
  readonly #chain: LocalChain
  readonly #senders: SenderPass
  readonly #auditor: Auditor
  readonly #recovery: Recovery
  readonly #driver: RecoveryDriver
  readonly #pacer: PollPacer
  readonly #headWatch: HeadWatch
  /** Absent where nothing is told of what can be claimed. */
  readonly #claimableTeller: ClaimableTeller | undefined
  #isIdentified = false
  /** A backfill has ended since the last call of `afterHistory`. */
  #hasReadHistory = false
  /** No open row has waited for its sender since the last step. */
  #areSendersKnown = false
  /** When this network last compared fresh claims while it rested. */
  #comparedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: SyncLoopOptions, signal: AbortSignal) {
    const { client, writer, proposer, clock, report, network } = options
    this.#options = options
    this.#signal = signal
    this.#chain = new LocalChain(client, writer, network)
    this.#senders = new SenderPass({ client, writer, proposer, clock, report })
    const driver = new RecoveryDriver({ client, proposer, report })
    this.#driver = driver
    this.#auditor = openAuditor({ ...options, driver })
    const windowBlocks = Math.max(network.logRange, LINKED_DEPTH)
    const startOver = new StartOver({
      writer,
      proposer,
      clock,
      report,
      compare: () => this.#auditor.compareStored(writer.checkpoint()!, signal),
      finalizedBlock: async () => (await this.#position(await client.getHead(signal))).finalizedBlock,
    })
    this.#recovery = new Recovery({
      client,
      writer,
      proposer,
      clock,
      report,
      driver,
      windowBlocks,
      startOver,
      deepestRewind: Math.max(network.rollbackBlocks, UNDOABLE_BATCHES * windowBlocks),
    })
    const { pollIntervalMs } = network
    this.#pacer = new PollPacer(clock, pollIntervalMs)
    this.#headWatch = new HeadWatch({ client, stored: writer, clock, report, pollIntervalMs })
    const { claimables, commits } = options
    const failed = (error: unknown): Promise<void> => this.#recovery.failed(error, signal)
    this.#claimableTeller =
      claimables && new ClaimableTeller({ claimables, proposer, commits, clock, report, failed })
  }

  async run(): Promise<void> {
    await Promise.all([this.#turns(), this.#claimableTeller?.run(this.#signal)])
  }

  async #turns(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#turn()
      } catch (error) {
        if (this.#signal.aborted) return
        this.#chain.doubt()
        if (!(error instanceof RetryableError)) this.#isIdentified = false
        await this.#recovery.failed(error, this.#signal)
      }
    }
  }

  /** One look at the head and what follows from it. */
  async #turn(): Promise<void> {
    const { client, writer, report } = this.#options
    if (!this.#isIdentified) await assertIdentity(client, writer, this.#signal)
    this.#isIdentified = true
    client.countPerTransactionFrom(writer.perTransactionFrom())
    const wanted = this.#headWatch.wantedHeight()
    const head = await (wanted === undefined
      ? client.getHead(this.#signal)
      : client.getHighestHead(wanted, this.#signal))
    this.#pacer.saw(head)
    report.head(head, writer.checkpoint())
    if (writer.checkpoint() === undefined) await seedShard(this.#options, head, this.#signal)
    const news = await this.#chain.observe(head, this.#signal)
    if (news.type === 'behind') {
      // The next head must be compared with the stored chain before it counts as in step.
      this.#chain.doubt()
      if (await this.#headWatch.outOfStep(head, this.#signal)) this.#isIdentified = false
      return this.#untilNextLook(undefined)
    }
    // Before inStep: deposits that the reorg took back must not be ready even for a moment.
    if (news.type === 'reorg') await this.#revert(news.ancestor)
    // Nor must deposits whose claims may be in many blocks that were missed.
    if (news.type !== 'current') await this.#noteAbsence(head)
    this.#headWatch.inStep()
    if (news.type === 'ahead') return this.#follow(head)
    if (news.type === 'reorg') return
    this.#claimableTeller?.release()
    return this.#untilNextLook(head)
  }

  async #revert(ancestor: BlockHeader): Promise<void> {
    const { client, writer, proposer, report } = this.#options
    const checkpoint = writer.checkpoint()!
    this.#claimableTeller?.hold(this.#signal)
    const reorgSeenAtSec = Math.floor(unixMs() / 1000)
    await proposeOrThrow(proposer, { type: 'revertTo', ancestor: ancestor.number, reorgSeenAtSec })
    client.reorged(ancestor.number)
    this.#senders.reorged(ancestor.number)
    report.reorged(checkpoint, ancestor)
  }

  /** After a long absence, as after the first start: claims made meanwhile are not known yet. */
  async #noteAbsence(head: BlockHeader): Promise<void> {
    const { proposer, network } = this.#options
    if (this.#isFar(head) && this.#missingUpTo(head) > network.rollbackBlocks)
      await proposeOrThrow(proposer, { type: 'noteCatchingUp', isCatchingUp: true })
  }

  #isFar(head: BlockHeader): boolean {
    return this.#missingUpTo(head) > LINKED_DEPTH
  }

  #missingUpTo(head: BlockHeader): number {
    return head.number - this.#options.writer.checkpoint()!.number
  }

  /** Reads on from the checkpoint: by windows while the head is far, then all that is left in one batch. */
  async #follow(head: BlockHeader): Promise<void> {
    if (this.#isFar(head)) return this.#backfill(head)
    const checkpoint = this.#options.writer.checkpoint()!
    const position = await this.#position(head)
    const range = await this.#options.client.fetchRange(
      asBlockNumber(checkpoint.number + 1),
      head.number,
      this.#signal,
    )
    await this.#assertLinked(range, head)
    const blocks = await this.#withSenders(range.blocks)
    await this.#commit(range, blocks, position)
    if (countEvents(blocks) > 0) await this.#driver.observe({ type: 'storedEvents' })
    if (range.head.number === head.number) await this.#untilNextLook(head)
  }

  async #backfill(firstHead: BlockHeader): Promise<void> {
    const { client, writer, clock, network } = this.#options
    let position = await this.#position(firstHead)
    let headAtMs = clock.now()
    const from = writer.checkpoint()!.number + 1
    const target = firstHead.number - LINKED_DEPTH
    const joinedUpTo = firstHead.number - network.rollbackBlocks
    const plan = { from, target, joinedUpTo, windowBlocks: network.logRange }
    const windows = new WindowPipeline(client, plan, this.#signal)
    const undo = new BatchUndo(writer)
    try {
      const nextStretch = () => windows.next(stretchEvents(writer.counts().deposits))
      for (let next = await nextStretch(); next !== undefined; next = await nextStretch()) {
        const { range, following } = next
        if (following !== undefined) assertContinues(writer.counts().deposits, range, following)
        await this.#assertLinked(range, position.head)
        const floor = undo.nextFloor(countEvents(range.blocks), range.head.number)
        await this.#commit(range, range.blocks, position, floor)
        await this.#auditor.afterWindow(range.head, this.#signal)
        if (clock.now() - headAtMs >= HEAD_REFRESH_MS) {
          headAtMs = clock.now()
          position = await this.#refreshed(position)
          const { number } = position.head
          windows.moveTarget(number - LINKED_DEPTH, number - network.rollbackBlocks)
        }
      }
    } finally {
      windows.cancel()
    }
    this.#hasReadHistory = true
    // Now, while history can still be taken back.
    await this.#auditor.afterBackfill(writer.checkpoint()!, this.#signal)
  }

  /** The position at the newest head. A head that lags changes nothing. */
  async #refreshed(position: ChainPosition): Promise<ChainPosition> {
    const { client, writer, report } = this.#options
    const head = await client.getHead(this.#signal)
    if (head.number <= position.head.number) return position
    report.head(head, writer.checkpoint())
    return this.#position(head)
  }

  async #commit(
    range: FetchedRange,
    blocks: readonly IndexedBlock<BlockEvent>[],
    position: ChainPosition,
    batchUndoFloor?: number,
  ): Promise<void> {
    const { writer, proposer, report, network } = this.#options
    this.#signal.throwIfAborted()
    const countedFrom = writer.perTransactionFrom()
    if (!isCountedAlike(countedFrom, range))
      throw new RetryableError(
        `logs from block ${range.fromBlock} on were read before it was known that they are numbered per transaction`,
      )
    const batch = makeBatch(range, blocks, position, network.rollbackBlocks, batchUndoFloor)
    await proposeOrThrow(proposer, { type: 'applyBlocks', batch })
    this.#claimableTeller?.release()
    if (countedFrom === undefined && range.perTransactionFrom !== undefined)
      report.numbersPerTransaction(range.perTransactionFrom)
    report.committed(range.head, range.head.number - range.fromBlock + 1, countEvents(blocks))
    await this.#driver.observe({ type: 'stored', block: range.head.number })
  }

  async #assertLinked(range: FetchedRange, head: BlockHeader): Promise<void> {
    if (await this.#chain.isLinked(range, head, this.#signal)) return
    throw new RetryableError(
      `blocks ${range.fromBlock} to ${range.head.number} are not on the checkpoint's branch`,
    )
  }

  #withSenders(blocks: readonly IndexedBlock<BlockEvent>[]): Promise<readonly IndexedBlock[]> {
    const { client, clock } = this.#options
    return resolveBeforeCommit(client, blocks, { clock, ms: SENDER_BUDGET_MS }, this.#signal)
  }

  async #position(head: BlockHeader): Promise<ChainPosition> {
    return { head, finalizedBlock: await this.#options.client.getFinalizedBlock(head, this.#signal) }
  }

  /**
   * Uses the time until the next look at the head is due: finds open senders, searches for exit roots, does what is due at the head,
   * and waits.
   * @param head the head, when the checkpoint is there; undefined when an endpoint lags.
   */
  async #untilNextLook(head: BlockHeader | undefined): Promise<void> {
    const { writer, clock, headHints, exitRootSearch, commits } = this.#options
    const untilMs = clock.now() + this.#pacer.nextWaitMs()
    await this.#findSenders(untilMs)
    if (writer.checkpoint() !== undefined) await exitRootSearch?.step()
    if (head !== undefined) await this.#updateAtHead(head)
    for (;;) {
      const seen = commits.count()
      const lookedAtMs = clock.now()
      // A head that is announced is due soon, and its pause must not begin anew.
      const follows = head !== undefined && headHints?.hasNews(head.hash) !== true
      const lookInMs = follows ? await this.#takeNews(untilMs, head) : Number.POSITIVE_INFINITY
      const restMs = Math.max(0, untilMs - clock.now())
      const end = await this.#rest(Math.min(restMs, lookInMs), follows ? seen : undefined, head)
      if (end === 'announced' || (end === 'rested' && restMs <= lookInMs)) return
      const apartMs = Math.min(lookedAtMs + LOOKS_APART_MS, untilMs) - clock.now()
      if (end === 'woken' && apartMs > 0) await clock.sleep(apartMs, this.#signal)
    }
  }

  /**
   * Rests for `ms`, or until a head is announced.
   * @param seen also until senders are answered or a network commits, if `commits.count()` was this before.
   */
  async #rest(ms: number, seen: number | undefined, head: BlockHeader | undefined): Promise<RestEnd> {
    const { clock, headHints, commits } = this.#options
    if (ms <= SEARCH_REST_MS) {
      // Too short for `headHints`, which would take it for the pause between two looks at the head.
      await clock.sleep(ms, this.#signal)
      return 'rested'
    }
    const waking = new AbortController()
    const abort = (): void => waking.abort()
    const stops = seen === undefined ? [] : [commits.onCommit(seen, abort), this.#senders.onAnswered(abort)]
    this.#signal.throwIfAborted()
    this.#signal.addEventListener('abort', abort)
    try {
      if (headHints === undefined) await clock.sleep(ms, waking.signal)
      else if (await headHints.rest(ms, head?.hash, waking.signal)) return 'announced'
      return 'rested'
    } catch (error) {
      this.#signal.throwIfAborted()
      if (!waking.signal.aborted) throw error
      return 'woken'
    } finally {
      for (const stop of stops) stop()
      this.#signal.removeEventListener('abort', abort)
    }
  }

  /** Finds senders as long as answers come until the next look is due. */
  async #findSenders(untilMs: number): Promise<void> {
    let senders = await this.#senders.step(this.#signal, untilMs)
    while (senders === 'more' && this.#options.clock.now() < untilMs)
      senders = await this.#senders.step(this.#signal, untilMs)
    this.#areSendersKnown = senders === 'done'
  }

  /** With the checkpoint at the head: updates finality and injections, compares with the contracts, grants or withdraws readiness. */
  async #updateAtHead(head: BlockHeader): Promise<void> {
    const { proposer, gerPoller } = this.#options
    const { finalizedBlock } = await this.#position(head)
    const block = asBlockNumber(Math.min(finalizedBlock, head.number))
    await proposeOrThrow(proposer, { type: 'setFinalized', block })
    await gerPoller?.sweep(this.#signal)
    await this.#compareWithContracts(head)
    if (!this.#areSendersKnown || !this.#hasReadHistory) return
    this.#hasReadHistory = false
    this.#options.afterHistory?.()
  }

  async #compareWithContracts(head: BlockHeader): Promise<void> {
    const { proposer, report, exitRootSearch } = this.#options
    // Before readiness: what the contracts contradict must not be served as synced even for a moment.
    await this.#auditor.atTip(head, this.#signal)
    const claims = this.#auditor.comparedClaims()
    // Deposits that another network indexes from now on are not ready here until their claims were compared, too.
    await proposeOrThrow(proposer, { type: 'noteClaimsCompared', ...claims })
    report.claimsCompared(this.#auditor.comparedClaimWords())
    await this.#driver.observe({
      type: 'lookedAtContracts',
      block: head.number,
      areClaimsCompared: claims.isWhole,
      isComplete: this.#areSendersKnown && exitRootSearch?.isBehind !== true,
    })
    await this.#driver.observe({ type: 'idled' })
  }

  /**
   * Handles at once, while this network rests, what has come meanwhile: late answers to its own questions for senders; of other networks new
   * leaves and settlements of the L1, and deposits, which are not ready here before their claims are compared.
   * @returns milliseconds until there is more to do, also if nothing comes; Infinity when there is nothing.
   */
  async #takeNews(untilMs: number, head: BlockHeader): Promise<number> {
    const { clock, gerPoller, exitRootSearch } = this.#options
    if (gerPoller?.hasNews() === true) await gerPoller.sweep(this.#signal)
    await exitRootSearch?.step()
    if (this.#senders.isAnswered) {
      await this.#findSenders(untilMs)
      if (this.#areSendersKnown) await this.#updateAtHead(head)
    }
    const nextSearchMs = exitRootSearch?.hasWork === true ? SEARCH_REST_MS : Number.POSITIVE_INFINITY
    if (!this.#auditor.hasFreshDeposits()) return nextSearchMs
    // An exit root search loops faster than that, while the other network may store more all the time.
    if (clock.now() - this.#comparedAtMs >= COMPARISONS_APART_MS) {
      this.#comparedAtMs = clock.now()
      await this.#compareWithContracts(head)
      if (!this.#auditor.hasFreshDeposits()) return nextSearchMs
    }
    return Math.min(nextSearchMs, Math.max(0, this.#comparedAtMs + COMPARISONS_APART_MS - clock.now()))
  }
}
