import type { Logger, RequestLines } from '../telemetry/logger.js'
import { countedLabels } from './countedLabels.js'
import { ipText } from './limits/ipAddress.js'
import type { TrustedProxies } from './limits/trustedProxies.js'
import type { EndedRequest } from './wire/exchange.js'
import type { WireRequest } from './wire/wire.js'

const FIRST_FAILURE = 500

/**
 * The lines about requests (`log.requests`). They name the route, the client and how it ended, but not what was asked: clients put keys
 * into queries. While there are none a request pays for one look at a number.
 */
export class RequestLog {
  private readonly lines: () => RequestLines
  private readonly logger: Logger
  private readonly proxies: TrustedProxies

  /** @param lines which lines there are now. */
  constructor(lines: () => RequestLines, proxies: TrustedProxies, logger: Logger) {
    this.lines = lines
    this.logger = logger
    this.proxies = proxies
  }

  isOn(): boolean {
    return this.lines() !== undefined
  }

  /** Whether each request gets a line, so that each needs an id. */
  isOfEach(): boolean {
    const level = this.lines()
    return level !== undefined && level !== 'warn'
  }

  /** The client's address as text. @param peer the connection's other end. */
  clientOf(peer: ArrayBuffer | string, request: WireRequest): string {
    return ipText(this.proxies.clientOf(peer, request))
  }

  readonly write = ({ requestId, method, route, status, durationMs, client }: EndedRequest): void => {
    const level = this.lines()
    if (level === undefined || (level === 'warn' && !(status !== undefined && status >= FIRST_FAILURE)))
      return
    this.logger[level]('request', {
      ...(requestId === '' ? {} : { requestId }),
      method,
      route: countedLabels.paths?.[route] ?? route,
      ...(status === undefined ? { aborted: true } : { status }),
      durationMs: Math.round(durationMs * 100) / 100,
      client,
    })
  }
}
