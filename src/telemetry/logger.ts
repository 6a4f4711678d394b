import { isatty } from 'node:tty'
import { type DestinationStream, pino } from 'pino'
import { prettyLine } from './prettyLine.js'
import { withoutSecrets } from './secrets.js'
import { standardError } from './standardStreams.js'

export interface LogConfig {
  readonly level: 'error' | 'warn' | 'info' | 'debug'
  /** `auto`: pretty when standard error is a terminal, else JSON lines. */
  readonly format: 'json' | 'pretty' | 'auto'
}

export type LogFields = Readonly<Record<string, unknown>>

/** One event per line: fixed text, then fields. error = someone must act; warn = recovers alone; info = rare; debug = per request. */
export interface Logger {
  error(text: string, fields?: LogFields): void
  warn(text: string, fields?: LogFields): void
  info(text: string, fields?: LogFields): void
  debug(text: string, fields?: LogFields): void
  /** The same logger with fields that every line carries. */
  child(bindings: LogFields): Logger
}

/** Where lines go: one call per line, newline included. */
export type LogSink = (line: string) => void

/** RPC addresses hold API keys. Whatever a library puts into an error text, no line with an address leaves the process. */
const ADDRESS_WITH_SECRETS = /\b(?:https?|wss?):(?:\\?\/){2}[^\s"'\\<>)\]]+/gi

const LOSS_TEXT = 'log lines were dropped while standard error took none'

/**
 * A logger on standard error. A line is written at once, so that a worker thread that ends or a process that exits loses
 * nothing, and no thread ever waits for it (`LineOutput`); each thread makes its own from the same plain settings.
 */
export function createLogger(config: LogConfig, bindings: LogFields = {}, sink?: LogSink): Logger {
  // Not `process.stderr.isTTY`: its stream changes the flags of a descriptor that we share with our parent.
  const pretty = config.format === 'pretty' || (config.format === 'auto' && isatty(2))
  const write = sink ?? writer(pretty)
  return wrap(
    pino(
      {
        level: config.level,
        base: { ...bindings },
        messageKey: 'msg',
        timestamp: () => `,"ts":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: errorFields },
      },
      guarded({ write }, pretty),
    ),
  )
}

function writer(pretty: boolean): LogSink {
  const lossLine = (lines: number): string => {
    const line = JSON.stringify({ level: 'warn', ts: new Date().toISOString(), msg: LOSS_TEXT, lines })
    return pretty ? prettyLine(line) : `${line}\n`
  }
  return (line) => {
    const output = standardError()
    output.tellLossesWith(lossLine)
    output.write(line)
  }
}

function guarded(stream: DestinationStream, pretty: boolean): DestinationStream {
  return {
    write(line: string) {
      const clean = withoutSecrets(line.replace(ADDRESS_WITH_SECRETS, '[address]'))
      stream.write(pretty ? prettyLine(clean) : clean)
    },
  }
}

type PinoLogger = ReturnType<typeof pino>

function wrap(inner: PinoLogger): Logger {
  return {
    error: (text, fields) => inner.error(fields ?? {}, text),
    warn: (text, fields) => inner.warn(fields ?? {}, text),
    info: (text, fields) => inner.info(fields ?? {}, text),
    debug: (text, fields) => inner.debug(fields ?? {}, text),
    child: (bindings) => wrap(inner.child({ ...bindings })),
  }
}

/** Name, text, stack and the chain of causes, so that the field `error` tells the whole story in one line. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? { code: error.code } : {}
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) }
  return { name: error.name, message: error.message, ...code, ...cause, stack: error.stack }
}
