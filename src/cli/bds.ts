#!/usr/bin/env node
import { createRequire } from 'node:module'
import { ConfigError } from '../config/configError.js'
import { FatalError } from '../errors/chainErrors.js'
import { nearestName } from '../errors/nearestName.js'
import { OperatorError } from '../errors/operatorError.js'
import { type ExitCode, exitCodeMeanings, exitCodes } from '../service/exitCodes.js'
import { catchStopSignalsEarly } from '../service/stopSignals.js'
import { buildInfo } from '../telemetry/buildInfo.js'
import { deadlyLimits, readLimits, tooLow } from '../telemetry/processLimits.js'
import { UsageError, type Verb } from './input/verb.js'

interface VerbEntry {
  readonly summary: string
  /** Runs until it is told to end, and must not wait for the reader of its output. */
  readonly isService?: true
  /** Opens stores. */
  readonly isOfStores?: true
  /** Loaded when it is asked for: `bds --help` needs no native addon. */
  load(): Promise<Verb>
}

const verbs: Readonly<Record<string, VerbEntry>> = {
  run: {
    summary: 'index the configured networks and serve the API',
    isService: true,
    isOfStores: true,
    load: async () => (await import('./verbs/runVerb.js')).run,
  },
  start: {
    summary: 'try it: a local devnet with real contracts, indexed and served',
    isService: true,
    isOfStores: true,
    load: async () => (await import('./verbs/startVerb.js')).start,
  },
  devnet: {
    summary: 'work with the devnet of `bds start`: claim a deposit',
    load: async () => (await import('./verbs/devnetVerb.js')).devnet,
  },
  config: {
    summary: 'check, print or write out a configuration',
    load: async () => (await import('./verbs/configVerb.js')).config,
  },
  health: {
    summary: 'ask a running service for its health',
    load: async () => (await import('./verbs/healthVerb.js')).health,
  },
  status: {
    summary: 'show how far each network of a running service is',
    load: async () => (await import('./verbs/statusVerb.js')).status,
  },
  verify: {
    summary: 'check the stores against themselves and the contracts',
    isOfStores: true,
    load: async () => (await import('./verbs/verifyVerb.js')).verify,
  },
  rewind: {
    summary: 'take the newest blocks of a network back',
    isOfStores: true,
    load: async () => (await import('./verbs/rewindVerb.js')).rewind,
  },
  reindex: {
    summary: 'remove what is stored of a network, to read it again',
    load: async () => (await import('./verbs/reindexVerb.js')).reindex,
  },
  doctor: {
    summary: 'check Node, the native addons, the data folder and the configuration',
    load: async () => (await import('./verbs/doctorVerb.js')).doctor,
  },
  version: {
    summary: 'print versions',
    load: async () => (await import('./verbs/versionVerb.js')).version,
  },
}

/** Node opens the files of a program side by side: some hundred for ours. */
const FILES_TO_IMPORT = 1024

process.exitCode = await main(process.argv.slice(2))

/**
 * For a program that ends by itself. Whoever reads its lines may have seen enough (`bds doctor | head -3`): the work goes on to its
 * end and its exit code. An answer that can't be written is no answer.
 */
function outliveReaders(): void {
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
  if (entry?.isService !== true || asksForHelp) outliveReaders()
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
    if (limits !== undefined && entry.isOfStores === true && !asksForHelp) {
      const deadly = deadlyLimits(limits)
      // Loading the store's code may already end the process.
      if (deadly.length > 0) throw new FatalError(tooLow(deadly))
    }
    if (limits !== undefined && limits.openFiles.soft < FILES_TO_IMPORT) loadOneByOne(word)
    const verb = await entry.load()
    if (asksForHelp) {
      console.log(verb.help)
      return exitCodes.ok
    }
    return await verb.run(args)
  } catch (error) {
    // A refused start must not wait for the reader of its message either.
    if (entry?.isService === true) (await import('../telemetry/standardStreams.js')).takeStandardStreams()
    return tell(error)
  }
}

/** Loads a verb's files one by one, so that a limit on open files can be reported. Files loaded already are imported without opening. */
function loadOneByOne(word: string): void {
  createRequire(import.meta.url)(`./verbs/${word.replace(/^(--version|-v)$/, 'version')}Verb.js`)
}

function unknownVerb(word: string): string {
  const nearest = nearestName(word, Object.keys(verbs))
  return `unknown command ${word}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`
}

/** Expected faults in one line each; anything else is our bug and shows its stack. */
function tell(error: unknown): ExitCode {
  if (error instanceof UsageError) {
    console.error(`bds: ${error.message}\nTry: bds --help`)
    return exitCodes.usage
  }
  if (error instanceof ConfigError) {
    console.error(`bds: ${error.message}`)
    for (const mistake of error.mistakes) console.error(`  - ${mistake}`)
    return exitCodes.config
  }
  if (error instanceof FatalError || error instanceof OperatorError) {
    console.error(`bds: ${error.message}`)
    return error instanceof FatalError ? exitCodes.data : exitCodes.failure
  }
  console.error('bds:', error)
  return exitCodes.failure
}

function help(): string {
  const lines = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(9)}${summary}`)
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
    'bds <command> --help tells more. Exit codes:',
    ...codes,
  ].join('\n')
}
