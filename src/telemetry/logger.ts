import { isatty } from 'node:tty'
import { type DestinationStream, pino } from 'pino'
import { jsonWithoutSecrets } from './secrets.js'
import { standardError } from './standardStreams.js'
import { visibleJson, visibleText } from './visibleText.js'

export interface LogConfig {
  readonly level: 'error' | 'warn' | 'info' | 'debug'
  /** `auto`: pretty when standard error is a terminal, else JSON lines. */
  readonly format: 'json' | 'pretty' | 'auto'
  /** Which requests have a line: each, as debug (`auto`) or as info (`all`), or as warn those that failed because of us (`failed`). */
  readonly requests?: 'auto' | 'all' | 'failed' | 'off'
  /** Holds the level and the requests in force in all threads, in place of `level` and `requests`: `createSharedLog`. */
  readonly shared?: SharedArrayBuffer
}

const SEVERITY: { readonly [L in LogConfig['level']]: number } = { error: 50, warn: 40, info: 30, debug: 20 }

type LoggedRequests = Pick<LogConfig, 'level' | 'requests'>

/** The level of the lines about requests; undefined while there are none. */
export type RequestLines = 'debug' | 'info' | 'warn' | undefined

const LINES_OF_REQUESTS = { auto: 'debug', all: 'info', failed: 'warn', off: undefined } as const

/** Cells of the shared memory: the least severity, and that of lines about requests, 0 while there are none. */
const LEVEL = 0
const REQUESTS = 1

/** Settings that all threads obey, and that can change while they run. */
export function createSharedLog(config: LoggedRequests): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  setSharedLog(shared, config)
  return shared
}

export function setSharedLog(shared: SharedArrayBuffer, config: LoggedRequests): void {
  const cells = new Int32Array(shared)
  Atomics.store(cells, LEVEL, SEVERITY[config.level])
  Atomics.store(cells, REQUESTS, severityOfRequests(config))
}

/** 0 where nobody would see them: then no line is made. */
function severityOfRequests({ level, requests = 'auto' }: LoggedRequests): number {
  const lines = LINES_OF_REQUESTS[requests]
  return lines === undefined || SEVERITY[lines] < SEVERITY[level] ? 0 : SEVERITY[lines]
}

/** @returns a function that reads which lines requests have now. It is called for each request. */
export function requestLinesReader(config: LogConfig): () => RequestLines {
  const cells = new Int32Array(config.shared ?? createSharedLog(config))
  const levels = new Map(
    Object.values(LINES_OF_REQUESTS).flatMap((level) =>
      level === undefined ? [] : [[SEVERITY[level], level]],
    ),
  )
  return () => {
    const severity = cells[REQUESTS]!
    return severity === 0 ? undefined : levels.get(severity)
  }
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
        // With shared settings `wrap` decides.
        level: config.shared === undefined ? config.level : 'debug',
        base: told(bindings),
        messageKey: 'msg',
        timestamp: () => `,"ts":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: (error: unknown) => errorFields(error) },
      },
      guarded({ write }, pretty),
    ),
    config.shared === undefined ? undefined : new Int32Array(config.shared),
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

/** Names of fields as lines have them. There are few, since they stand in the code. */
const toldNames = new Map<string, string>()

/** Fields are named in lines as labels are in metrics, in small letters: `networkId` is `network_id`. */
function told(fields: LogFields): Record<string, unknown> {
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) renamed[toldName(name)] = value
  return renamed
}

function toldName(name: string): string {
  let known = toldNames.get(name)
  if (known === undefined) {
    known = name.replace(/(?<=[a-z\d])[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`)
    if (toldNames.size < MOST_NAMES) toldNames.set(name, known)
  }
  return known
}

const MOST_NAMES = 1_000

function wrap(inner: PinoLogger, least: Int32Array | undefined): Logger {
  const write = (level: LogConfig['level'], text: string, fields: LogFields = {}): void => {
    if (least === undefined || SEVERITY[level] >= Atomics.load(least, LEVEL)) inner[level](told(fields), text)
  }
  return {
    error: (text, fields) => write('error', text, fields),
    warn: (text, fields) => write('warn', text, fields),
    info: (text, fields) => write('info', text, fields),
    debug: (text, fields) => write('debug', text, fields),
    child: (bindings) => wrap(inner.child(told(bindings)), least),
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
