import { inspect } from 'node:util'
import { ConfigError } from '../config/configError.js'
import { FatalError } from '../errors/chainErrors.js'
import { nearestName } from '../errors/nearestName.js'
import { OperatorError } from '../errors/operatorError.js'
import { type ExitCode, exitCodeMeanings, exitCodes } from '../service/exitCodes.js'
import { catchStopSignalsEarly } from '../service/stopSignals.js'
import { buildInfo } from '../telemetry/buildInfo.js'
import { deadlyLimits, readLimits, tooLow } from '../telemetry/processLimits.js'
import { publicLines } from '../telemetry/visibleText.js'
import { UsageError, type Verb } from './input/verb.js'

interface VerbEntry {
  readonly summary: string
  /** Runs until a signal ends it, and must not wait for the reader of its output. */
  readonly isService?: true
  /** Opens stores, which some limits of the process make deadly. */
  readonly opensStores?: true
  /** Loads the verb's code only when it is used: `bds --help` needs no native addon. */
  load(): Promise<Verb>
}

const verbs: Readonly<Record<string, VerbEntry>> = {
  run: {
    summary: 'index the configured networks and serve the API',
    isService: true,
    opensStores: true,
    load: async () => (await import('./verbs/runVerb.js')).run,
  },
  start: {
    summary: 'try it: a local devnet with real contracts, indexed and served',
    isService: true,
    opensStores: true,
    load: async () => (await import('./verbs/startVerb.js')).start,
  },
  devnet: {
    summary: 'work with the devnet of `bds start`: claim a deposit',
    load: async () => (await import('./verbs/devnetVerb.js')).devnet,
  },
  config: {
    summary: 'check, print, write out or import a configuration',
    load: async () => (await import('./verbs/configVerb.js')).config,
  },
  health: {
    summary: 'ask a running service for its health',
    load: async () => (await import('./verbs/healthVerb.js')).health,
  },
  status: {
    summary: 'show how far each network of a running service has synced',
    load: async () => (await import('./verbs/statusVerb.js')).status,
  },
  compare: {
    summary: 'compare this service with one that speaks the same API',
    load: async () => (await import('./compare/compareVerb.js')).compare,
  },
  cluster: {
    summary: 'show who leads the networks of a cluster, or have another instance lead',
    load: async () => (await import('./verbs/clusterVerb.js')).cluster,
  },
  verify: {
    summary: 'check the stores against themselves and the contracts',
    opensStores: true,
    load: async () => (await import('./stores/verifyVerb.js')).verify,
  },
  backup: {
    summary: 'copy the stores, also of a running service',
    opensStores: true,
    load: async () => (await import('./stores/backupVerb.js')).backup,
  },
  restore: {
    summary: 'make stores of a backup again',
    opensStores: true,
    load: async () => (await import('./stores/restoreVerb.js')).restore,
  },
  upgrade: {
    summary: 'bring the stores of an older build up to date',
    opensStores: true,
    load: async () => (await import('./stores/upgradeVerb.js')).upgrade,
  },
  export: {
    summary: 'write bridges, claims or token mappings as NDJSON or CSV',
    opensStores: true,
    load: async () => (await import('./stores/exportVerb.js')).exportVerb,
  },
  rewind: {
    summary: 'take the newest blocks of a network back',
    opensStores: true,
    load: async () => (await import('./stores/rewindVerb.js')).rewind,
  },
  reindex: {
    summary: 'remove what is stored of a network, to read it again',
    load: async () => (await import('./stores/reindexVerb.js')).reindex,
  },
  doctor: {
    summary: 'check Node, the native addons, the data folder and the configuration',
    load: async () => (await import('./verbs/doctorVerb.js')).doctor,
  },
  completion: {
    summary: 'print a script for the completion of your shell',
    load: async () => (await import('./verbs/completionVerb.js')).completionVerb(completions),
  },
  version: {
    summary: 'print versions',
    load: async () => (await import('./verbs/versionVerb.js')).version,
  },
}

/** Words of every verb's help. The completion itself has no more than its shells. */
async function completions(): Promise<Readonly<Record<string, readonly string[]>>> {
  const { wordsOfHelp } = await import('./verbs/completionVerb.js')
  const loaded = await Promise.all(
    Object.entries(verbs).map(
      async ([name, { load }]) => [name, wordsOfHelp(name, (await load()).help)] as const,
    ),
  )
  return Object.fromEntries(loaded)
}

process.exitCode = await main(process.argv.slice(2))

/**
 * For verbs that end by themselves. When the reader closes the pipe early (`bds doctor | head -3`), the verb still runs to its end
 * and its exit code. Any other failure to write is a failure of the verb.
 */
function ignoreClosedPipes(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return
    process.exitCode = exitCodes.failure
    process.once('exit', () => console.error(`bds: can't write to standard output: ${message}`))
  })
  process.stderr.on('error', () => undefined)
}

async function main([word, ...args]: readonly string[]): Promise<ExitCode> {
  const entry = verbs[word === '--version' || word === '-v' ? 'version' : (word ?? '')]
  const asksForHelp = args.includes('--help') || args.includes('-h')
  if (entry?.isService !== true || asksForHelp) ignoreClosedPipes()
  else catchStopSignalsEarly()
  try {
    if (word === undefined) {
      console.error(help())
      return exitCodes.usage
    }
    if (word === '--help' || word === '-h' || word === 'help') {
      console.log(help())
      return exitCodes.ok
    }
    if (entry === undefined) throw new UsageError(unknownVerb(word))
    const limits = readLimits()
    if (limits !== undefined && entry.opensStores === true && !asksForHelp) {
      const deadly = deadlyLimits(limits)
      // Loading the store's code may already end the process.
      if (deadly.length > 0) throw new FatalError(tooLow(deadly))
    }
    const verb = await entry.load()
    if (asksForHelp) {
      console.log(verb.help)
      return exitCodes.ok
    }
    return await verb.run(args)
  } catch (error) {
    // `bds.ts` has one line for it, also where not even this file could be loaded.
    if ((error as NodeJS.ErrnoException).code === 'EMFILE') throw error
    // A service whose start was refused must not wait for the reader of its message either.
    if (entry?.isService === true) (await import('../telemetry/standardStreams.js')).takeStandardStreams()
    return reportFault(error)
  }
}

function unknownVerb(word: string): string {
  const nearest = nearestName(word, Object.keys(verbs))
  return `unknown command ${word}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`
}

/** Writes an expected fault as one line, with its mistakes. Anything else is a bug and is written with its stack. */
function reportFault(error: unknown): ExitCode {
  if (error instanceof UsageError) {
    console.error(publicLines(`bds: ${error.message}\nTry: bds --help`))
    return exitCodes.usage
  }
  if (error instanceof ConfigError) {
    console.error(publicLines([`bds: ${error.message}`, ...error.mistakes].join('\n  - ')))
    return exitCodes.config
  }
  if (error instanceof FatalError || error instanceof OperatorError) {
    console.error(publicLines(`bds: ${error.message}`))
    return error instanceof FatalError ? exitCodes.data : exitCodes.failure
  }
  console.error(publicLines(`bds: ${inspect(error)}`))
  return exitCodes.failure
}

function help(): string {
  const lines = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  const codes = Object.entries(exitCodes).map(
    ([name, code]) => `  ${code}  ${exitCodeMeanings[name as keyof typeof exitCodes]}`,
  )
  return [
    `bds ${buildInfo.version}: bridge data service`,
    '',
    'Usage: bds <command> [options]',
    '',
    ...lines,
    '',
    'bds <command> --help says more. Exit codes:',
    ...codes,
  ].join('\n')
}
