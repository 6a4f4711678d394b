import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { decodeChainId } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointHealth } from './endpointHealth.js'

/** The chain id is asked again after this long, and after every lost connection: gateways are reconfigured under us. */
const VALID_MS = 30_000
/** An endpoint of another chain is looked at again after this long. */
const WRONG_PAUSE_MS = 10_000

export interface ChainIdentityOptions {
  readonly endpoint: Endpoint
  readonly health: Pick<EndpointHealth, 'measured'>
  /** What it must be. */
  readonly chainId: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Of which chain one endpoint is, as far as it was asked lately. */
export class ChainIdentity {
  readonly #options: ChainIdentityOptions
  #knownUntil = Number.NEGATIVE_INFINITY
  #wrongUntil = Number.NEGATIVE_INFINITY
  #wrongId: number | undefined

  constructor(options: ChainIdentityOptions) {
    this.#options = options
  }

  /** It was of another chain at the last look, and the next one is not due. */
  get isWrong(): boolean {
    return this.#options.clock.now() < this.#wrongUntil
  }

  get wrongUntil(): number {
    return this.#wrongUntil
  }

  /** The other chain's id. */
  get wrongId(): number | undefined {
    return this.#wrongId
  }

  /** To be asked before the next use. */
  doubt(): void {
    this.#knownUntil = Number.NEGATIVE_INFINITY
  }

  /** @returns false for another chain. @throws RpcFailure when the endpoint does not say. */
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
