import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '../config/configError.js'
import { loadConfig } from '../config/load.js'
import { configOptions, readArguments } from './arguments.js'
import { configFlagsHelp } from './config.js'
import { exitCodes } from './exitCodes.js'
import type { Verb } from './verb.js'

interface Check {
  readonly what: string
  /** @returns what was found. @throws when it is not good enough; the message says why. */
  run(): Promise<string> | string
}

/** `bds doctor`: whether this machine can run the service, told part by part. */
export const doctor: Verb = {
  help: [
    'Usage: bds doctor [--config FILE] [flags]',
    '',
    'Checks Node, the native addons, the wasm module, the configuration and the data folder. Ends with 1 when a part fails.',
    '',
    ...configFlagsHelp(),
  ].join('\n'),
  async run(args) {
    const { values } = readArguments(args, configOptions)
    const checks = [...machineChecks, ...(values.config === undefined ? [] : configChecks(values))]
    let failures = 0
    for (const { what, run } of checks) {
      try {
        console.log(`ok    ${what}: ${await run()}`)
      } catch (error) {
        failures += 1
        console.log(`FAIL  ${what}: ${faultText(error)}`)
      }
    }
    return failures === 0 ? exitCodes.ok : exitCodes.failure
  },
}

const machineChecks: readonly Check[] = [
  { what: 'Node', run: nodeVersion },
  { what: 'C library', run: () => glibcVersion() ?? 'not glibc: the native addons may not load' },
  {
    what: 'HTTP server',
    run: async () => {
      const { loadUws } = await import('../http/uws.js')
      const { name, version } = loadUws()
      return `${name} ${version}, native`
    },
  },
  { what: 'LMDB', run: storeOpens },
  {
    what: 'hashing',
    run: async () => (await import('../merkle/wasm.js')).compileMerkleModule().name,
  },
]

function configChecks(values: Readonly<Record<string, string | undefined>>): Check[] {
  return [
    {
      what: 'configuration',
      run: () => {
        const { config } = loadConfig({ file: values.config, flags: values })
        return `networks ${config.networks.map(({ networkId }) => networkId).join(', ')}`
      },
    },
    {
      what: 'data folder',
      run: () => {
        const { dataDir } = loadConfig({ file: values.config, flags: values }).config
        mkdirSync(dataDir, { recursive: true })
        accessSync(dataDir, constants.R_OK | constants.W_OK)
        const { bavail, bsize } = statfsSync(dataDir)
        return `${dataDir}, ${Math.floor((bavail * bsize) / 2 ** 30)} GiB free`
      },
    },
  ]
}

function nodeVersion(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`${process.versions.node} is older than 20.19`)
  return `${process.versions.node}, ABI ${process.versions.modules}, ${process.platform} ${process.arch}`
}

function glibcVersion(): string | undefined {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } }
  const version = report.header?.glibcVersionRuntime
  return version === undefined ? undefined : `glibc ${version}`
}

/** Opens a store of its own and closes it: the addon loads, and the disk takes memory-mapped files. */
async function storeOpens(): Promise<string> {
  const { openShardStoreWriter } = await import('../store/shardStore.js')
  const folder = mkdtempSync(join(tmpdir(), 'bds-doctor-'))
  try {
    await openShardStoreWriter(join(folder, 'store')).close()
    return 'opens and closes a store'
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function faultText(error: unknown): string {
  if (error instanceof ConfigError) return error.mistakes.join('; ')
  return error instanceof Error ? error.message : String(error)
}
