import { createExchangeContext, type ExchangeContext } from '../../../src/http/wire/exchange.js'
import { corsHeaders } from '../../../src/http/wire/headers.js'
import { createLogger } from '../../../src/telemetry/logger.js'

/** What exchanges of a front thread share, for exchanges on made-up connections: counts nothing, logs nothing. */
export function newExchangeContext(): ExchangeContext {
  return createExchangeContext({
    cors: corsHeaders('off'),
    logger: createLogger({ level: 'error', format: 'json' }, {}, () => undefined),
    metrics: {
      requestFinished: () => undefined,
      requestAborted: () => undefined,
      rateLimited: () => undefined,
      cacheHit: () => undefined,
      connectionCut: () => undefined,
      connectionRefused: () => undefined,
      slowReaderCut: () => undefined,
    },
    logRequest: () => undefined,
    random: () => 0.5,
    traits: {
      ...{ closesBodiless: true, noticesBodiless: false, keepsUnsent: false },
      endAndClose: () => undefined,
    },
  })
}
