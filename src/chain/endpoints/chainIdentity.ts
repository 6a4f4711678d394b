import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { decodeChainId } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointHealth } from './endpointHealth.js'

/** The chain id is checked again after this long, and after every lost connection: a gateway may be reconfigured. */
const VALID_MS = 30_000
/** An endpoint of another chain is checked again after this long. */
const WRONG_PAUSE_MS = 10_000

export interface ChainIdentityOptions {
  readonly endpoint: Endpoint
  readonly health: Pick<EndpointHealth, 'measured'>
  /** The configured id. */
  readonly chainId: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Whether one endpoint is of the configured chain. The answer holds for a while, then it is asked again. */
export class ChainIdentity {
  readonly #options: ChainIdentityOptions
  #knownUntil = Number.NEGATIVE_INFINITY
  #wrongUntil = Number.NEGATIVE_INFINITY
  #wrongId: number | undefined

  constructor(options: ChainIdentityOptions) {
    this.#options = options
  }

  /** True while the last check found another chain, and the next check is not due yet. */
  get isWrong(): boolean {
    return this.#options.clock.now() < this.#wrongUntil
  }

  get wrongUntil(): number {
    return this.#wrongUntil
  }

  /** The chain id that the last check found, if it was the wrong one. */
  get wrongId(): number | undefined {
    return this.#wrongId
  }

  /** The next use of the endpoint checks again. */
  doubt(): void {
    this.#knownUntil = Number.NEGATIVE_INFINITY
  }

  /** @returns false for another chain. @throws RpcFailure when the endpoint does not answer. */
  async isRight(signal: AbortSignal): Promise<boolean> {
    const { endpoint, health, chainId: expected, clock, logger } = this.#options
    const started = clock.now()
    if (started < this.#knownUntil) return true
    const chainId = decodeChainId(await endpoint.call('eth_chainId', [], signal))
    if (chainId === undefined) throw new RpcFailure('body', `${endpoint.alias}: no chain id`)
    const now = clock.now()
    health.measured(now - started)
    if (chainId === expected) {
      this.#knownUntil = now + VALID_MS
      this.#wrongId = undefined
      return true
    }
    if (this.#wrongId !== chainId)
      logger.error('endpoint is of another chain', { endpoint: endpoint.alias, chainId, expected })
    this.#wrongId = chainId
    this.#wrongUntil = now + WRONG_PAUSE_MS
    this.doubt()
    return false
  }
}
