import { type ExitCode, exitCodes } from './cli/exitCodes.js'
import type { Config } from './config/config.types.js'
import { FatalError } from './errors/chainErrors.js'
import { OperatorError } from './errors/operatorError.js'
import { startService } from './service.js'
import { createLogger, type Logger } from './telemetry/logger.js'

/** Something that runs until a signal or its own end, and closes in order. */
export interface Job {
  /** Resolves with the fault when the job can't go on; never rejects. */
  readonly failed: Promise<Error>
  stop(drainDelayMs: number): Promise<void>
  /** The room that is closing now. */
  closingRoom(): string | undefined
}

export interface ProcessSettings {
  readonly logger: Logger
  /** Time between the first SIGTERM and the port closing. Ctrl-C does not wait. */
  readonly drainDelayMs: number
  /** Longest time for everything after the drain delay. */
  readonly graceMs: number
}

/** `bds run`: the service as the process's only job. */
export function runService(config: Config): Promise<never> {
  const logger = createLogger(config.log, { component: 'main' })
  return runProcess(() => startService({ config, logger, announce: (line) => console.log(line) }), {
    logger,
    drainDelayMs: config.http.drainDelayMs,
    graceMs: config.shutdownGraceMs,
  })
}

/**
 * Starts a job, waits for a signal or its failure, closes it and leaves. This is the only place that ends the process.
 * A second signal leaves at once; a shutdown that takes longer than `graceMs` leaves with the name of the room that hangs.
 */
export async function runProcess(start: () => Promise<Job>, settings: ProcessSettings): Promise<never> {
  const { logger } = settings
  const signal = firstSignal(logger)
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      logger.error('unexpected failure', { error })
      leave(exitCodes.failure)
    })
  // Whoever read our lines may go away before we do, and a full disk behind them must not end the job either.
  process.stdout.removeAllListeners('error').on('error', () => undefined)

  const job = await start().catch((error: unknown) => leave(tell(error)))
  const end = await Promise.race([signal, job.failed])
  const code = end instanceof Error ? tell(end) : exitCodes.ok
  if (code === exitCodes.ok) logger.info('stopping', { signal: end })
  const isClosed = await closeWithin(job, end === 'SIGTERM' ? settings.drainDelayMs : 0, settings)
  leave(isClosed ? code : exitCodes.failure)
}

/** Under npm one Ctrl-C comes twice: from the terminal, which tells all of its programs, and from npm, which passes it on. */
const SAME_PRESS_MS = 300

function firstSignal(logger: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false
    let sameUntilMs = Number.NEGATIVE_INFINITY
    const onSignal = (name: NodeJS.Signals): void => {
      if (isStopping) {
        if (name === 'SIGINT' && performance.now() < sameUntilMs) return
        logger.warn('second signal: leaving at once', { signal: name })
        leave(exitCodes.failure)
      }
      isStopping = true
      if (name === 'SIGINT') sameUntilMs = performance.now() + SAME_PRESS_MS
      resolve(name)
    }
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, onSignal)
  })
}

/** @returns false when the job did not close in time or failed while closing. */
async function closeWithin(job: Job, drainDelayMs: number, settings: ProcessSettings): Promise<boolean> {
  const { logger, graceMs } = settings
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<'too long'>((resolve) => {
    timer = setTimeout(() => resolve('too long'), drainDelayMs + graceMs)
  })
  try {
    const outcome = await Promise.race([job.stop(drainDelayMs), tooLong])
    if (outcome === 'too long') logger.error('shutdown hangs', { room: job.closingRoom(), graceMs })
    return outcome !== 'too long'
  } catch (error) {
    logger.error('shutdown failed', { error })
    return false
  } finally {
    clearTimeout(timer)
  }
}

/** Expected faults in one line; anything else is our bug and shows its stack. */
function tell(error: unknown): ExitCode {
  if (error instanceof FatalError) {
    console.error(`bds: ${error.message}`)
    return exitCodes.data
  }
  if (error instanceof OperatorError) {
    console.error(`bds: ${error.message}`)
    return exitCodes.failure
  }
  console.error('bds:', error)
  return exitCodes.failure
}

function leave(code: ExitCode): never {
  process.exit(code)
}
