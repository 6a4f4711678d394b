import { isatty } from 'node:tty'
import { inspect } from 'node:util'
import { ConfigError } from '../config/configError.js'
import type { LoadedConfig } from '../config/load.js'
import { FatalError } from '../errors/chainErrors.js'
import { OperatorError } from '../errors/operatorError.js'
import { createLogger, createSharedLog, type Logger, setSharedLog } from '../telemetry/logger.js'
import { standardError, standardOutput, takeStandardStreams } from '../telemetry/standardStreams.js'
import { publicLines, visibleLines } from '../telemetry/visibleText.js'
import { awake, Exit } from './exit.js'
import { type ExitCode, exitCodes } from './exitCodes.js'
import { Reloader } from './reload.js'
import { startService } from './service.js'
import type { Job, RunningService } from './service.types.js'
import { assertLimits, demandOf } from './startLimits.js'
import { actOnStopSignals } from './stopSignals.js'

export interface ProcessSettings {
  readonly logger: Logger
  /** Time between the first SIGTERM or SIGHUP and the port closing. Ctrl-C does not wait. */
  readonly drainDelayMs: number
  /** Longest time for everything after the drain delay. */
  readonly graceMs: number
  /** Longest silence of the main thread. */
  readonly silenceMs: number
  /** Called for each SIGHUP before another signal. Absent: a SIGHUP ends the process as SIGTERM does. */
  readonly onHangup?: () => void
}

/** The watchdog never kills a process whose main thread was silent for less than this. */
const SHORTEST_SILENCE_MS = 10_000

/**
 * `bds run`: runs the service as the only job of the process. SIGHUP reloads the configuration, but ends a service that was started
 * from a terminal: there it means that the terminal has been closed.
 * @param reread reads the configuration again. @throws FatalError if a limit of the process is too low.
 */
export function runService(loaded: LoadedConfig, reread: () => LoadedConfig): Promise<never> {
  const shared = createSharedLog(loaded.config.log)
  const config = { ...loaded.config, log: { ...loaded.config.log, shared } }
  const logger = createLogger(config.log, { component: 'main' })
  // Before the first thread starts: under some limits that would end the process.
  assertLimits(demandOf(config), logger)
  const reloader = new Reloader({
    loaded: { ...loaded, config },
    reread,
    setLog: (log) => setSharedLog(shared, log),
    logger,
  })
  const start = async (): Promise<Job> => {
    const options = { config, logger, announce }
    const attach = (service: RunningService): void => reloader.attach(service)
    if (config.cluster !== undefined) {
      // A service that is alone does not load it.
      const { RenewableService } = await import('./renewableService.js')
      return RenewableService.start({ ...options, startService, attach, inForce: () => reloader.config })
    }
    const service = await startService(options)
    attach(service)
    return service
  }
  return runProcess(start, {
    ...(isatty(0) ? {} : { onHangup: () => reloader.ask() }),
    logger,
    drainDelayMs: config.http.drainDelayMs,
    graceMs: config.shutdownGraceMs,
    silenceMs: Math.max(config.shutdownGraceMs, SHORTEST_SILENCE_MS),
  })
}

/** Writes a line for people to standard output, without waiting for its reader. */
export function announce(line: string): void {
  standardOutput().write(`${visibleLines(line)}\n`)
}

/**
 * Starts a job, waits for a signal or a fault, closes the job and ends the process. A second signal ends the process at once. A
 * shutdown that takes longer than `graceMs` logs the room that hangs and ends the process. If that hangs too, the watchdog kills.
 */
