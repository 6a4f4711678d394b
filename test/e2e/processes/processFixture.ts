import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { FatalError } from '../../../src/errors/chainErrors.js'
import { OperatorError } from '../../../src/errors/operatorError.js'
import { runProcess } from '../../../src/service/main.js'
import type { Job } from '../../../src/service/service.types.js'
import { createLogger } from '../../../src/telemetry/logger.js'

/** A process whose job does one thing wrong; started by `test/e2e/service/main.test.ts`. */
const mode = process.argv[2]

// A thread that hangs in a system call: Node cannot end it.
if (!isMainThread) {
  parentPort?.postMessage('stuck')
  execFileSync('sleep', ['10'])
}

const never = new Promise<never>(() => undefined)

const fault = mode?.endsWith('for good')
  ? new FatalError('the store is damaged')
  : new OperatorError('the indexer is gone')

const job: Job = {
  failed: mode?.startsWith('fails') ? Promise.resolve(fault) : never,
  stop: () => {
    if (mode === 'hangs' || mode?.startsWith('stuck thread')) return never
    if (mode === 'busy') for (;;);
    if (mode === 'fails twice, for good') return Promise.reject(new Error('a front thread has gone'))
    // One press of Ctrl-C under npm: the same signal twice at once.
    if (mode === 'told twice') process.kill(process.pid, 'SIGINT')
    // systemd with SendSIGHUP.
    if (mode === 'hung up too') process.kill(process.pid, 'SIGHUP')
    return delay(mode === 'well' ? 0 : 20).then(() => console.log('closed'))
  },
  closingRoom: () => 'query pool',
}

async function start(): Promise<Job> {
  if (mode === 'refuses') throw new OperatorError('the port is taken')
  if (mode === 'throws') setImmediate(() => Promise.reject(new Error('a bug')))
  // Like opening a file of a volume that is gone, or resolving a name that no server answers: a libuv thread
  // waits for it.
  if (mode === 'stuck look') open(process.argv[3]!, () => undefined)
  if (mode === 'busy exit')
    process.on('exit', () => {
      for (;;);
    })
  if (mode?.startsWith('stuck thread')) await once(new Worker(new URL(import.meta.url)), 'message')
  // Signals itself, because its parent sees another process id when it starts it in a pid namespace.
  if (mode === 'stuck thread, told so') setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50)
  console.log('started')
  if (mode === 'never starts') return never
  if (mode === 'silent')
    setImmediate(() => {
      for (;;);
    })
  return job
}

// Keeps the process alive as the rooms of a service do.
setInterval(() => undefined, 1000)
if (isMainThread) {
  const logger = createLogger({ level: 'info', format: 'json' })
  await runProcess(start, { logger, drainDelayMs: 0, graceMs: 100, silenceMs: 1_000 })
}
