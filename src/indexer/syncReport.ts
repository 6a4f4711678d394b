import { type HaltReason, isInDoubt } from '../board/haltReason.js'
import { headPlaces, isPutBack, type StatusRow } from '../board/statusBoard.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import type { Clock } from '../telemetry/clocks.js'
import type { IndexerCounts } from '../telemetry/counts/indexerCounts.js'
import type { Logger } from '../telemetry/logger.js'
import type { SyncMessage } from './indexerMessages.js'

const PROGRESS_EVERY_MS = 5_000

/** Publishes how the sync loop is doing: in its row of the status board, in messages to the main thread, and in the log. */
export class SyncReport {
  readonly #networkId: number
  readonly #row: StatusRow
  readonly #post: (message: SyncMessage) => void
  readonly #logger: Logger
  readonly #clock: Pick<Clock, 'now'>
  readonly #counts: IndexerCounts | undefined
  /**
   * The halt that this thread has published. Another one on the board is the main thread's and stays: a query found that the
   * store contradicts itself, which new blocks do not mend.
   */
  #published: HaltReason
  /** Whether this thread has said it. */
  #isSaid = false
  #progress = { atMs: 0, blocks: 0, events: 0 }

  constructor(options: {
    readonly networkId: number
    readonly row: StatusRow
    /** What a thread before this one has published, which is this one's to end. */
    readonly halt?: HaltReason
    readonly post: (message: SyncMessage) => void
    readonly logger: Logger
    readonly clock: Pick<Clock, 'now'>
    /** Absent: nothing is counted. */
    readonly counts?: IndexerCounts
  }) {
    this.#networkId = options.networkId
    this.#row = options.row
    this.#published = options.halt ?? 'none'
    this.#post = options.post
    this.#logger = options.logger
    this.#clock = options.clock
    this.#counts = options.counts
    this.#progress.atMs = options.clock.now()
  }

  /** Why the network stands still, as far as its indexer knows. */
  get halt(): HaltReason {
    return this.#published
  }

  /**
   * Whether nothing on this network is ready, whatever its contracts tell: nothing is stored, claims may be missing, the head is not known to be
   * at the stored blocks, or a halt puts them in doubt.
   */
  get withholdsReadiness(): boolean {
    const row = this.#row
    return (
      row.get('syncedBlock') === undefined ||
      row.get('catchingUp') === 1 ||
      row.headPlace() !== headPlaces.inStep ||
      isInDoubt(row.haltReason())
    )
  }

