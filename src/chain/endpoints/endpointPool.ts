import type { HaltReason } from '../../board/haltReason.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { FatalError, RetryableError } from '../../errors/chainErrors.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { withoutAddressParts } from '../../telemetry/secrets.js'
import { decodeQuantity, type RpcBlock } from '../rpc/rpcBlocks.js'
import { RpcFailure, type RpcFailureKind } from '../rpc/rpcFailure.js'
import { ChainIdentity } from './chainIdentity.js'
import type { Endpoint } from './endpoint.js'
import { EndpointHealth } from './endpointHealth.js'
import { readHead } from './readBlocks.js'

/** How much better another endpoint's score must be before a healthy endpoint is left for it. */
const SWITCH_MARGIN = 0.75
/** Characters of a provider's words that a debug line shows: some send a whole web page. */
const LOGGED_WORDS = 300
/** Characters of them that are searched for secrets. */
const SEARCHED_WORDS = 16_384
/** An endpoint that contradicted itself, or whose answer is in doubt, comes last for this long. */
const DISTRUST_MS = 30_000
/** The heads of all endpoints are compared this often. */
const COMPARE_HEADS_MS = 10_000
/** An endpoint lags when its head is more than LAG_BLOCKS below the highest in TIMES_BEHIND comparisons in a row. */
const LAG_BLOCKS = 2
const TIMES_BEHIND = 2
/**
 * How much lagging adds to the score. Less than errors may add, so that an endpoint that reports a high head, and fails for its
 * blocks, is not preferred.
 */
const LAG_WEIGHT = 3

/** Failures that no retry cures, and the reason to halt with when every endpoint fails in this way. */
const HOPELESS: Readonly<Partial<Record<RpcFailureKind, HaltReason>>> = {
  gone: 'pruned_history',
  tooMuch: 'answer_too_large',
}

interface Member {
  readonly endpoint: Endpoint
  readonly order: number
  readonly health: EndpointHealth
  readonly chain: ChainIdentity
  distrustedUntil: number
  /** Comparisons of heads in a row that found it behind. */
  timesBehind: number
}

export interface EndpointPoolOptions {
  readonly endpoints: readonly Endpoint[]
  readonly chainId: number
  readonly networkId: number
  readonly clock: Clock
  readonly logger: Logger
  /** Told which endpoint serves from now on. */
  readonly onServed?: (alias: string) => void
}

export type EndpointTask<T> = (endpoint: Endpoint) => Promise<T>

/**
 * The endpoints of one network. A task makes all of its calls to one endpoint, so that what it compares comes from one node.
 * When that endpoint fails, the next one runs the whole task.
 */
export class EndpointPool {
  readonly #members: readonly Member[]
  readonly #chainId: number
  readonly #networkId: number
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #onServed: (alias: string) => void
  #current: Member | undefined
  #compareHeadsAt = Number.NEGATIVE_INFINITY

