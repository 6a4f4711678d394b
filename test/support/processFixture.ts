import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '../../src/errors/operatorError.js'
import { type Job, runProcess } from '../../src/main.js'
import { createLogger } from '../../src/telemetry/logger.js'

/** A process whose job does one thing wrong; started by `test/unit/main.test.ts`. */
const mode = process.argv[2]
const never = new Promise<never>(() => undefined)

const job: Job = {
  failed: mode === 'fails' ? Promise.resolve(new OperatorError('the indexer is gone')) : never,
  stop: () => {
    if (mode === 'hangs') return never
    // One press of Ctrl-C under npm: the same signal again, at once.
    if (mode === 'told twice') process.kill(process.pid, 'SIGINT')
    return delay(mode === 'told twice' ? 20 : 0).then(() => console.log('closed'))
  },
  closingRoom: () => 'query pool',
}

async function start(): Promise<Job> {
  if (mode === 'refuses') throw new OperatorError('the port is taken')
  if (mode === 'throws') setImmediate(() => Promise.reject(new Error('a bug')))
  console.log('started')
  return job
}

// Keeps the process alive as the rooms of a service do.
setInterval(() => undefined, 1000)
const logger = createLogger({ level: 'info', format: 'json' })
await runProcess(start, { logger, drainDelayMs: 0, graceMs: 100 })
