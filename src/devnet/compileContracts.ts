import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { contractNames } from './contractNames.js'

/*
 * Build step (`npm run build`): compiles src/devnet/contracts to dist/contracts/<Name>.json. It runs in the project's folder
 * after `tsc`. Compiling takes five seconds, so the result is cached by the hash of sources, settings and compiler, in a folder
 * that a clean build does not remove.
 */

const sourceFolder = 'src/devnet/contracts'
const outputFolder = 'dist/contracts'
const cacheFolder = 'node_modules/.cache/bridge-data-service-contracts'

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Record<
    string,
    Record<string, { readonly abi: readonly unknown[]; readonly evm: { bytecode: { object: string } } }>
  >
}

// The compiler itself is loaded only where something has changed: that alone takes half a second.
const compiler = createRequire(import.meta.url)('solc/package.json') as { readonly version: string }

const input = {
  language: 'Solidity',
  sources: readSources(),
  settings: {
    optimizer: { enabled: true, runs: 200 },
    // The claim functions have more arguments than the legacy code generator has stack slots.
    viaIR: true,
    // Not the newest, so that every node in use runs the code.
    evmVersion: 'cancun',
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  },
}

function readSources(): Record<string, { content: string }> {
  const names = readdirSync(sourceFolder).filter((name) => name.endsWith('.sol'))
  return Object.fromEntries(
    names.sort().map((name) => [name, { content: readFileSync(`${sourceFolder}/${name}`, 'utf8') }]),
  )
}

async function compile(): Promise<Record<string, string>> {
  const { default: solc } = await import('solc')
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput
  const complaints = output.errors ?? []
  if (complaints.length > 0) throw new Error(complaints.map((error) => error.formattedMessage).join('\n'))

  const artifacts: Record<string, string> = {}
  for (const contracts of Object.values(output.contracts))
    for (const [name, { abi, evm }] of Object.entries(contracts))
      artifacts[name] = JSON.stringify({ abi, bytecode: `0x${evm.bytecode.object}` })
  return artifacts
}

const digest = createHash('sha256').update(compiler.version).update(JSON.stringify(input)).digest('hex')
const cacheFile = `${cacheFolder}/${digest}.json`

async function compileOnce(): Promise<Record<string, string>> {
  if (existsSync(cacheFile)) return JSON.parse(readFileSync(cacheFile, 'utf8')) as Record<string, string>
  const artifacts = await compile()
  write(cacheFolder, `${digest}.json`, JSON.stringify(artifacts))
  return artifacts
}

/** Writes a file and renames it into place, so that nobody reads a half-written one. */
function write(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  const unfinished = `${folder}/${name}.${process.pid}`
  writeFileSync(unfinished, text)
  renameSync(unfinished, `${folder}/${name}`)
}

const artifacts = await compileOnce()
for (const name of contractNames) {
  const artifact = artifacts[name]
  if (artifact === undefined) throw new Error(`no contract ${name} in ${sourceFolder}`)
  write(outputFolder, `${name}.json`, artifact)
}