  constructor(options: EndpointPoolOptions) {
    const { endpoints, chainId, networkId, clock, logger, onServed = () => undefined } = options
    this.#members = endpoints.map((endpoint, order) => {
      const health = new EndpointHealth(clock)
      const chain = new ChainIdentity({ endpoint, health, chainId, clock, logger })
      return { endpoint, order, health, chain, distrustedUntil: Number.NEGATIVE_INFINITY, timesBehind: 0 }
    })
    this.#chainId = chainId
    this.#networkId = networkId
    this.#clock = clock
    this.#logger = logger
    this.#onServed = onServed
  }

  get endpoints(): readonly Endpoint[] {
    return this.#members.map((member) => member.endpoint)
  }

  /** True while the last call to every endpoint failed. */
  isDown(): boolean {
    return this.#serving('logs').every((member) => member.health.isFailing || member.chain.isWrong)
  }

  /**
   * Runs `task` on the best endpoint for blocks and logs; when it fails, on the next one, and so on. While all of them are
   * paused after failures, it waits for the first pause to end: so a caller may try again at once.
   * @throws RetryableError; ChainDataError when an endpoint contradicted itself and no other one answered; FatalError when
   *   every endpoint is of another chain, or every one failed in a way that no retry cures (`HOPELESS`); the signal's reason; any
   *   other error of `task`.
   */
  async run<T>(task: EndpointTask<T>, signal: AbortSignal): Promise<T> {
    const serving = this.#serving('logs')
    const tried = new Set<Member>()
    let failure: RpcFailure | undefined
    let contradiction: ChainDataError | undefined
    for (;;) {
      signal.throwIfAborted()
      const member = this.#pick((candidate) => serving.includes(candidate) && !tried.has(candidate))
      if (member === undefined) {
        this.#assertSomeRightChain(serving)
        if (contradiction !== undefined) throw contradiction
        if (failure !== undefined) throw this.#errorFor(failure, tried.size === serving.length)
        await this.#clock.sleep(this.#untilSomeReady(serving), signal)
        tried.clear()
        continue
      }
      tried.add(member)
      try {
        if (!(await this.#hasRightChain(member, signal))) continue
        const result = await task(member.endpoint)
        this.#noteSuccess(member)
        if (this.#current !== member) this.#onServed(member.endpoint.alias)
        this.#current = member
        return result
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof ChainDataError) {
          contradiction = error
          this.#distrust(member)
          this.#logger.warn('endpoint contradicts itself', {
            endpoint: member.endpoint.alias,
            reason: error.reason,
          })
        } else if (error instanceof RpcFailure) {
          // Another try may cure this failure, so it is the one to report: the network must not halt.
          if (failure === undefined || failure.kind in HOPELESS) failure = error
          this.#noteFailure(member, error)
        } else throw error
      }
    }
  }

  /**
   * Runs `task` on the accepted endpoints, one after the other, until one has an answer that is not undefined. Never waits for
   * an endpoint that is paused, and does not throw when one fails.
   * @returns `failed`: without an answer, whether some endpoint failed or is paused.
   */
  async tryEach<T>(
    accepts: (endpoint: Endpoint) => boolean,
    task: EndpointTask<T | undefined>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: T | undefined; readonly failed: boolean }> {
    const tried = new Set<Member>()
    let failed = false
    for (;;) {
      const member = this.#pick((candidate) => !tried.has(candidate) && accepts(candidate.endpoint))
      if (member === undefined) {
        // An endpoint that is paused now might have had an answer.
        const isSomePaused = this.#members.some((other) => !tried.has(other) && accepts(other.endpoint))
        return { answer: undefined, failed: failed || isSomePaused }
      }
      tried.add(member)
      try {
        if (!(await this.#hasRightChain(member, signal))) continue
        const answer = await task(member.endpoint)
        this.#noteSuccess(member)
        if (answer !== undefined) return { answer, failed: false }
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof RpcFailure)) throw error
        failed = true
        this.#noteFailure(member, error)
      }
    }
  }

  /** Waits while all accepted endpoints are paused, but `longestMs` at most. */
  async untilReady(
    accepts: (endpoint: Endpoint) => boolean,
    longestMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const members = this.#members.filter(({ endpoint }) => accepts(endpoint))
    if (members.length === 0 || members.some(({ health }) => health.isReady)) return
    await this.#clock.sleep(Math.min(longestMs, this.#untilSomeReady(members)), signal)
  }

  /**
   * Checks the chain id of every endpoint. One that does not answer now is checked before its first use.
   * @throws FatalError when all of them are of another chain.
   */
  async verifyAll(signal: AbortSignal): Promise<void> {
    for (const member of this.#members) {
      try {
        await this.#hasRightChain(member, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof RpcFailure)) throw error
        this.#noteFailure(member, error)
      }
    }
    this.#assertSomeRightChain(this.#members)
  }

  /** @throws FatalError when every endpoint that is meant for contract calls is of another chain. */
  assertStateOfRightChain(): void {
    this.#assertSomeRightChain(this.#serving('state'))
  }

  /** For a while, tasks prefer another endpoint than the one that served last. */
  distrustCurrent(): void {
    if (this.#current !== undefined) this.#distrust(this.#current)
  }

  #distrust(member: Member): void {
    member.distrustedUntil = this.#clock.now() + DISTRUST_MS
    member.endpoint.counts.rests('contradiction', DISTRUST_MS)
  }

  /**
   * Compares the heads of all endpoints if that is due, in the background. An endpoint that has stopped following the chain
   * looks healthy by itself: only the others' heads show it.
   */
  compareHeads(signal: AbortSignal): void {
    const now = this.#clock.now()
    if (this.#members.length === 1 || now < this.#compareHeadsAt) return
    this.#compareHeadsAt = now + COMPARE_HEADS_MS
    void this.#measureLags(signal)
  }

  /**
   * Asks the other endpoints that are not paused for a head as high as `wanted`, because the current endpoint's is lower.
   * @param own the current endpoint's head.
   * @returns the first head that is as high as `wanted`, else the highest of all heads.
   */
  async findHigher(own: RpcBlock, wanted: number, signal: AbortSignal): Promise<RpcBlock> {
    const last = this.#current
    let highest = own
    const ask = async (member: Member): Promise<readonly [Member, RpcBlock]> => {
      const head = await this.#tryHead(member, signal)
      if (head !== undefined && head.number > highest.number) highest = head
      if (head === undefined || head.number < wanted) throw new RangeError('not so high')
      return [member, head]
    }
    const others = this.#members.filter((member) => member !== last && member.health.isReady)
    const found = await Promise.any(others.map(ask)).catch(() => undefined)
    signal.throwIfAborted()
    if (found === undefined) return highest
    const [member, head] = found
    if (last !== undefined && member.endpoint.serves('logs')) this.#setTimesBehind(last, TIMES_BEHIND)
    return head
  }

  /** @returns undefined when the endpoint fails, or is of another chain. */
  async #tryHead(member: Member, signal: AbortSignal): Promise<RpcBlock | undefined> {
    try {
      if (!(await this.#hasRightChain(member, signal))) return undefined
      const head = await readHead(member.endpoint, signal)
      this.#noteSuccess(member)
      return head
    } catch (error) {
      if (error instanceof RpcFailure && !signal.aborted) this.#noteFailure(member, error)
      return undefined
    }
  }

  async #measureLags(signal: AbortSignal): Promise<void> {
    const heads = await Promise.all(this.#members.map((member) => this.#headOf(member, signal)))
    const newest = Math.max(...heads.map((head) => head ?? -1))
    for (const [index, member] of this.#members.entries()) {
      const head = heads[index]
      if (head === undefined) continue
      this.#setTimesBehind(member, newest - head > LAG_BLOCKS ? member.timesBehind + 1 : 0)
    }
  }

  #setTimesBehind(member: Member, times: number): void {
    member.timesBehind = times
    member.endpoint.counts.lags(times >= TIMES_BEHIND)
  }

  /** @returns undefined when the endpoint is paused or does not answer. */
  async #headOf(member: Member, signal: AbortSignal): Promise<number | undefined> {
    if (!member.health.isReady || member.chain.isWrong) return undefined
    try {
      if (!(await this.#hasRightChain(member, signal))) return undefined
      return decodeQuantity(await member.endpoint.call('eth_blockNumber', [], signal))
    } catch {
      // The next task on this endpoint meets the failure and reports it.
      return undefined
    }
  }

  #pick(isCandidate: (member: Member) => boolean): Member | undefined {
    const ready = this.#members.filter(
      (member) => isCandidate(member) && member.health.isReady && !member.chain.isWrong,
    )
    let best: Member | undefined
    for (const member of ready)
      if (best === undefined || this.#score(member) < this.#score(best)) best = member
    const current = this.#current
    if (best === undefined || current === undefined || !ready.includes(current)) return best
    return this.#score(current) <= this.#score(best) + SWITCH_MARGIN ? current : best
  }

  #score(member: Member): number {
    const distrust = this.#clock.now() < member.distrustedUntil ? 10 : 0
    const lag = member.timesBehind >= TIMES_BEHIND ? LAG_WEIGHT : 0
    return member.order + member.health.score + distrust + lag
  }

  #noteSuccess(member: Member): void {
    if (member.health.isFailing)
      this.#logger.info('endpoint answers again', { endpoint: member.endpoint.alias })
    member.health.succeeded()
    member.endpoint.counts.answered()
  }

  #noteFailure(member: Member, failure: RpcFailure): void {
    if (failure.kind === 'network' || failure.kind === 'timeout') member.chain.doubt()
    if (!member.health.isFailing && failure.kind !== 'behind' && failure.kind !== 'gone')
      this.#logger.warn('endpoint fails', {
        endpoint: member.endpoint.alias,
        kind: failure.kind,
        failure: failure.message,
      })
    this.#logger.debug('endpoint said', {
      endpoint: member.endpoint.alias,
      // Secrets are hidden before the text is cut: half a key would not be recognised.
      text: withoutAddressParts(failure.providerWords().text.slice(0, SEARCHED_WORDS)).slice(0, LOGGED_WORDS),
    })
    member.health.failed(failure)
    member.endpoint.counts.rests(failure.kind, member.health.pausedUntil - this.#clock.now())
  }

  /** @throws RpcFailure when the endpoint does not answer. */
  async #hasRightChain(member: Member, signal: AbortSignal): Promise<boolean> {
    if (await member.chain.isRight(signal)) return true
    if (this.#current === member) this.#current = undefined
    member.endpoint.counts.rests('wrongChain', member.chain.wrongUntil - this.#clock.now())
    return false
  }

  #serving(need: 'logs' | 'state'): readonly Member[] {
    return this.#members.filter(({ endpoint }) => endpoint.serves(need))
  }

  #assertSomeRightChain(members: readonly Member[]): void {
    const wrong = members.filter((member) => member.chain.isWrong)
    if (wrong.length < members.length || wrong.length === 0) return
    const found = wrong.map((member) => `${member.endpoint.alias} has ${member.chain.wrongId}`).join(', ')
    throw new FatalError(`network ${this.#networkId} needs chain id ${this.#chainId}: ${found}`, {
      reason: 'wrong_chain',
    })
  }

  /** The error to throw when every endpoint has failed or is paused. */
  #errorFor(failure: RpcFailure, wereAllTried: boolean): RetryableError | FatalError {
    const reason = HOPELESS[failure.kind]
    if (reason === undefined || !wereAllTried) return new RetryableError(failure.message, { cause: failure })
    return new FatalError(failure.message, { cause: failure, reason })
  }

  #untilSomeReady(members: readonly Member[]): number {
    const now = this.#clock.now()
    const times = members.map((member) => Math.max(member.health.pausedUntil, member.chain.wrongUntil))
    return Math.max(1, Math.min(...times) - now)
  }
}
