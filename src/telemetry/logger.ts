import { isatty } from 'node:tty'
import { type DestinationStream, pino } from 'pino'
import { jsonWithoutSecrets } from './secrets.js'
import { standardError } from './standardStreams.js'
import { visibleJson, visibleText } from './visibleText.js'

export interface LogConfig {
  readonly level: 'error' | 'warn' | 'info' | 'debug'
  /** `auto`: pretty when standard error is a terminal, else JSON lines. */
  readonly format: 'json' | 'pretty' | 'auto'
  /** Holds the level in force in all threads, in place of `level`: `createSharedLevel`. */
  readonly sharedLevel?: SharedArrayBuffer
}

const SEVERITY: { readonly [L in LogConfig['level']]: number } = { error: 50, warn: 40, info: 30, debug: 20 }

/** A level that all threads obey, and that can change while they run. */
export function createSharedLevel(level: LogConfig['level']): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  setSharedLevel(shared, level)
  return shared
}

export function setSharedLevel(shared: SharedArrayBuffer, level: LogConfig['level']): void {
  Atomics.store(new Int32Array(shared), 0, SEVERITY[level])
}

export type LogFields = Readonly<Record<string, unknown>>

/**
 * One event per line: a fixed text, then fields. error: someone must act. warn: the service recovers by itself. info: rare events.
 * debug: events of each request.
 */
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

const LOSS_TEXT = 'log lines were dropped because standard error accepted none'

/**
 * Makes a logger on standard error; each thread makes its own from the same settings. A line is written at once, so that a thread
 * that ends or a process that exits loses nothing, and no thread waits for the reader (`LineOutput`).
 */
export function createLogger(config: LogConfig, bindings: LogFields = {}, sink?: LogSink): Logger {
  // Not `process.stderr.isTTY`: its stream changes the flags of a descriptor that we share with our parent.
  const pretty = config.format === 'pretty' || (config.format === 'auto' && isatty(2))
  const write = sink ?? writer(pretty)
  return wrap(
    pino(
      {
        // With a shared level `wrap` decides.
        level: config.sharedLevel === undefined ? config.level : 'debug',
        base: { ...bindings },
        messageKey: 'msg',
        timestamp: () => `,"ts":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: (error: unknown) => errorFields(error) },
      },
      guarded({ write }, pretty),
    ),
    config.sharedLevel === undefined ? undefined : new Int32Array(config.sharedLevel),
  )
}

function writer(pretty: boolean): LogSink {
  const lossLine = (lines: number): string => {
    const line = JSON.stringify({ level: 'warn', ts: new Date().toISOString(), msg: LOSS_TEXT, lines })
    return pretty ? prettyLine(line) : `${line}\n`
  }
  return (line) => {
    const output = standardError()
    output.reportLossesWith(lossLine)
    output.write(line)
  }
}

/** Hides addresses and secrets in each line before it is written: RPC addresses hold API keys, and libraries put them into error texts. */
function guarded(stream: DestinationStream, pretty: boolean): DestinationStream {
  return {
    write(line: string) {
      const clean = visibleJson(jsonWithoutSecrets(line))
      stream.write(pretty ? prettyLine(clean) : clean)
    },
  }
}

type PinoLogger = ReturnType<typeof pino>

function wrap(inner: PinoLogger, least: Int32Array | undefined): Logger {
  const write = (level: LogConfig['level'], text: string, fields: LogFields = {}): void => {
    if (least === undefined || SEVERITY[level] >= Atomics.load(least, 0)) inner[level](fields, text)
  }
  return {
    error: (text, fields) => write('error', text, fields),
    warn: (text, fields) => write('warn', text, fields),
    info: (text, fields) => write('info', text, fields),
    debug: (text, fields) => write('debug', text, fields),
    child: (bindings) => wrap(inner.child({ ...bindings }), least),
  }
}

/** An error may be its own cause. */
const MOST_CAUSES = 8

/** Name, message, stack and all causes of an error, for the field `error`. */
function errorFields(error: unknown, causesLeft = MOST_CAUSES): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? { code: error.code } : {}
  const hasCause = error.cause !== undefined && causesLeft > 0
  const cause = hasCause ? { cause: errorFields(error.cause, causesLeft - 1) } : {}
  return { name: error.name, message: error.message, ...code, ...cause, stack: error.stack }
}

const COLOURS: Readonly<Record<string, string>> = { error: '31', warn: '33', info: '32', debug: '90' }

/**
 * Makes a JSON log line readable on a terminal: time, level, text, fields, and below them the stack of an error. Nothing in it
 * can move the cursor or begin another line. A line that is not JSON is returned unchanged.
 */
function prettyLine(line: string): string {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line
  }
  const { ts, level, msg, error, ...fields } = record
  const time = String(ts ?? '').slice(11, 23)
  const name = String(level ?? '')
  const tail = Object.entries(fields).map(([key, value]) => `${key}=${asText(value)}`)
  const trouble = error === undefined ? '' : `\n${errorText(error)}`.split('\n').map(visibleText).join('\n  ')
  const told = visibleText([String(msg ?? ''), ...tail].join(' '))
  return `${time} \u001b[${COLOURS[name] ?? '0'}m${name.padEnd(5)}\u001b[0m ${told}${trouble}\n`
}

function asText(value: unknown): string {
  return typeof value === 'string' && !/[\s"]/.test(value) ? value : JSON.stringify(value)
}

function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { stack, name, message, cause } = error as Record<string, unknown>
  const text = typeof stack === 'string' ? stack : `${String(name)}: ${String(message)}`
  return cause === undefined ? text : `${text}\ncaused by ${errorText(cause)}`
}
