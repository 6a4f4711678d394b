import type { ChainClient, SenderQuestion } from '../chain/chainClient.types.js'
import type { Clock } from '../chain/clock.js'
import { senderKey } from '../chain/senderKey.js'
import { RetryableError } from '../errors/chainErrors.js'
import type { ResolvedSender, ShardWriter, UnresolvedSender } from '../shard/shardWriter.types.js'
import { Backoff } from './backoff.js'
import type { SyncReport } from './syncReport.js'

const LARGEST_BATCH = 1024
/**
 * Answered batches are stored together, as far as the time reaches: lists by address change a page per sender, in one
 * transaction as in sixteen. Storing those of a million deposits fell from 10 to 2.7 s of CPU time.
 */
const MOST_BATCHES = 16
/** A node that offers traces but fails to trace one transaction is asked for so long before its tx.from is taken. */
const PATIENCE_MS = 120_000
/** A transaction that nobody knows, neither by its hash nor in its block, is asked for so long; then its sender stays null. */
const UNKNOWN_PATIENCE_MS = 600_000

/** `more`: some were resolved and others wait. `waiting`: the last try failed, the next one is not due yet. */
export type SenderProgress = 'done' | 'more' | 'waiting'

/**
 * Resolves the senders that backfill left open, in order, behind the shard's watermark, a few bounded batches per step.
 * What fails here never holds up the blocks: the pass waits on its own.
 */
export class SenderPass {
  readonly #client: Pick<ChainClient, 'resolveSenders'>
  readonly #writer: Pick<ShardWriter, 'unresolvedSenders' | 'resolveSenders'>
  readonly #clock: Clock
  readonly #report: SyncReport
  readonly #backoff: Backoff
  readonly #largestBatch: number
  #batchSize: number
  /** As many as the last steps had time for. */
  #batches = 1
  #notBefore = 0
  /** Logs of the last batch without a certain answer, and since when: one wait is enough for all of them. */
  #uncertain: ReadonlyMap<string, number> = new Map()

  constructor(options: {
    readonly client: Pick<ChainClient, 'resolveSenders'>
    readonly writer: Pick<ShardWriter, 'unresolvedSenders' | 'resolveSenders'>
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
  }

  /**
   * Asks batch after batch, and stores what was answered. No other method of the writer may run meanwhile: what is asked
   * for is what is stored.
   * @param untilMs no further batch is asked for from then on.
   */
  async step(signal: AbortSignal, untilMs = 0): Promise<SenderProgress> {
    const limit = this.#batchSize * this.#batches
    const open = this.#writer.unresolvedSenders(limit)
    if (open.length === 0) return 'done'
    if (this.#clock.now() < this.#notBefore) return 'waiting'
    const resolved: ResolvedSender[] = []
    let batches = 0
    let failure: RetryableError | undefined
    do {
      const asked = open.slice(resolved.length, resolved.length + this.#batchSize)
      try {
        const answered = await this.#ask(asked, signal)
        resolved.push(...answered)
        if (answered.length < asked.length) break
      } catch (error) {
        if (!(error instanceof RetryableError)) throw error
        failure = error
        // One transaction that can't be read takes its whole batch along: smaller batches get the others through.
        this.#batchSize = Math.max(1, this.#batchSize >> 2)
      }
      batches++
    } while (failure === undefined && resolved.length < open.length && this.#clock.now() < untilMs)
    if (resolved.length > 0) {
      this.#writer.resolveSenders(resolved)
      this.#backoff.reset()
    }
    if (failure !== undefined) return this.#wait(failure)
    if (resolved.length === 0) return this.#wait(new RetryableError('no sender of the batch is certain yet'))
    const isAll = resolved.length === open.length
    this.#batchSize = Math.min(this.#largestBatch, this.#batchSize * 2)
    this.#batches =
      isAll && this.#clock.now() < untilMs ? Math.min(MOST_BATCHES, 2 * batches) : Math.max(1, batches)
    return isAll && open.length < limit ? 'done' : 'more'
  }

  /** @returns the longest run from the start of each kind that is certain enough. */
  async #ask(open: readonly UnresolvedSender[], signal: AbortSignal): Promise<ResolvedSender[]> {
    const answers = await this.#client.resolveSenders(questionsOf(open), signal)
    const resolved: ResolvedSender[] = []
    const stopped = new Set<UnresolvedSender['kind']>()
    const now = this.#clock.now()
    const uncertain = new Map<string, number>()
    for (const { kind, ordinal, transactionHash, logIndex } of open) {
      const key = senderKey(transactionHash, logIndex)
      const answer = answers.get(key)
      const patienceMs = answer === undefined ? UNKNOWN_PATIENCE_MS : answer.isProvisional ? PATIENCE_MS : 0
      const sinceMs = this.#uncertain.get(key) ?? now
      if (patienceMs > 0) uncertain.set(key, sinceMs)
      if (now - sinceMs < patienceMs) stopped.add(kind)
      if (!stopped.has(kind)) resolved.push({ kind, ordinal, sender: answer ?? null })
    }
    this.#uncertain = uncertain
    return resolved
  }

  #wait(error: RetryableError): SenderProgress {
    const waitMs = this.#backoff.nextMs()
    this.#notBefore = this.#clock.now() + waitMs
    this.#report.troubled(error, this.#backoff.failures, waitMs)
    return 'waiting'
  }
}

/** One question per transaction, with all of its logs: those of other rows tell the calls apart too. */
function questionsOf(open: readonly UnresolvedSender[]): SenderQuestion[] {
  const questions = new Map<string, SenderQuestion>()
  for (const { transactionHash, blockNumber, transactionLogs } of open) {
    const key = senderKey(transactionHash, 0)
    if (!questions.has(key)) questions.set(key, { transactionHash, blockNumber, logs: transactionLogs })
  }
  return [...questions.values()]
}
