import { basename, relative } from 'node:path'
import { DevnetError } from '../../devnet/devnetError.js'
import { runStart } from '../../devnet/start.js'
import { OperatorError } from '../../errors/operatorError.js'
import { announce, runProcess } from '../../service/main.js'
import { startService } from '../../service/service.js'
import type { Job } from '../../service/service.types.js'
import { assertLimits } from '../../service/startLimits.js'
import { createLogger } from '../../telemetry/logger.js'
import { readArguments } from '../input/arguments.js'
import { readNumber } from '../input/readNumber.js'
import type { Verb } from '../input/verb.js'

/** An L1 and two L2s, from nothing. */
const DEMAND = { networks: 3, fronts: 1, workers: 1, storeBytes: 0 }

const GRACE_MS = 15_000
const SILENCE_MS = 20_000
const PARENT_LOOK_MS = 500

/** `bds start`: the devnet, its traffic and the service as one job of this process. */
export const start: Verb = {
  help: [
    'Usage: bds start [--port N] [--ops-port N] [--round-ms N] [--cluster] [--end-with-parent]',
    '',
    'Starts an L1 and two L2s with real contracts, indexes and serves them, and prints commands to try.',
    'Everything lives in a temporary folder and ends with Ctrl-C.',
    '',
    '  --port N      port of the API (5577); 0 = any free port',
    '  --ops-port N  port of metrics and probes (9091); 0 = any free port',
    '  --round-ms N  time between two rounds of traffic (4000); 0 = no traffic',
    '  --cluster     three instances that share logs on a NATS server, as in docs/cluster.md; needs nats-server on PATH',
    '  --end-with-parent  stop when the process that started this one is gone (npm start uses it)',
  ].join('\n'),
  async run(args) {
    const text = { type: 'string' } as const
    const { values, switches } = readArguments(args, {
      port: text,
      'ops-port': text,
      'round-ms': text,
      cluster: { type: 'boolean' },
      'end-with-parent': { type: 'boolean' },
    })
    const options = {
      httpPort: readNumber(values, 'port', 5577, 65_535),
      opsPort: readNumber(values, 'ops-port', 9091, 65_535),
      roundMs: readNumber(values, 'round-ms', 4_000, 3_600_000),
      command: commandName(process.argv[1] ?? 'bds'),
      ...(switches.has('cluster')
        ? { cluster: { program: [process.execPath, process.argv[1]!] as const } }
        : {}),
    }
    const logger = createLogger({ level: 'warn', format: 'auto' }, { component: 'main' })
    assertLimits(DEMAND, logger)
    return runProcess(async () => devnetJob(options, switches.has('end-with-parent')), {
      logger,
      drainDelayMs: 0,
      graceMs: GRACE_MS,
      silenceMs: SILENCE_MS,
    })
  },
}

/** The start of the devnet is part of the job, so that a signal ends it, too. */
function devnetJob(options: Parameters<typeof runStart>[0], endsWithParent: boolean): Job {
  const controller = new AbortController()
  const ended = runStart(options, { startService, print: announce, signal: controller.signal })
  const failed = new Promise<Error>((resolve) => {
    ended.then(
      (reason) => resolve(new OperatorError(reason ?? 'the devnet ended')),
      (error: unknown) =>
        resolve(error instanceof DevnetError ? new OperatorError(error.message) : (error as Error)),
    )
    if (endsWithParent)
      whenParentEnds(() => resolve(new OperatorError('stopped: the process that started this one is gone')))
  })
  return {
    failed,
    stop: async () => {
      controller.abort()
      // A fault has been reported through `failed` already.
      await ended.catch(() => undefined)
    },
    closingRoom: () => 'devnet',
  }
}

/**
 * Calls `body` when the parent has ended. A killed parent sends no signal, but its children get another parent. The timer does not
 * keep the process alive.
 */
function whenParentEnds(body: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    body()
  }, PARENT_LOOK_MS).unref()
}

/** How this program was called, for commands to copy. */
function commandName(script: string): string {
  if (script.includes('node_modules/.bin/')) return 'npx bds'
  return basename(script) === 'bds' ? 'bds' : `node ${relative(process.cwd(), script)}`
}
