import type { ChainClient } from '../../chain/chainClient.types.js'
import { senderKey } from '../../chain/senderKey.js'
import { RetryableError } from '../../errors/chainErrors.js'
import type { BlockNumber } from '../../protocol/units.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { RowSender, UnresolvedSender } from '../../shard/senders.types.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { Backoff } from '../backoff.js'
import type { SyncReport } from '../syncReport.js'
import { type NoteReader, questionsOf, SenderCorrections } from './senderCorrections.js'

const LARGEST_BATCH = 1024
/**
 * So many answered batches are stored in one transaction, if there is time to wait for them: lists by address change a page per
 * sender in each transaction. Storing the senders of a million deposits went from 10 to 2.7 s of CPU time.
 */
const MOST_BATCHES = 16
/** After so many failures in a row of a batch of one row, its transaction counts as unknown. */
const FAILURES_OF_ONE = 3

/**
 * Blocks wait so long for the answers to one question. Not less: where blocks come faster than answers, some row would be open at every
 * look, and the network never in sync. Until all rows were known once, nothing is more urgent.
 */
const LONGEST_WAIT_MS = 5_000
const LONGEST_FIRST_WAIT_MS = 10_000

/**
 * `more`: some rows were resolved, and there are more. `waiting`: answers are on their way, or the last try failed, and the next
 * one is not due yet.
 */
export type SenderProgress = 'done' | 'more' | 'waiting'

type SenderReader = Pick<ShardWriter, 'unresolvedSenders'> & NoteReader

/** Rows that are being asked for: the first of those that are open. */
interface Asking {
  readonly open: readonly UnresolvedSender[]
  /** How many rows were wanted. */
  readonly limit: number
  readonly answers: Promise<Answers>
  isAnswered: boolean
  readonly sinceMs: number
  readonly stop: AbortController
}

interface Answers {
  /** The first rows, in order. */
  readonly resolved: readonly RowSender[]
  readonly batches: number
  /** Why the rows behind them were not asked for. */
  readonly failure: RetryableError | undefined
}

/**
 * Finds the senders that backfill left open, in order, from the shard's watermark on, a few batches per step. Neither a failure
 * nor a slow answer holds up the blocks: the pass waits by itself, and answers that come late are stored by a later step.
 */
export class SenderPass {
  readonly #client: Pick<ChainClient, 'resolveSenders' | 'canTrace'>
  readonly #writer: SenderReader
  readonly #proposer: Proposer
  readonly #clock: Clock
  readonly #report: SyncReport
  readonly #backoff: Backoff
  readonly #largestBatch: number
  #batchSize: number
  /** How many batches the next step reads: as many as the last steps had time for. */
  #batches = 1
  #notBefore = 0
  /** Failures in a row of a batch of one row. */
  #failuresOfOne = 0
  #asking: Asking | undefined
  #wereAllKnown = false
  #onAnswered: (() => void) | undefined
  readonly #corrections: SenderCorrections

  constructor(options: {
    readonly client: Pick<ChainClient, 'resolveSenders' | 'canTrace'>
    readonly writer: SenderReader
    readonly proposer: Proposer
    readonly clock: Clock
    readonly report: SyncReport
    /** Tests take fewer. */
    readonly largestBatch?: number
  }) {
    this.#largestBatch = options.largestBatch ?? LARGEST_BATCH
    this.#batchSize = this.#largestBatch
    this.#client = options.client
    this.#writer = options.writer
    this.#proposer = options.proposer
    this.#clock = options.clock
    this.#report = options.report
    this.#backoff = new Backoff(options.clock, { baseMs: 500, capMs: 15_000 })
    this.#corrections = new SenderCorrections(options)
  }

