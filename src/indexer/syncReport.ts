import type { HaltReason } from '../board/haltReason.js'
import { headPlaces, isPutBack, type StatusRow } from '../board/statusBoard.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import type { Clock } from '../telemetry/clocks.js'
import type { Logger } from '../telemetry/logger.js'
import type { SyncMessage } from './indexerMessages.js'

const PROGRESS_EVERY_MS = 5_000

/** Everything that the sync loop tells the world: its row on the status board, messages to main, the log. */
export class SyncReport {
  readonly #networkId: number
  readonly #row: StatusRow
  readonly #post: (message: SyncMessage) => void
  readonly #logger: Logger
  readonly #clock: Pick<Clock, 'now'>
  /**
   * The halt that this thread has told. Another one on the board is main's, and stays: a query has found the store
   * contradicting itself, and that new blocks go on arriving does not mend it.
   */
  #told: HaltReason = 'none'
  #progress = { atMs: 0, blocks: 0, events: 0 }

  constructor(options: {
    readonly networkId: number
    readonly row: StatusRow
    readonly post: (message: SyncMessage) => void
    readonly logger: Logger
    readonly clock: Pick<Clock, 'now'>
  }) {
    this.#networkId = options.networkId
    this.#row = options.row
    this.#post = options.post
    this.#logger = options.logger
    this.#clock = options.clock
    this.#progress.atMs = options.clock.now()
  }

  /** A lagging node does not move the head below the checkpoint; a chain that was put back does. */
  head(head: BlockHeader, checkpoint: BlockHeader | undefined): void {
    const isBehind = checkpoint !== undefined && head.number < checkpoint.number && !isPutBack(this.#row)
    this.#row.set('headBlock', isBehind ? checkpoint.number : head.number)
    this.#row.set('headTimestampSec', isBehind ? checkpoint.timestampSec : head.timestampSec)
  }

  /** Tells of every batch once the network has caught up, and now and then before. */
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

  /** Tells it the first time only. */
  caughtUp(block: number): void {
    if (this.#row.get('caughtUp') === 1) return
    this.#row.set('caughtUp', 1)
    this.#logger.info('caught up', { block })
    this.#post({ type: 'caughtUp', networkId: this.#networkId, block })
  }

  reorged(checkpoint: BlockHeader, ancestor: BlockHeader): void {
    const depth = checkpoint.number - ancestor.number
    this.#row.add('reorgs', 1)
    this.#logger.warn('reorg followed', { ancestor: ancestor.number, depth })
    this.#post({ type: 'reorg', networkId: this.#networkId, ancestor: ancestor.number, depth })
  }

  /** From this block on. */
  countsPerTransaction(block: number): void {
    this.#logger.info('logs are counted per transaction', { block })
  }

  /** Blocks were taken back to be read again: no reorg of the chain. */
  rewound(checkpoint: BlockHeader, ancestor: BlockHeader): void {
    this.#logger.warn('read again', {
      from: ancestor.number + 1,
      blocks: checkpoint.number - ancestor.number,
    })
  }

  /** Everything is read again: the network is no more in step than one that was never read. */
  startedOver(error: Error, checkpoint: BlockHeader, count: number): void {
    this.#row.set('caughtUp', 0)
    this.#row.add('startOvers', 1)
    this.#logger.warn('starting over', { error, checkpoint: checkpoint.number, count })
  }

  /** The head stays below what is stored. */
  behind(head: BlockHeader, checkpoint: BlockHeader): void {
    const wasPutBack = isPutBack(this.#row)
    const isBelowFinal = head.number < this.#row.get('finalizedBlock')
    const place = isBelowFinal ? headPlaces.belowFinal : headPlaces.below
    if (place !== this.#row.headPlace()) this.#row.setHeadPlace(place)
    this.head(head, checkpoint)
    if (!wasPutBack)
      this.#logger.warn(
        'no endpoint shows a head as high as what is stored: nothing is ready on this network',
        {
          head: head.number,
          checkpoint: checkpoint.number,
        },
      )
  }

  /** The chain stands on what is stored. */
  inStep(): void {
    if (this.#row.headPlace() === headPlaces.inStep) return
    const wasPutBack = isPutBack(this.#row)
    this.#row.setHeadPlace(headPlaces.inStep)
    if (wasPutBack)
      this.#logger.info('the head has reached what is stored', { block: this.#row.get('headBlock') })
  }

  rpcDown(isDown: boolean): void {
    this.#row.set('rpcDown', isDown ? 1 : 0)
  }

  /** Whether what is stored could be compared with what the contracts say. */
  contractsCompared(isTold: boolean): void {
    const before = this.#row.get('contractsCompared')
    this.#row.set('contractsCompared', isTold ? 1 : 0)
    if (!isTold && before !== 0)
      this.#logger.warn('no endpoint tells what the contracts hold: nothing is compared with them')
    if (isTold && before === 0) this.#logger.info('the contracts are compared again')
  }

  /**
   * An endpoint says of the contracts otherwise than we do, and no other one can tell who is right.
   * @param looks in a row that found something like it.
   */
  contractsDisputed(what: string, looks: number): void {
    this.#row.set('contractsCompared', 0)
    if (looks === 1 || looks % 10 === 0)
      this.#logger.warn(
        'an endpoint contradicts what is stored, no other one can tell: no claim here is ready until it is settled',
        { what, looks },
      )
  }

  /** Number of rows whose transaction no endpoint knows, stored so lately that one may still turn up. */
  awaitedSenders(count: number): void {
    if (this.#row.get('awaitedSenders') !== count) this.#row.set('awaitedSenders', count)
  }

  contractDepositCount(count: number): void {
    this.#row.set('contractDepositCount', count)
  }

  /** Trouble that is expected to pass. */
  troubled(error: unknown, failures: number, waitMs: number): void {
    const fields = { error, failures, waitMs: Math.round(waitMs) }
    // The first failure of a row is common; the log of a long outage stays readable.
    if (failures === 1) this.#logger.debug('trying again', fields)
    else if (failures === 3 || failures % 10 === 0) this.#logger.warn('still trying', fields)
  }

  halted(reason: HaltReason, error: unknown): void {
    if (reason === this.#told || !this.#row.replaceHaltReason(this.#told, reason)) return
    const message = error instanceof Error ? error.message : String(error)
    this.#told = reason
    this.#logger.error('halted', { reason, error })
    this.#post({ type: 'halted', networkId: this.#networkId, reason, message })
  }

  resumed(): void {
    if (this.#told === 'none' || !this.#row.replaceHaltReason(this.#told, 'none')) return
    this.#told = 'none'
    const block = this.#row.get('syncedBlock')
    this.#logger.info('resumed', { block })
    this.#post({ type: 'resumed', networkId: this.#networkId, block })
  }
}
