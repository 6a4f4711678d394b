import type { HaltReason } from '../../board/haltReason.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { FatalError, RetryableError } from '../../errors/chainErrors.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { withoutSecrets } from '../../telemetry/secrets.js'
import { type BlockHead, decodeQuantity } from '../rpc/rpcBlocks.js'
import { RpcFailure, type RpcFailureKind } from '../rpc/rpcFailure.js'
import { ChainIdentity } from './chainIdentity.js'
import type { Endpoint } from './endpoint.js'
import { EndpointHealth } from './endpointHealth.js'
import { readHead } from './readBlocks.js'

/** How much better another endpoint must be before a healthy one is left: no flapping between equals. */
const SWITCH_MARGIN = 0.75
/** Characters of a provider's words that a debug line shows: some send a whole web page. */
const LOGGED_WORDS = 300
/** An endpoint whose data contradicted themselves comes last for this long. */
const DISTRUST_MS = 30_000
/** The newest blocks of all endpoints are compared this often. */
const COMPARE_HEADS_MS = 10_000
/** More blocks behind the newest at so many comparisons in a row: an endpoint that does not follow. */
const LAG_BLOCKS = 2
const TIMES_BEHIND = 2
/** Less than errors weigh at most: an endpoint that tells of blocks which it can't show must not win by them. */
const LAG_WEIGHT = 3

/** The reason to halt when every endpoint fails with this kind. */
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
  /** Comparisons in a row at which it was behind. */
  timesBehind: number
}

export interface EndpointPoolOptions {
  readonly endpoints: readonly Endpoint[]
  readonly chainId: number
  readonly networkId: number
  readonly clock: Clock
  readonly logger: Logger
}

export type EndpointTask<T> = (endpoint: Endpoint) => Promise<T>

/**
 * The endpoints of one network. A task runs on one endpoint from its first call to its last, so that what it compares
 * comes from one node; when that one fails, the whole task goes to the next.
 */
export class EndpointPool {
  readonly #members: readonly Member[]
  readonly #chainId: number
  readonly #networkId: number
  readonly #clock: Clock
  readonly #logger: Logger
  #current: Member | undefined
  #compareHeadsAt = Number.NEGATIVE_INFINITY

