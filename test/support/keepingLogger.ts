import type { StatusRow } from '../../src/board/statusBoard.js'
import type { SyncMessage } from '../../src/indexer/indexerMessages.js'
import { SyncReport } from '../../src/indexer/syncReport.js'
import type { Clock } from '../../src/telemetry/clocks.js'
import type { LogFields, Logger } from '../../src/telemetry/logger.js'

export interface KeptLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug'
  readonly text: string
  readonly fields: LogFields
}

/** A logger that keeps its lines instead of writing them. */
export function createKeepingLogger(): { readonly logger: Logger; readonly lines: KeptLine[] } {
  const lines: KeptLine[] = []
  const bound = (bindings: LogFields): Logger => {
    const write = (level: KeptLine['level']) => (text: string, fields?: LogFields) =>
      void lines.push({ level, text, fields: { ...bindings, ...fields } })
    return {
      error: write('error'),
      warn: write('warn'),
      info: write('info'),
      debug: write('debug'),
      child: (more) => bound({ ...bindings, ...more }),
    }
  }
  return { logger: bound({}), lines }
}

/** A report whose log goes nowhere. */
export function quietReport(
  networkId: number,
  row: StatusRow,
  clock: Clock,
  messages: SyncMessage[],
): SyncReport {
  const { logger } = createKeepingLogger()
  return new SyncReport({ networkId, row, post: (message) => messages.push(message), logger, clock })
}
