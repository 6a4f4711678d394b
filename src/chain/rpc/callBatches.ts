import type { Logger } from '../../telemetry/logger.js'
import type { BatchSize } from './batchSize.js'
import type { CallRetry } from './callRetry.js'
import { classifyLogsFailure } from './rangeErrors.js'
import {
  isHistoryGone,
  isMethodMissing,
  isRevert,
  isUnknownBlock,
  isUnknownTransaction,
  RpcFailure,
} from './rpcFailure.js'
import type { RpcCall, RpcOutcome, RpcTransport } from './rpcTransport.js'

const BATCH_WORD = /\bbatch/i
const NUMBERS = /[0-9a-f-]{6,}|\d+/gi
/** A batch of more calls than this does not count as too large when only its last answer is missing. */
const FEW = 8
/** When calls take several requests: the most requests in flight at once, and the most calls in those. */
const REQUESTS_IN_FLIGHT = 6
const CALLS_IN_FLIGHT = 50

/** Of the look-ups of one task: after so many requests without an answer in time, no more are sent. */
const MOST_HELD_UP = 3

export interface CallBatchesOptions {
  readonly alias: string
  readonly size: BatchSize
  /** The network has no other endpoint. */
  readonly isAlone: boolean
  readonly transport: Pick<RpcTransport, 'request' | 'requestBatch'>
  readonly retry: CallRetry
  /** Waits until so many calls fit into the endpoint's budget. */
  readonly pay: (calls: number, signal: AbortSignal) => Promise<void>
  readonly logger: Logger
  /**
   * The calls ask for single things, of which one may never be answered: a request without an answer in time fails with its own calls, and
   * says nothing about the size of batches.
   */
  readonly isLookUp?: boolean
}

/** Sends many calls to one endpoint in batches, and learns from failures how large a batch may be. */
export class CallBatches {
  readonly #size: BatchSize
  readonly #isLookUp: boolean
  readonly #options: CallBatchesOptions

  constructor(options: CallBatchesOptions) {
    this.#options = options
    this.#size = options.size
    this.#isLookUp = options.isLookUp === true
  }

  /**
   * @returns outcomes in the order of the calls; a call that failed by itself is an outcome, not an error.
   * @throws RpcFailure when no call of a request was answered, and its size is not the reason.
   */
  async ask(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes: RpcOutcome[] = new Array(calls.length)
    let open = calls.map((_, index) => index)
    while (open.length > 0) {
      if (this.#size.isInDoubt && !this.#isLookUp && open.length > 1) {
        await this.#askInDoubt(calls, open[0]!, outcomes, signal)
        open = open.slice(1)
        continue
      }
      const parts = this.#cut(open)
      const later = open.slice(parts.reduce((sum, part) => sum + part.length, 0))
      const again = await this.#askParts(calls, parts, outcomes, signal)
      open = [...again, ...later].sort((a, b) => a - b)
      const failure = this.#overdue(outcomes)
      if (failure === undefined) continue
      for (const index of open) outcomes[index] ??= { ok: false, failure }
      break
    }
    return outcomes
  }

