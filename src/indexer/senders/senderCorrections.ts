import type { ChainClient, SenderQuestion } from '../../chain/chainClient.types.js'
import { senderKey } from '../../chain/senderKey.js'
import { RetryableError } from '../../errors/chainErrors.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { CorrectedSender, NotedSender, RowSender, UnresolvedSender } from '../../shard/senders.types.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'

export type NoteReader = Pick<ShardWriter, 'senderNotes' | 'notedSenders'>

/** Rows that are asked for at once: few while nothing is answered, so that a node without traces gets few calls to refuse. */
const FEWEST = 8
/** Also how many notes a turn looks at. */
const MOST = 256
/** Most answers that are kept for the next step. */
const MOST_ANSWERS = 4_096
/** Pause after a batch without an answer; it doubles each time. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** Nothing waits for these traces, so they may take long. */
const BUDGET = { totalMs: 60_000, eachMs: 60_000 } as const
/** How long a transaction whose own trace failed is not asked for: longer after each try, RARE_REST_MS after MOST_TRIES. */
const FIRST_REST_MS = 3_000
const REST_GROWTH = 1.5
const LONGEST_REST_MS = 10 * 60_000
const MOST_TRIES = 24
const RARE_REST_MS = 6 * 3_600_000
/** Each so many tries a row whose transaction is unknown is looked for thoroughly, apart from others: a minute and more, if it hangs. */
const THOROUGH_EACH = 4
/** Rows whose tries are remembered. */
const MOST_REMEMBERED = 10_000
/** A transaction that no endpoint knows keeps `is_synced` false for at most this long. */
const AWAITED_MS = 60_000

/** How long no turn is taken after all rows were found at rest: the loop steps several times a second. */
const ALL_REST_MS = 1_000
/** The same for turns to those without any sender, which read all notes: 0.2 s for 100,000 (November 2026). */
const UNKNOWN_REST_MS = 10_000

/** Turns through the rows, again and again. */
interface Round {
  /** The last row that was looked at. */
  last: NotedSender | undefined
  /** Rows in a row, up to that one, that were not due. */
  resting: number
  notBeforeMs: number
}

interface Tries {
  readonly count: number
  readonly notBeforeMs: number
}

/**
 * Asks again for the senders of noted rows: those whose caller is tx.from because no trace was available, and those whose
 * transaction no endpoint knew. The sync loop never waits for the answers: `step` stores those that have come.
 */
export class SenderCorrections {
  readonly #client: Pick<ChainClient, 'resolveSenders' | 'canTrace'>
  readonly #writer: NoteReader
  readonly #proposer: Proposer
  readonly #clock: Clock
  readonly #report: SyncReport
  /** By row. */
  readonly #tries = new Map<string, Tries>()
  /** Rows whose transaction no endpoint knew when they were stored, and that time. */
  readonly #awaited = new Map<string, number>()
  /** Answers to be stored by the next step; undefined when there are none. */
  #answered: CorrectedSender[] | undefined
  /** The rows of these answers. */
  readonly #toStore = new Set<string>()
  #isAsking = false
  /** Grows when rows are taken back: answers to older questions are dropped. */
  #generation = 0
  #batch = FEWEST
  #pauseMs = FIRST_PAUSE_MS
  #notBeforeMs = 0
  readonly #ofAll: Round = { last: undefined, resting: 0, notBeforeMs: 0 }
  readonly #ofUnknown: Round = { last: undefined, resting: 0, notBeforeMs: 0 }
  #isUnknownTurn = false

  constructor(options: {
    readonly client: Pick<ChainClient, 'resolveSenders' | 'canTrace'>
    readonly writer: NoteReader
    readonly proposer: Proposer
    readonly clock: Clock
    readonly report: SyncReport
  }) {
    this.#client = options.client
    this.#writer = options.writer
    this.#proposer = options.proposer
    this.#clock = options.clock
    this.#report = options.report
  }

  /** To be called before rows are stored: those without a sender keep `is_synced` false for a while. */
  expect(resolved: readonly RowSender[]): void {
    const now = this.#clock.now()
    for (const { kind, ordinal, sender } of resolved)
      if (sender === null) this.#awaited.set(`${kind} ${ordinal}`, now)
    this.#reportAwaited()
  }

  reorged(): void {
    this.#generation++
    this.#answered = undefined
    this.#toStore.clear()
    this.#tries.clear()
    this.#awaited.clear()
    this.#reportAwaited()
  }

