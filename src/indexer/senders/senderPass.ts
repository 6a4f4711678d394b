import type { ChainClient } from '../../chain/chainClient.types.js'
import { senderKey } from '../../chain/senderKey.js'
import { RetryableError } from '../../errors/chainErrors.js'
import { applyOrThrow } from '../../shard/applyOrThrow.js'
import type { RowSender, UnresolvedSender } from '../../shard/senders.types.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { Backoff } from '../backoff.js'
import type { SyncReport } from '../syncReport.js'
import { type NoteWriter, questionsOf, SenderCorrections } from './senderCorrections.js'

const LARGEST_BATCH = 1024
/**
 * So many answered batches are stored in one transaction, if there is time to wait for them: lists by address change a page per
 * sender in each transaction. Storing the senders of a million deposits went from 10 to 2.7 s of CPU time.
 */
const MOST_BATCHES = 16
/** After so many failures in a row of a batch of one row, its transaction counts as unknown. */
const FAILURES_OF_ONE = 3

/** `more`: some rows were resolved, and there are more. `waiting`: the last try failed, and the next one is not due yet. */
export type SenderProgress = 'done' | 'more' | 'waiting'

type SenderWriter = Pick<ShardWriter, 'unresolvedSenders'> & NoteWriter

/**
 * Finds the senders that backfill left open, in order, from the shard's watermark on, a few batches per step. A failure here
 * never holds up the blocks: the pass waits by itself.
 */
export class SenderPass {
  readonly #client: Pick<ChainClient, 'resolveSenders' | 'canTrace'>
  readonly #writer: SenderWriter
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
  readonly #corrections: SenderCorrections

  constructor(options: {
    readonly client: Pick<ChainClient, 'resolveSenders' | 'canTrace'>
    readonly writer: SenderWriter
    readonly clock: Clock
    readonly report: SyncReport
    /** Tests take fewer. */
    readonly largestBatch?: number
  }) {
    this.#largestBatch = options.largestBatch ?? LARGEST_BATCH
    this.#batchSize = this.#largestBatch
    this.#client = options.client
    this.#writer = options.writer
    this.#clock = options.clock
    this.#report = options.report
    this.#backoff = new Backoff(options.clock, { baseMs: 500, capMs: 15_000 })
    this.#corrections = new SenderCorrections(options)
  }

  /** Rows were taken back: pending questions about them are dropped. */
  reorged(): void {
    this.#corrections.reorged()
  }

  /**
   * Asks batch after batch, and stores the answers. No other method of the writer may run meanwhile: the rows that were asked
   * for are those that are stored.
   * @param untilMs from then on no further batch is asked for.
   */
  async step(signal: AbortSignal, untilMs = 0): Promise<SenderProgress> {
    const progress = await this.#resolve(signal, untilMs)
    // Open rows come first: they have no sender at all.
    if (progress !== 'more') this.#corrections.step(signal)
    return progress
  }

  async #resolve(signal: AbortSignal, untilMs: number): Promise<SenderProgress> {
    const limit = this.#batchSize * this.#batches
    const open = this.#writer.unresolvedSenders(limit)
    if (open.length === 0) return 'done'
    if (this.#clock.now() < this.#notBefore) return 'waiting'
    const resolved: RowSender[] = []
    let batches = 0
    let failure: RetryableError | undefined
    do {
      const asked = open.slice(resolved.length, resolved.length + this.#batchSize)
      try {
        resolved.push(...(await this.#ask(asked, signal)))
        this.#failuresOfOne = 0
      } catch (error) {
        if (!(error instanceof RetryableError)) throw error
        if (asked.length === 1 && ++this.#failuresOfOne >= FAILURES_OF_ONE) {
          // Even alone it fails, while blocks can be read: the failure is this transaction's own.
          this.#failuresOfOne = 0
          resolved.push({ ...asked[0]!, sender: null })
          continue
        }
        failure = error
        // A transaction that can't be read makes its whole batch fail: smaller batches get the others through.
        this.#batchSize = Math.max(1, this.#batchSize >> 2)
      }
      batches++
    } while (failure === undefined && resolved.length < open.length && this.#clock.now() < untilMs)
    if (resolved.length > 0) {
      this.#corrections.expect(resolved)
      applyOrThrow(this.#writer, { type: 'resolveSenders', resolved })
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
  async #ask(open: readonly UnresolvedSender[], signal: AbortSignal): Promise<RowSender[]> {
    const answers = await this.#client.resolveSenders(questionsOf(open), signal)
    return open.map(({ kind, ordinal, transactionHash, logIndex }) => {
      const sender = answers.get(senderKey(transactionHash, logIndex)) ?? null
      return { kind, ordinal, sender }
    })
  }

  #wait(error: RetryableError): SenderProgress {
    const waitMs = this.#backoff.nextMs()
    this.#notBefore = this.#clock.now() + waitMs
    this.#report.troubled(error, this.#backoff.failures, waitMs)
    return 'waiting'
  }
}