export async function runProcess(start: () => Promise<Job>, settings: ProcessSettings): Promise<never> {
  const { logger, drainDelayMs, graceMs } = settings
  takeStandardStreams()
  const exit = new Exit(settings.silenceMs, logger)
  const signal = firstSignal(settings, exit)
  // With a listener, a write beyond the limit of file size fails as on a full disk. Without, the signal ends the process.
  process.on('SIGXFSZ', () => undefined)
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      logger.error('unexpected failure', { error })
      void exit.leave(exitCodes.failure)
    })
  // Node's own listener writes warnings to standard error and waits for it.
  process.removeAllListeners('warning').on('warning', (error) => logger.warn('warning from Node', { error }))

  const starting = start()
  // A signal during the start counts, too.
  const tooLate = signal.then((name) => awake(delayAfter(name, drainDelayMs) + closingMsOf(graceMs)))
  const early = await Promise.race([
    starting.then((job) => ({ job })),
    tooLate.then(() => ({ job: undefined })),
  ]).catch((error: unknown) => exit.leave(reportFault(error)))
  if (early.job === undefined) {
    logger.error('shutdown hangs', { room: 'start', graceMs })
    return exit.leave(exitCodes.failure)
  }
  const { job } = early
  exit.started()
  const end = await Promise.race([signal, job.failed])
  const code = end instanceof Error ? reportFault(end) : exitCodes.ok
  if (code === exitCodes.ok) logger.info('stopping', { signal: end })
  const delayMs = end instanceof Error ? 0 : delayAfter(end, drainDelayMs)
  const stoppingAtMs = performance.now()
  const last = await closeWithin(job, delayMs, settings, code)
  if (last === exitCodes.ok)
    logger.info('stopped', { durationMs: Math.round(performance.now() - stoppingAtMs) })
  return exit.leave(last)
}

function delayAfter(signal: NodeJS.Signals, drainDelayMs: number): number {
  return signal === 'SIGINT' ? 0 : drainDelayMs
}

/** Time for closing the job. The rest of the grace time is for ending the threads and the process. */
function closingMsOf(graceMs: number): number {
  return graceMs - Math.min(1_000, graceMs / 4)
}

/**
 * Signals within this time may be the same stop. A terminal that closes sends SIGHUP to its shell, which sends it again; npm
 * repeats a Ctrl-C that the terminal has sent to all; and systemd can be asked to send SIGHUP right after SIGTERM.
 */
const SAME_STOP_MS = 300

function firstSignal(settings: ProcessSettings, exit: Exit): Promise<NodeJS.Signals> {
  const { logger, drainDelayMs, graceMs, onHangup } = settings
  return new Promise((resolve) => {
    let first: NodeJS.Signals | undefined
    let sameUntilMs = Number.NEGATIVE_INFINITY
    const onSignal = (name: NodeJS.Signals): void => {
      if (first === undefined && name === 'SIGHUP' && onHangup !== undefined) {
        onHangup()
        return
      }
      if (first === undefined) {
        first = name
        sameUntilMs = performance.now() + SAME_STOP_MS
        exit.mustEndWithin(delayAfter(name, drainDelayMs) + graceMs)
        resolve(name)
        return
      }
      const isSame = name === 'SIGHUP' || first === 'SIGHUP' || (name === 'SIGINT' && first === 'SIGINT')
      if (isSame && performance.now() < sameUntilMs) return
      logger.warn('second signal: leaving at once', { signal: name })
      void exit.leave(exitCodes.failure)
    }
    actOnStopSignals(onSignal)
  })
}

/**
 * @param code the exit code of a job that closes well. A fault before keeps its code where another one follows: it is what to look for.
 * @returns the exit code.
 */
async function closeWithin(
  job: Job,
  drainDelayMs: number,
  settings: ProcessSettings,
  code: ExitCode,
): Promise<ExitCode> {
  const { logger, graceMs } = settings
  const tooLong = awake(drainDelayMs + closingMsOf(graceMs)).then(() => 'too long' as const)
  try {
    const outcome = await Promise.race([job.stop(drainDelayMs), tooLong])
    if (outcome === 'too long') logger.error('shutdown hangs', { room: job.closingRoom(), graceMs })
    return outcome === 'too long' ? exitCodes.failure : code
  } catch (error) {
    logger.error('shutdown failed', { error })
    return code === exitCodes.ok ? exitCodes.failure : code
  }
}

/** Writes an expected fault as one line, mistakes in the configuration with a line each. Anything else is a bug and is written with its stack. */
function reportFault(error: unknown): ExitCode {
  if (error instanceof ConfigError) {
    standardError().write(`bds: ${publicLines([error.message, ...error.mistakes].join('\n  - '))}\n`)
    return exitCodes.config
  }
  const isExpected = error instanceof FatalError || error instanceof OperatorError
  standardError().write(`bds: ${publicLines(isExpected ? error.message : inspect(error))}\n`)
  return error instanceof FatalError ? exitCodes.data : exitCodes.failure
}