  /** Stores the answers that came since the last step, and starts asking again when something is due. */
  async step(signal: AbortSignal): Promise<void> {
    const answered = this.#answered
    this.#answered = undefined
    if (answered !== undefined && answered.length > 0)
      // Others may be answered until these are stored.
      try {
        await proposeOrThrow(this.#proposer, { type: 'correctSenders', corrected: answered })
        for (const { row } of answered) this.#awaited.delete(`${row.kind} ${row.ordinal}`)
      } finally {
        for (const { row } of answered) this.#toStore.delete(keyOf(row))
      }
    this.#reportAwaited()
    if (this.#isAsking || this.#clock.now() < this.#notBeforeMs) return
    const rows = this.#due()
    if (rows.length > 0) void this.#askOn(rows, signal)
  }

  /** The next rows to ask for. */
  #due(): readonly NotedSender[] {
    const { provisional, unknown } = this.#writer.senderNotes()
    // While no endpoint traces, asking helps only rows whose transaction was unknown.
    if (provisional + unknown === 0 || (unknown === 0 && !this.#client.canTrace())) return []
    const now = this.#clock.now()
    // Every second turn is for those without any sender: where nothing is traced the others may be thousands.
    const onlyUnknown =
      unknown > 0 && provisional > 0 && !this.#isUnknownTurn && now >= this.#ofUnknown.notBeforeMs
    this.#isUnknownTurn = onlyUnknown
    const round = onlyUnknown ? this.#ofUnknown : this.#ofAll
    if (now < round.notBeforeMs) return []
    const noted = this.#writer.notedSenders({ limit: MOST, after: round.last, onlyUnknown })
    const isDue = (key: string) => (this.#tries.get(key)?.notBeforeMs ?? 0) <= now && !this.#toStore.has(key)
    const rows = noted.filter((row) => isDue(keyOf(row))).slice(0, this.#batch)
    const thorough = rows.filter((row) => this.#isThoroughTurn(row))
    // The other rows come next.
    if (thorough.length > 0) return thorough
    round.last = rows.at(-1) ?? noted.at(-1)
    round.resting = rows.length > 0 ? 0 : round.resting + noted.length
    if (round.resting >= (onlyUnknown ? unknown : provisional + unknown)) {
      round.resting = 0
      round.notBeforeMs = now + (onlyUnknown ? UNKNOWN_REST_MS : ALL_REST_MS)
    }
    return rows
  }

  #isThoroughTurn(row: NotedSender): boolean {
    const count = this.#tries.get(keyOf(row))?.count ?? 0
    return row.isUnknown && count % THOROUGH_EACH === THOROUGH_EACH - 1
  }

  /** Asks batch after batch as long as answers come, each row once. */
  async #askOn(first: readonly NotedSender[], signal: AbortSignal): Promise<void> {
    const generation = this.#generation
    const { provisional, unknown } = this.#writer.senderNotes()
    const most = Math.min(MOST_ANSWERS, provisional + unknown)
    this.#isAsking = true
    let hasAnswers = false
    let rows = first
    try {
      for (let asked = 0; rows.length > 0; rows = asked < most ? this.#due() : []) {
        const corrected = await this.#ask(rows, signal)
        if (signal.aborted || generation !== this.#generation) return
        asked += rows.length
        this.#answered = [...(this.#answered ?? []), ...corrected]
        for (const { row } of corrected) this.#toStore.add(keyOf(row))
        hasAnswers = corrected.length > 0
        this.#batch = hasAnswers ? Math.min(MOST, 4 * this.#batch) : Math.min(FEWEST, 2 * this.#batch)
        if (!hasAnswers) break
      }
    } catch (error) {
      // Rows that fail must not keep their neighbours from an answer.
      const isTheirs = rows.length === 1 || this.#isThoroughTurn(rows[0]!)
      if (!isTheirs) this.#batch = 1
      else if (generation === this.#generation) for (const row of rows) this.#postpone(row)
      if (!signal.aborted && !(error instanceof RetryableError))
        this.#report.troubled(error, 3, this.#pauseMs)
    } finally {
      this.#isAsking = false
      this.#notBeforeMs = hasAnswers ? 0 : this.#clock.now() + this.#pauseMs
      this.#pauseMs = hasAnswers ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs)
    }
  }

  async #ask(rows: readonly NotedSender[], signal: AbortSignal): Promise<CorrectedSender[]> {
    const corrected: CorrectedSender[] = []
    const isThorough = this.#isThoroughTurn(rows[0]!)
    const answers = await this.#client.resolveSenders(questionsOf(rows), signal, { ...BUDGET, isThorough })
    for (const row of rows) {
      const sender = answers.get(senderKey(row.transactionHash, row.logIndex))
      const isCertain = sender !== undefined && !sender.isProvisional
      if (isCertain) this.#tries.delete(keyOf(row))
      else if (sender === undefined || sender.isTraceFailed === true) this.#postpone(row)
      // The sender of a transaction that is known now is stored at once, even if its caller is provisional.
      if (isCertain || (sender !== undefined && row.isUnknown)) corrected.push({ row, sender })
    }
    return corrected
  }

  #postpone(row: NotedSender): void {
    const key = keyOf(row)
    const count = (this.#tries.get(key)?.count ?? 0) + 1
    const restMs =
      count > MOST_TRIES
        ? RARE_REST_MS
        : Math.min(LONGEST_REST_MS, FIRST_REST_MS * REST_GROWTH ** (count - 1))
    this.#tries.delete(key)
    this.#tries.set(key, { count, notBeforeMs: this.#clock.now() + restMs })
    if (this.#tries.size > MOST_REMEMBERED) this.#tries.delete(this.#tries.keys().next().value!)
  }

  #reportAwaited(): void {
    const now = this.#clock.now()
    for (const [key, sinceMs] of this.#awaited) if (now - sinceMs >= AWAITED_MS) this.#awaited.delete(key)
    this.#report.awaitedSenders(this.#awaited.size)
  }
}

const keyOf = ({ transactionHash, logIndex }: NotedSender): string => senderKey(transactionHash, logIndex)

/** One question per transaction, with all of its logs: those of other rows help to match its calls. */
export function questionsOf(open: readonly UnresolvedSender[]): SenderQuestion[] {
  const questions = new Map<string, SenderQuestion>()
  for (const { transactionHash, blockNumber, transactionLogs } of open) {
    const key = senderKey(transactionHash, 0)
    if (!questions.has(key)) questions.set(key, { transactionHash, blockNumber, logs: transactionLogs })
  }
  return [...questions.values()]
}