  /** The blocks above `ancestor` were taken back: pending questions about them are dropped. */
  reorged(ancestor: BlockNumber): void {
    if (this.#asking?.open.some(({ blockNumber }) => blockNumber > ancestor)) this.#drop()
    this.#corrections.reorged()
  }

  /** Whether answers have come that the next step stores. */
  get isAnswered(): boolean {
    return this.#asking?.isAnswered === true
  }

  /**
   * Calls `wake` once `isAnswered` is true, once; at once if it is. A further call of this replaces `wake`.
   * @returns a function after which it is not called any more.
   */
  onAnswered(wake: () => void): () => void {
    this.#onAnswered = wake
    if (this.isAnswered) this.#wake()
    return () => {
      if (this.#onAnswered === wake) this.#onAnswered = undefined
    }
  }

  #wake(): void {
    const wake = this.#onAnswered
    this.#onAnswered = undefined
    wake?.()
  }

  /**
   * Asks batch after batch, and stores the answers. Those that take too long are stored by a later step.
   * @param untilMs from then on no further batch is asked for.
   */
  async step(signal: AbortSignal, untilMs = 0): Promise<SenderProgress> {
    const progress = await this.#resolve(signal, untilMs)
    if (progress === 'done') this.#wereAllKnown = true
    // Open rows come first: they have no sender at all.
    if (progress !== 'more') await this.#corrections.step(signal)
    return progress
  }

  async #resolve(signal: AbortSignal, untilMs: number): Promise<SenderProgress> {
    const isLate = this.#asking !== undefined
    const asking = this.#asking ?? this.#ask(signal, untilMs)
    if (typeof asking === 'string') return asking
    const { open, limit } = asking
    let answered: Answers | undefined
    try {
      answered = await this.#answeredInTime(asking, signal)
    } catch (error) {
      this.#asking = undefined
      throw error
    }
    if (answered === undefined) return 'waiting'
    this.#asking = undefined
    // Blocks may have been stored or taken back since these rows were asked for.
    if (isLate && !areSame(open, this.#writer.unresolvedSenders(open.length))) return 'more'
    const progress = await this.#store(answered, open, limit, untilMs)
    // Rows that were stored since these were asked for are not among them.
    const isBehind = isLate && progress === 'done' && this.#writer.unresolvedSenders(1).length > 0
    return isBehind ? 'more' : progress
  }

  /** Asks for the first open rows. @returns what there is to say when nothing is asked. */
  #ask(signal: AbortSignal, untilMs: number): Asking | SenderProgress {
    const limit = this.#batchSize * this.#batches
    const open = this.#writer.unresolvedSenders(limit)
    if (open.length === 0) return 'done'
    if (this.#clock.now() < this.#notBefore) return 'waiting'
    const stop = new AbortController()
    const answers = this.#askOn(open, AbortSignal.any([signal, stop.signal]), untilMs)
    const asking: Asking = { open, limit, answers, stop, isAnswered: false, sinceMs: this.#clock.now() }
    const settled = () => {
      asking.isAnswered = true
      if (this.#asking === asking) this.#wake()
    }
    // A failure is met by the step that awaits the answers.
    answers.then(settled, settled)
    this.#asking = asking
    return asking
  }

  /** @returns undefined when there are no answers yet. */
  async #answeredInTime({ answers, sinceMs }: Asking, signal: AbortSignal): Promise<Answers | undefined> {
    const ended = new AbortController()
    const longestMs = this.#wereAllKnown ? LONGEST_WAIT_MS : LONGEST_FIRST_WAIT_MS
    const over = this.#clock
      .sleep(Math.max(0, sinceMs + longestMs - this.#clock.now()), AbortSignal.any([signal, ended.signal]))
      .then(
        () => undefined,
        () => undefined,
      )
    try {
      const answered = await Promise.race([answers, over])
      signal.throwIfAborted()
      return answered
    } finally {
      ended.abort()
    }
  }

  #drop(): void {
    this.#asking?.stop.abort()
    this.#asking = undefined
  }

  /** Asks for these rows, batch after batch until `untilMs`, at least one. */
  async #askOn(open: readonly UnresolvedSender[], signal: AbortSignal, untilMs: number): Promise<Answers> {
    const resolved: RowSender[] = []
    let batches = 0
    let failure: RetryableError | undefined
    do {
      const asked = open.slice(resolved.length, resolved.length + this.#batchSize)
      try {
        resolved.push(...(await this.#answersTo(asked, signal)))
        this.#failuresOfOne = 0
      } catch (error) {
        if (!(error instanceof RetryableError)) throw error
        if (asked.length === 1 && ++this.#failuresOfOne >= FAILURES_OF_ONE) {
          // Even alone it fails, while blocks can be read: the failure is this transaction's own.
          this.#failuresOfOne = 0
          resolved.push(answerTo(asked[0]!, null))
          continue
        }
        failure = error
        // A transaction that can't be read makes its whole batch fail: smaller batches get the others through.
        this.#batchSize = Math.max(1, this.#batchSize >> 2)
      }
      batches++
    } while (failure === undefined && resolved.length < open.length && this.#clock.now() < untilMs)
    return { resolved, batches, failure }
  }

  async #store(
    { resolved, batches, failure }: Answers,
    open: readonly UnresolvedSender[],
    limit: number,
    untilMs: number,
  ): Promise<SenderProgress> {
    if (resolved.length > 0) {
      this.#corrections.expect(resolved)
      await proposeOrThrow(this.#proposer, { type: 'resolveSenders', resolved })
      this.#backoff.reset()
    }
    if (failure !== undefined) return this.#wait(failure)
    const isAll = resolved.length === open.length
    this.#batchSize = Math.min(this.#largestBatch, this.#batchSize * 2)
    this.#batches =
      isAll && this.#clock.now() < untilMs ? Math.min(MOST_BATCHES, 2 * batches) : Math.max(1, batches)
    return isAll && open.length < limit ? 'done' : 'more'
  }

  /** @returns one answer per row: null for a transaction that no endpoint knows, which must not hold up the others. */
  async #answersTo(open: readonly UnresolvedSender[], signal: AbortSignal): Promise<RowSender[]> {
    const answers = await this.#client.resolveSenders(questionsOf(open), signal)
    return open.map((row) => answerTo(row, answers.get(senderKey(row.transactionHash, row.logIndex)) ?? null))
  }

  #wait(error: RetryableError): SenderProgress {
    const waitMs = this.#backoff.nextMs()
    this.#notBefore = this.#clock.now() + waitMs
    this.#report.troubled(error, this.#backoff.failures, waitMs)
    return 'waiting'
  }
}

function answerTo(
  { kind, ordinal, transactionHash, logIndex, blockNumber }: UnresolvedSender,
  sender: RowSender['sender'],
): RowSender {
  return { kind, ordinal, transactionHash, logIndex, blockNumber, sender }
}

/** Whether these are the same rows, of the same logs. */
function areSame(asked: readonly UnresolvedSender[], open: readonly UnresolvedSender[]): boolean {
  return asked.length === open.length && asked.every((row, index) => isSame(row, open[index]!))
}

function isSame(row: UnresolvedSender, other: UnresolvedSender): boolean {
  const logsOf = ({ transactionLogs }: UnresolvedSender) =>
    transactionLogs.map(({ logIndex }) => logIndex).join()
  return (
    row.kind === other.kind &&
    row.ordinal === other.ordinal &&
    row.blockNumber === other.blockNumber &&
    row.logIndex === other.logIndex &&
    Buffer.compare(row.transactionHash, other.transactionHash) === 0 &&
    logsOf(row) === logsOf(other)
  )
}