  /** Publishes the head. A lagging node does not move it below the checkpoint; a chain that was put back does. */
  head(head: BlockHeader, checkpoint: BlockHeader | undefined): void {
    const isBehind = checkpoint !== undefined && head.number < checkpoint.number && !isPutBack(this.#row)
    this.#row.set('headBlock', isBehind ? checkpoint.number : head.number)
    this.#row.set('headTimestampSec', isBehind ? checkpoint.timestampSec : head.timestampSec)
  }

  /** Reports progress: with every batch once the network has caught up, before that every few seconds. */
  committed(head: BlockHeader, blocks: number, events: number): void {
    const { atMs } = this.#progress
    this.#progress.blocks += blocks
    this.#progress.events += events
    const elapsedMs = this.#clock.now() - atMs
    const hasCaughtUp = this.#row.get('caughtUp') === 1
    if (!hasCaughtUp && elapsedMs < PROGRESS_EVERY_MS) return
    const perSecond = (count: number): number => Math.round((1000 * count) / Math.max(1, elapsedMs))
    const progress = {
      syncedBlock: head.number,
      headBlock: this.#row.get('headBlock'),
      blocksPerSecond: perSecond(this.#progress.blocks),
      eventsPerSecond: perSecond(this.#progress.events),
    }
    this.#progress = { atMs: atMs + elapsedMs, blocks: 0, events: 0 }
    this.#post({ type: 'progress', networkId: this.#networkId, ...progress })
    if (!hasCaughtUp) this.#logger.info('syncing', progress)
  }

  /** Reports it the first time only. */
  caughtUp(block: number): void {
    if (this.#row.get('caughtUp') === 1) return
    this.#row.set('caughtUp', 1)
    this.#logger.info('caught up', { block })
    this.#post({ type: 'caughtUp', networkId: this.#networkId, block })
  }

  reorged(checkpoint: BlockHeader, ancestor: BlockHeader): void {
    const depth = checkpoint.number - ancestor.number
    this.#row.add('reorgs', 1)
    this.#counts?.reorged(depth)
    this.#logger.warn('reorg followed', { ancestor: ancestor.number, depth })
    this.#post({ type: 'reorg', networkId: this.#networkId, ancestor: ancestor.number, depth })
  }

  /** @param block the first one. */
  numbersPerTransaction(block: number): void {
    this.#logger.info('logs are numbered per transaction', { block })
  }

  /** Blocks were taken back to be read again: no reorg of the chain. */
  rewound(checkpoint: BlockHeader, ancestor: BlockHeader): void {
    this.#logger.warn('taking blocks back to read them again', {
      from: ancestor.number + 1,
      blocks: checkpoint.number - ancestor.number,
    })
  }

  /** The shard was emptied: the network is no more caught up than one that was never read. */
  startedOver(error: Error, checkpoint: BlockHeader, count: number): void {
    this.#row.set('caughtUp', 0)
    this.#row.add('startOvers', 1)
    this.#logger.warn('starting over', { error, checkpoint: checkpoint.number, count })
  }

  /** The head stays below the checkpoint. */
  behind(head: BlockHeader, checkpoint: BlockHeader): void {
    const wasPutBack = isPutBack(this.#row)
    const finalized = this.#row.get('finalizedBlock')
    const isBelowFinal = finalized !== undefined && head.number < finalized
    const place = isBelowFinal ? headPlaces.belowFinal : headPlaces.below
    if (place !== this.#row.headPlace()) this.#row.setHeadPlace(place)
    this.head(head, checkpoint)
    if (!wasPutBack)
      this.#logger.warn(
        'the head of every endpoint is below the stored blocks: no claim on this network is ready',
        {
          head: head.number,
          checkpoint: checkpoint.number,
        },
      )
  }

  /** The checkpoint is on the chain, and the head is not below it. */
  inStep(): void {
    if (this.#row.headPlace() === headPlaces.inStep) return
    const wasPutBack = isPutBack(this.#row)
    this.#row.setHeadPlace(headPlaces.inStep)
    if (wasPutBack)
      this.#logger.info('the head has reached the stored blocks', { block: this.#row.get('headBlock') })
  }

  rpcDown(isDown: boolean): void {
    this.#row.set('rpcDown', isDown ? 1 : 0)
  }

  /** @param words of deposits that the other networks may have before claims must be compared again. */
  claimsCompared(words: number): void {
    this.#row.set('comparedClaimWords', words)
  }

  /** Whether an endpoint answered, so that what is stored could be compared with the contracts. */
  contractsCompared(isAnswered: boolean): void {
    const before = this.#row.get('contractsCompared')
    this.#row.set('contractsCompared', isAnswered ? 1 : 0)
    this.#counts?.audited(isAnswered ? 'same' : 'unanswered')
    if (!isAnswered && before !== 0)
      this.#logger.warn(
        'no endpoint answers contract calls: what is stored is not compared with the contracts',
      )
    if (isAnswered && before === 0) this.#logger.info('what is stored is compared with the contracts again')
  }

  /**
   * An endpoint contradicts what is stored, and no other one can decide it.
   * @param looks how many comparisons in a row ended so.
   */
  contractsDisputed(what: string, looks: number): void {
    this.#row.set('contractsCompared', 0)
    this.#counts?.audited('disputed')
    if (looks === 1 || looks % 10 === 0)
      this.#logger.warn(
        'an endpoint contradicts what is stored, no other one can decide it: no claim on this network is ready until then',
        { what, looks },
      )
  }

  /** Number of rows, stored lately, whose transaction no endpoint knows yet. */
  awaitedSenders(count: number): void {
    if (this.#row.get('awaitedSenders') !== count) this.#row.set('awaitedSenders', count)
  }

  contractDepositCount(count: number): void {
    this.#row.set('contractDepositCount', count)
  }

  /** A failure that is expected to pass. */
  troubled(error: unknown, failures: number, waitMs: number): void {
    const fields = { error, failures, waitMs: Math.round(waitMs) }
    // A single failure is common; and the log of a long outage must stay readable.
    if (failures === 1) this.#logger.debug('trying again', fields)
    else if (failures === 3 || failures % 10 === 0) this.#logger.warn('still trying', fields)
  }

  /** What was read, or what a contract holds, contradicts what is stored. @param isAudited a contract was asked. */
  contradicted(reason: HaltReason, isAudited: boolean): void {
    this.#counts?.contradicted(reason)
    if (isAudited) this.#counts?.audited('contradicted')
  }

  halted(reason: HaltReason, error: unknown): void {
    if (reason === this.#published && this.#isSaid) return
    if (!this.#row.replaceHaltReason(this.#published, reason)) return
    const message = error instanceof Error ? error.message : String(error)
    this.#published = reason
    this.#isSaid = true
    this.#logger.error('halted', { reason, error })
    this.#post({ type: 'halted', networkId: this.#networkId, reason, message })
  }

  resumed(): void {
    if (this.#published === 'none' || !this.#row.replaceHaltReason(this.#published, 'none')) return
    this.#published = 'none'
    const block = this.#row.get('syncedBlock')
    this.#logger.info('resumed', { block })
    this.#post({ type: 'resumed', networkId: this.#networkId, block })
  }
}