  constructor({ endpoints, chainId, networkId, clock, logger }: EndpointPoolOptions) {
    this.#members = endpoints.map((endpoint, order) => {
      const health = new EndpointHealth(clock)
      const chain = new ChainIdentity({ endpoint, health, chainId, clock, logger })
      return { endpoint, order, health, chain, distrustedUntil: Number.NEGATIVE_INFINITY, timesBehind: 0 }
    })
    this.#chainId = chainId
    this.#networkId = networkId
    this.#clock = clock
    this.#logger = logger
  }

  get endpoints(): readonly Endpoint[] {
    return this.#members.map((member) => member.endpoint)
  }

  /** True while the last thing that every endpoint did was to fail. */
  isDown(): boolean {
    return this.#serving('logs').every((member) => member.health.isFailing || member.chain.isWrong)
  }

  /**
   * Runs `task` on the best endpoint for blocks and logs, then on the others as long as it fails. When all of them rest,
   * waits for the first one, so a caller that tries again at once does no harm.
   * @throws RetryableError, ChainDataError (some endpoint's data contradicted themselves, and none had better), FatalError
   *   (every endpoint is of another chain, or none keeps the history that is asked for), the signal's reason, or what
   *   `task` threw on its own account.
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
        if (failure !== undefined) throw this.#final(failure, tried.size === serving.length)
        await this.#clock.sleep(this.#untilSomeReady(serving), signal)
        tried.clear()
        continue
      }
      tried.add(member)
      try {
        if (!(await this.#hasRightChain(member, signal))) continue
        const result = await task(member.endpoint)
        this.#noteSuccess(member)
        this.#current = member
        return result
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof ChainDataError) {
          contradiction = error
          member.distrustedUntil = this.#clock.now() + DISTRUST_MS
          this.#logger.warn('endpoint contradicts itself', {
            endpoint: member.endpoint.alias,
            reason: error.reason,
          })
        } else if (error instanceof RpcFailure) {
          // What another try may cure says more than what none can.
          if (failure === undefined || failure.kind in HOPELESS) failure = error
          this.#noteFailure(member, error)
        } else throw error
      }
    }
  }

  /**
   * First answer that is not undefined from the endpoints that are ready now and that `accepts` takes; never waits for
   * one, never throws for a failing one.
   * @returns undefined when none had an answer; `failed` tells whether one of them tried and failed.
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
        // One that rests now might have had an answer.
        const resting = this.#members.some((other) => !tried.has(other) && accepts(other.endpoint))
        return { answer: undefined, failed: failed || resting }
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

  /** Waits while all of these rest, as `run` does, but `longestMs` at most. */
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
   * Asks every endpoint for its chain id. Those that do not answer now are asked before their first use.
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

  /** The next tasks prefer another endpoint than the one that served last. */
  distrustCurrent(): void {
    if (this.#current !== undefined) this.#current.distrustedUntil = this.#clock.now() + DISTRUST_MS
  }

  /**
   * Now and then, beside everything else, looks whether an endpoint has stopped to follow the chain while another one
   * goes on: by itself such an endpoint looks sound.
   */
  compareHeads(signal: AbortSignal): void {
    const now = this.#clock.now()
    if (this.#members.length === 1 || now < this.#compareHeadsAt) return
    this.#compareHeadsAt = now + COMPARE_HEADS_MS
    void this.#measureLags(signal)
  }

  /**
   * Asks the other ready endpoints for a head as high as `wanted`, which the current endpoint does not show.
   * @param told head of the current endpoint.
   * @returns the first head that is as high as `wanted`, else the highest of all heads.
   */
  async findHigher(told: BlockHead, wanted: number, signal: AbortSignal): Promise<BlockHead> {
    const last = this.#current
    let highest = told
    const ask = async (member: Member): Promise<readonly [Member, BlockHead]> => {
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
    if (last !== undefined && member.endpoint.serves('logs')) last.timesBehind = TIMES_BEHIND
    return head
  }

  /** @returns undefined when the endpoint fails, or is of another chain. */
  async #tryHead(member: Member, signal: AbortSignal): Promise<BlockHead | undefined> {
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
      member.timesBehind = newest - head > LAG_BLOCKS ? member.timesBehind + 1 : 0
    }
  }

  /** @returns undefined when the endpoint rests or does not say. */
  async #headOf(member: Member, signal: AbortSignal): Promise<number | undefined> {
    if (!member.health.isReady || member.chain.isWrong) return undefined
    try {
      if (!(await this.#hasRightChain(member, signal))) return undefined
      return decodeQuantity(await member.endpoint.call('eth_blockNumber', [], signal))
    } catch {
      // Whoever needs this endpoint meets the failure and tells of it.
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
      // Hidden first: the beginning of a key that is cut off would not be known for one.
      text: withoutSecrets(failure.providerWords().text).slice(0, LOGGED_WORDS),
    })
    member.health.failed(failure)
  }

  /** @throws RpcFailure when the endpoint does not say. */
  async #hasRightChain(member: Member, signal: AbortSignal): Promise<boolean> {
    if (await member.chain.isRight(signal)) return true
    if (this.#current === member) this.#current = undefined
    return false
  }

  #serving(need: 'logs' | 'state'): readonly Member[] {
    return this.#members.filter(({ endpoint }) => endpoint.serves(need))
  }

  #assertSomeRightChain(members: readonly Member[]): void {
    const wrong = members.filter((member) => member.chain.isWrong)
    if (wrong.length < members.length || wrong.length === 0) return
    const told = wrong.map((member) => `${member.endpoint.alias} has ${member.chain.wrongId}`).join(', ')
    throw new FatalError(`network ${this.#networkId} needs chain id ${this.#chainId}: ${told}`, {
      reason: 'wrong_chain',
    })
  }

  /** Every endpoint was asked, or rests. */
  #final(failure: RpcFailure, wereAllTried: boolean): RetryableError | FatalError {
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
