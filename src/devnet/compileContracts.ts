import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import solc from 'solc'
import { contractNames } from './contractNames.js'

/**
 * Build step (`npm run build:contracts`): compiles src/devnet/contracts to dist/contracts/<Name>.json.
 * It is run from the project's folder after `build:ts`. Compiling takes seconds, so it is left out while sources,
 * settings and compiler are those of the files in place.
 */
const sourceFolder = 'src/devnet/contracts'
const outputFolder = 'dist/contracts'

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Record<
    string,
    Record<string, { readonly abi: readonly unknown[]; readonly evm: { bytecode: { object: string } } }>
  >
}

const input = {
  language: 'Solidity',
  sources: readSources(),
  settings: {
    optimizer: { enabled: true, runs: 200 },
    // The claim functions have more arguments than the legacy code generator has stack slots.
    viaIR: true,
    // Older than the newest, so that any node in use runs the code.
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

function compile(): Map<string, string> {
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput
  const complaints = output.errors ?? []
  if (complaints.length > 0) throw new Error(complaints.map((error) => error.formattedMessage).join('\n'))

  const artifacts = new Map<string, string>()
  for (const contracts of Object.values(output.contracts))
    for (const [name, { abi, evm }] of Object.entries(contracts))
      artifacts.set(name, JSON.stringify({ abi, bytecode: `0x${evm.bytecode.object}` }))
  return artifacts
}

const digest = createHash('sha256')
  .update(solc.version())
  .update(JSON.stringify(input))
  .update(contractNames.join())
  .digest('hex')
const digestFile = `${outputFolder}/sources.sha256`

if (!existsSync(digestFile) || readFileSync(digestFile, 'utf8') !== digest) {
  const artifacts = compile()
  mkdirSync(outputFolder, { recursive: true })
  for (const name of contractNames) {
    const artifact = artifacts.get(name)
    if (artifact === undefined) throw new Error(`no contract ${name} in ${sourceFolder}`)
    // Renamed into place: a test that runs beside a build never reads half a file.
    writeFileSync(`${outputFolder}/${name}.json.new`, artifact)
    renameSync(`${outputFolder}/${name}.json.new`, `${outputFolder}/${name}.json`)
  }
  writeFileSync(digestFile, digest)
}