  /** Sends one call, again if it failed by chance. @throws RpcFailure */
  single(call: RpcCall, signal: AbortSignal): Promise<unknown> {
    return this.#options.retry.run(
      () => this.#once(call, signal),
      signal,
      (failure) => !this.#isHeldUp(failure),
    )
  }

  async #once(call: RpcCall, signal: AbortSignal): Promise<unknown> {
    await this.#options.pay(1, signal)
    return this.#options.transport.request(call, signal)
  }

  /**
   * Cuts the open calls into requests: one request while the size is being searched for. The last two calls stay together, as
   * they may be a header and its logs, which one node must answer.
   */
  #cut(open: readonly number[]): number[][] {
    const { size, isSteady } = this.#size
    if (!isSteady) return [open.slice(0, open.length === size + 1 && size > 1 ? size - 1 : size)]
    const parts: number[][] = []
    for (let at = 0; at < open.length; at += parts.at(-1)!.length)
      parts.push(open.slice(at, at + ((open.length - at) % size || size)))
    return parts
  }

  /** @returns the calls of `parts` that are still open. */
  async #askParts(
    calls: readonly RpcCall[],
    parts: readonly (readonly number[])[],
    outcomes: RpcOutcome[],
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const open: number[] = []
    let next = 0
    const askOneByOne = async (): Promise<void> => {
      for (let part = parts[next++]; part !== undefined; part = parts[next++]) {
        if (this.#overdue(outcomes) !== undefined) {
          open.push(...part)
          continue
        }
        try {
          const isRefused = part.length > this.#size.size
          open.push(...(isRefused ? part : await this.#askPart(calls, part, outcomes, signal)))
        } catch (error) {
          if (error instanceof RpcFailure && this.#isHeldUp(error)) {
            for (const index of part) outcomes[index] ??= { ok: false, failure: error }
            continue
          }
          const isPutOff = error instanceof RpcFailure && part.length > 1 && this.#isForLater(error)
          if (isPutOff && this.#size.wasPutOff(part.length)) {
            this.#refused(part.length, 0, error)
            open.push(...part)
            continue
          }
          next = parts.length
          throw error
        }
      }
    }
    const inFlight = Math.min(parts.length, REQUESTS_IN_FLIGHT, Math.ceil(CALLS_IN_FLIGHT / this.#size.size))
    await Promise.all(Array.from({ length: inFlight }, askOneByOne))
    return open
  }

  /** @returns the calls of `part` that are still open. */
  async #askPart(
    calls: readonly RpcCall[],
    part: readonly number[],
    outcomes: RpcOutcome[],
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const alone = async (indexes: readonly number[]): Promise<readonly number[]> => {
      await Promise.all(indexes.map((index) => this.#askAlone(calls, index, outcomes, signal)))
      return []
    }
    if (part.length === 1) return alone(part)
    const asked = part.map((index) => calls[index]!)
    let answers: RpcOutcome[]
    try {
      answers = await this.#askTogether(asked, signal)
    } catch (error) {
      if (!(error instanceof RpcFailure) || this.#isHeldUp(error) || this.#isForLater(error)) throw error
      return this.#trySingle(calls, part, part, error, outcomes, signal)
    }
    for (const [position, index] of part.entries()) outcomes[index] = answers[position]!
    const suspects = suspectsAmong(asked, answers)
    const [first] = suspects
    // These are asked again: another node behind the same address may know the block already.
    const again = part.filter((_, position) => isBehind(asked[position]!, answers[position]!))
    if (first === undefined) {
      this.#size.answered(asked.length)
      return alone(again)
    }
    const failed = suspects.map((position) => part[position]!)
    const { failure } = answers[first] as Extract<RpcOutcome, { ok: false }>
    const isTail = first === part.length - failed.length
    const isOneLeftOut = failed.length === 1 && part.length > FEW && failure.kind === 'body'
    // Failures scattered over the batch do not come from its size.
    if (!isTail || isOneLeftOut) return alone([...failed, ...again])
    return this.#trySingle(calls, part, failed, failure, outcomes, signal)
  }

  async #askTogether(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    const { transport, retry, pay } = this.#options
    const request = async (): Promise<RpcOutcome[]> => {
      await pay(calls.length, signal)
      const answers = await transport.requestBatch(calls, signal)
      const first = answers.find((answer) => !answer.ok)
      if (first !== undefined && answers.every(isRateLimited)) throw first.failure
      return answers
    }
    // After a time-out the same batch would take as long again: a single call is the better second try.
    return retry.run(request, signal, ({ kind }) => kind !== 'timeout')
  }

  async #askAlone(
    calls: readonly RpcCall[],
    index: number,
    outcomes: RpcOutcome[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      outcomes[index] = { ok: true, result: await this.single(calls[index]!, signal) }
      this.#size.answered(1)
    } catch (error) {
      if (!(error instanceof RpcFailure) || !(this.#isHeldUp(error) || isAboutTheCall(error))) throw error
      outcomes[index] = { ok: false, failure: error }
    }
  }

  /**
   * Sends one call of a failed batch by itself. If it is answered, the batch was too large.
   * @param failed the calls of `part` without an answer: its end, or all of it. @returns the calls that are still open.
   * @throws `failure`, or the signal's reason.
   */
  async #trySingle(
    calls: readonly RpcCall[],
    part: readonly number[],
    failed: readonly number[],
    failure: RpcFailure,
    outcomes: RpcOutcome[],
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    // The single call explained nothing: the outcomes of the batch stand.
    const keep = (): readonly number[] => {
      if (outcomes[failed[0]!] === undefined) throw failure
      return []
    }
    if (!this.#size.mayTrySingle) return keep()
    // Logs are the heaviest call: if they fail by themselves, the batch may not be the reason.
    const index = failed.find((each) => isLogsCall(calls[each]!)) ?? failed[0]!
    const others = failed.filter((each) => each !== index)
    try {
      outcomes[index] = { ok: true, result: await this.#once(calls[index]!, signal) }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RpcFailure)) throw error
      if (this.#isHeldUp(error)) {
        outcomes[index] = { ok: false, failure: error }
        return others
      }
      const isAnswer = error.kind === 'rpc' && !isAlike(error, failure)
      const isOfLogs = isLogsCall(calls[index]!) && isAboutTheCall(error)
      if (isAnswer || isOfLogs) outcomes[index] = { ok: false, failure: error }
      if (isOfLogs) return others
      if (!isAnswer) {
        this.#size.singleFailedToo()
        if (error.kind === 'rpc') for (const each of failed) outcomes[each] ??= { ok: false, failure }
        return keep()
      }
    }
    if (failure.kind !== 'timeout' || this.#size.wasLateAgain())
      this.#refused(part.length, part.length - failed.length, failure)
    return others
  }

  /** Batches were put off again and again: a single call shows whether their size is the reason. */
  async #askInDoubt(
    calls: readonly RpcCall[],
    index: number,
    outcomes: RpcOutcome[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      outcomes[index] = { ok: true, result: await this.#once(calls[index]!, signal) }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RpcFailure) || error.kind !== 'rpc') {
        this.#size.singleFailedToo()
        throw error
      }
      outcomes[index] = { ok: false, failure: error }
    }
    this.#size.singleAnswered()
  }

  /** Of look-ups, the failure that is left to the open ones once too many requests had no answer in time. */
  #overdue(outcomes: readonly (RpcOutcome | undefined)[]): RpcFailure | undefined {
    if (!this.#isLookUp) return undefined
    const late = new Set<RpcFailure>()
    for (const outcome of outcomes)
      if (outcome?.ok === false && this.#isHeldUp(outcome.failure)) late.add(outcome.failure)
    return late.size < MOST_HELD_UP ? undefined : late.values().next().value
  }

  #isHeldUp(failure: RpcFailure): boolean {
    return this.#isLookUp && failure.kind === 'timeout'
  }

  /** Whether no call may follow at once: the endpoint asked for a pause, or another endpoint can answer sooner. */
  #isForLater(failure: RpcFailure): boolean {
    if (this.#size.putOffsMeanSize) return false
    return isTooManyRequests(failure) || (failure.kind === 'timeout' && !this.#options.isAlone)
  }

  #refused(calls: number, served: number, failure: RpcFailure): void {
    this.#size.refused(calls, { served, isSlow: failure.kind === 'timeout' })
    this.#options.logger.info('endpoint refuses a batch, but answers single calls', {
      endpoint: this.#options.alias,
      calls,
      kind: failure.kind,
    })
  }
}

/** The endpoint answered, and only this call failed. */
function isAboutTheCall(failure: RpcFailure): boolean {
  return failure.kind === 'rpc' || failure.kind === 'body' || failure.kind === 'http'
}

const isLogsCall = ({ method }: RpcCall): boolean => method === 'eth_getLogs'

/** Status 429 means the rate of requests, unless the text names batches. */
const isTooManyRequests = (failure: RpcFailure): boolean =>
  failure.providerWords().status === 429 && !BATCH_WORD.test(failure.providerWords().text)

const isRateLimited = (outcome: RpcOutcome): boolean => !outcome.ok && outcome.failure.kind === 'rateLimit'

/** Whether two refusals are the same, apart from the numbers and request ids in them. */
function isAlike(a: RpcFailure, b: RpcFailure): boolean {
  const [left, right] = [a.providerWords(), b.providerWords()]
  const isSame = a.kind === b.kind && left.code === right.code
  return isSame && left.text.replace(NUMBERS, '') === right.text.replace(NUMBERS, '')
}

/** A contract call at a block that this node does not know yet. Not headers and logs: those must come from one node. */
const isBehind = ({ method }: RpcCall, outcome: RpcOutcome): boolean =>
  method === 'eth_call' && !outcome.ok && isUnknownBlock(outcome.failure)

/** Positions of the outcomes that may have failed because of the batch, not because of their own call. */
function suspectsAmong(calls: readonly RpcCall[], outcomes: readonly RpcOutcome[]): number[] {
  const first = outcomes[0]?.ok === false ? outcomes[0].failure : undefined
  const areAllAlike =
    first !== undefined && outcomes.every((outcome) => !outcome.ok && isAlike(outcome.failure, first))
  return outcomes.flatMap((outcome, position) =>
    outcome.ok || isOwnFailure(calls[position]!, outcome.failure, areAllAlike) ? [] : [position],
  )
}

/** Whether a call failed for a reason of its own. @param isEveryones all calls of the batch failed in the same words. */
function isOwnFailure(call: RpcCall, failure: RpcFailure, isEveryones: boolean): boolean {
  const { code, text } = failure.providerWords()
  if (failure.kind !== 'rpc' || BATCH_WORD.test(text)) return false
  if (isRevert(failure) || isUnknownBlock(failure) || isUnknownTransaction(failure) || isHistoryGone(failure))
    return true
  if (isEveryones) return false
  if (isMethodMissing(failure) || code === -32602) return true
  return isLogsCall(call) && classifyLogsFailure(failure, Number.MAX_SAFE_INTEGER).type !== 'unknown'
}
