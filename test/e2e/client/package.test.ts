import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { build } from 'esbuild'
import { publint } from 'publint'
import { tempFolder } from '../../support/tempFolder.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

function run(command: string, args: readonly string[], cwd: string) {
  return spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
}

function pack(folder: string): string {
  const { status, stdout, stderr } = run(
    process.execPath,
    ['.ci/packTarball.mjs', '--pack-destination', folder],
    root,
  )
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

const folder = tempFolder({ after })
const tarball = pack(folder)
const bytes = readFileSync(tarball)
/** A project that has the package and nothing that the package depends on. */
const consumer = join(folder, 'consumer')
const installed = join(consumer, 'node_modules/bridge-data-service')
mkdirSync(installed, { recursive: true })
run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed], folder)

test('attw finds nothing but that the entry is of modules only', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(bytes))
  assert.ok(analysis.types)
  assert.deepEqual(Object.keys(analysis.entrypoints), ['./client', './package.json'])
  // TypeScript's oldest way to resolve reads no `exports`, and CommonJS has to load a module by `import()`, or by `require` of Node 20.19.
  const found = analysis.problems.map((problem) =>
    'entrypoint' in problem ? [problem.kind, problem.entrypoint, problem.resolutionKind] : [problem.kind],
  )
  assert.deepEqual(
    found.toSorted(),
    [
      ['CJSResolvesToESM', './client', 'node16-cjs'],
      ['NoResolution', './client', 'node10'],
    ].toSorted(),
  )
})

test('publint finds nothing', async () => {
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const { messages } = await publint({ pack: { tarball: copy }, strict: true })
  assert.deepEqual(messages, [])
})

/** What a strict project writes: every line must compile. */
const GOOD = `
import {
  type ApiErrorCode,
  type Bridge,
  BridgeApiError,
  BridgeClientError,
  BridgeNetworkError,
  BridgeResponseError,
  BridgeRestartError,
  type ClaimCall,
  createBridgeClient,
  type FeedEvent,
  NotClaimableError,
} from 'bridge-data-service/client'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function sure<T extends true>(): T | undefined { return undefined }

const client = createBridgeClient({ baseUrl: new URL('https://example.org/path'), fetch, apiKey: 'k', attempts: 2 })
const { getHealth, getClaimProof } = client
const stop = new AbortController()

export async function use(): Promise<void> {
  const health = await getHealth({ signal: stop.signal })
  sure<Same<typeof health.status, 'healthy' | 'syncing' | 'degraded' | 'unhealthy' | 'starting' | 'draining'>>()
  const { bridges, pagination } = await client.getBridges({ networkId: 1, depositCount: [1, 2], order: 'asc' })
  sure<Same<typeof bridges, readonly Bridge[]>>()
  sure<Same<typeof pagination.nextCursor, string | null>>()
  for await (const bridge of client.bridges({ networkId: 0, readyForClaim: true }, { async onRestart({ given }) { given.toFixed() } })) {
    sure<Same<typeof bridge.amount, bigint>>()
    sure<Same<typeof bridge.globalIndex, bigint>>()
    sure<Same<typeof bridge.originAddress, \`0x\${string}\` | null>>()
    sure<Same<typeof bridge.depositCount, number>>()
    const call: ClaimCall = await client.claimTransaction(await client.waitUntilClaimable(bridge, stop))
    // As wallets take it.
    const viem: { to: \`0x\${string}\`; data: \`0x\${string}\`; value: bigint } = call
    const ethers: { to: string; data: string; value: bigint; chainId: number } = call
    console.log(viem, ethers)
  }
  for await (const claim of client.claims({ networkId: 1, globalIndex: 2n ** 64n })) sure<Same<typeof claim.globalIndex, bigint>>()
  for await (const { symbol } of client.tokenMappings()) sure<Same<typeof symbol, string | null>>()
  for await (const event of client.events({ types: ['bridge', 'claimable'], addresses: ['0x'] }, { ...stop, onStart: (position) => console.log(position.length) })) {
    sure<Same<typeof event.position, string>>()
    sure<Same<typeof event.networkId, number>>()
    switch (event.type) {
      case 'bridge':
        sure<Same<typeof event.amount, bigint>>()
        break
      case 'claimable':
        sure<Same<typeof event.depositCount, number>>()
        break
      case 'reorg':
        sure<Same<typeof event.ancestorBlock, number | null>>()
        break
      case 'halted':
        event.reason.toUpperCase()
    }
    const told: FeedEvent = event
    console.log(told)
  }
  const { proof } = await getClaimProof({ networkId: 1, depositCount: 2, leafIndex: 3 })
  sure<Same<typeof proof.smtProofLocalExitRoot, readonly \`0x\${string}\`[]>>()
  sure<Same<typeof proof.l1InfoTreeLeaf.timestamp, number>>()
}

export function name(error: unknown): string {
  if (error instanceof BridgeApiError) {
    sure<Same<typeof error.code, ApiErrorCode>>()
    switch (error.code) {
      case 'BRIDGE_NOT_FOUND':
      case 'PROOF_NOT_AVAILABLE':
        return String(error.retryAfterMs)
      default:
        return error.code
    }
  }
  if (error instanceof BridgeNetworkError) sure<Same<typeof error.code, 'CONNECTION_FAILED' | 'TIMEOUT'>>()
  if (error instanceof BridgeResponseError) return String(error.status)
  if (error instanceof BridgeRestartError) return String(error.given + error.cause.attempts)
  if (error instanceof NotClaimableError) return error.bridge.txHash
  return error instanceof BridgeClientError ? error.code : ''
}
`

const BEGINNING = `
import { BridgeApiError, createBridgeClient } from 'bridge-data-service/client'
const client = createBridgeClient({ baseUrl: 'https://example.org' })
`

/** Lines that must not compile, each with the code of the error. */
const bad: readonly (readonly [line: string, code: string])[] = [
  ['createBridgeClient({})', 'TS2741'],
  ["createBridgeClient({ baseUrl: '', retries: 3 })", 'TS2353'],
  ['await client.getBridges({})', 'TS2741'],
  ['await client.getBridges()', 'TS2554'],
  ["await client.getBridges({ networkId: '1' })", 'TS2322'],
  ['await client.getBridges({ network_id: 1 })', 'TS2561'],
  ['await client.getBridges({ networkId: 1, fromAdress: "0x" })', 'TS2561'],
  ["await client.getBridges({ networkId: 1, order: 'newest' })", 'TS2322'],
  ['await client.getClaims({ networkId: 1, globalIndex: 5 })', 'TS2322'],
  ['await client.getClaims({ networkId: 1, claimed: true })', 'TS2353'],
  ['await client.getClaimProof({ networkId: 1, depositCount: 1 })', 'TS2741'],
  ['client.bridges({ networkId: 1, cursor: "AAAA" })', 'TS2353'],
  ['client.bridges({ networkId: 1, pageNumber: 2 })', 'TS2353'],
  ['for await (const b of client.bridges({ networkId: 1 })) b.amount * 2', 'TS2365'],
  ['for await (const b of client.bridges({ networkId: 1 })) Math.max(b.globalIndex)', 'TS2345'],
  ['for await (const b of client.bridges({ networkId: 1 })) b.originAddress.length', 'TS18047'],
  ['for await (const b of client.bridges({ networkId: 1 })) b.amount = 1n', 'TS2540'],
  ['for await (const b of client.bridges({ networkId: 1 })) b.tx_hash', 'TS2551'],
  ['for await (const b of client.bridges({ networkId: 1 })) b.metadataLength.toFixed()', 'TS18048'],
  ["client.events({ types: ['claimed'] })", 'TS2820'],
  ['client.events({ after: "1.00000000aaaa:1" })', 'TS2353'],
  ["client.events({ destinationNetworks: '1' })", 'TS2322'],
  ['for await (const e of client.events()) e.amount', 'TS2339'],
  ["for await (const e of client.events()) if (e.type === 'claimable') e.amount.toFixed()", 'TS2339'],
  ["for await (const e of client.events()) if (e.type === 'bridges') e", 'TS2367'],
  ["for await (const e of client.events()) e.position = ''", 'TS2540'],
  ['await client.waitUntilClaimable({ depositCount: 1 })', 'TS2741'],
  ['await client.claimTransaction(7)', 'TS2345'],
  ["try {} catch (e) { if (e instanceof BridgeApiError && e.code === 'NOT_A_CODE') {} }", 'TS2367'],
  ["await client.getHealth({ signal: 'stop' })", 'TS2322'],
  ['await client.getFeeds()', 'TS2339'],
]

const NODE_TYPES = ['@types/node', 'undici-types']
for (const name of NODE_TYPES) {
  mkdirSync(join(consumer, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), join(consumer, 'node_modules', name))
}
writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }')
writeFileSync(join(consumer, 'good.ts'), GOOD)
for (const [at, [line]] of bad.entries()) writeFileSync(join(consumer, `bad${at}.ts`), BEGINNING + line)

/** The project's own TypeScript, and the one of two years ago that attw brings along. */
const compilers = {
  'TypeScript 7': createRequire(import.meta.url).resolve('typescript/package.json'),
  'TypeScript 5.6': createRequire(
    createRequire(import.meta.url).resolve('@arethetypeswrong/core/package.json'),
  ).resolve('typescript/package.json'),
}

const STRICT = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  target: 'es2022',
}

/** Where the client is used: what a strict project there sets. */
const places = {
  'a bundler for browsers': {
    ...STRICT,
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom'],
    types: [],
  },
  Node: { ...STRICT, module: 'node16', moduleResolution: 'node16', lib: ['es2022'], types: ['node'] },
}

/** @returns what the compiler says. */
function compile(manifest: string, place: keyof typeof places, files: readonly string[]): string {
  writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions: places[place], files }))
  return run(process.execPath, [join(manifest, '../bin/tsc'), '-p', consumer], consumer).stdout
}

for (const [compiler, manifest] of Object.entries(compilers))
  for (const place of Object.keys(places) as (keyof typeof places)[])
    test(`a strict project for ${place} compiles with ${compiler}, without a dependency of the package`, () => {
      assert.equal(compile(manifest, place, ['good.ts']), '')
    })

test('each line that must not compile does not, for the reason that it should not', () => {
  const files = bad.map((_, at) => `bad${at}.ts`)
  const output = compile(compilers['TypeScript 7'], 'a bundler for browsers', files)
  const told = [...output.matchAll(/^(bad\d+\.ts)\(.*: error (TS\d+)/gm)]
  assert.deepEqual(
    bad.map(([line], at) => [
      line,
      told
        .filter(([, file]) => file === files[at])
        .map(([, , code]) => code)
        .join(),
    ]),
    bad,
  )
})

const LARGEST_BYTES = 8 * 1024

async function bundle(format: 'esm' | 'iife'): Promise<{ text: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(installed, 'dist/src/client/bridgeClient.js')],
    absWorkingDir: installed,
    bundle: true,
    minify: true,
    format,
    globalName: 'client',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
  })
  return { text: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) }
}

test('bundled and minified the client has at most 8 KB in gzip, and nothing but its own files', async () => {
  const { text, inputs } = await bundle('esm')
  const sizeBytes = gzipSync(text, { level: 9 }).length
  console.log(`client: ${text.length} bytes minified, ${sizeBytes} in gzip`)
  assert.ok(sizeBytes <= LARGEST_BYTES, `${sizeBytes} bytes`)
  assert.ok(sizeBytes > 1_000)
  for (const input of inputs) assert.match(input, /^dist\/src\/client\/[^/]+$/)
})

test('the client runs where there is nothing but what browsers, Node, Deno and Bun have in common', async () => {
  const { text } = await bundle('iife')
  const common = { AbortController, Headers, URL, URLSearchParams, clearTimeout, performance, setTimeout }
  const body = { status: 'alive' }
  const context = createContext({
    ...common,
    fetch: async () => new Response(JSON.stringify(body)),
  })
  runInContext(text, context)
  assert.equal(
    await runInContext(
      "client.createBridgeClient({ baseUrl: 'https://example.org' }).getLiveness().then(JSON.stringify)",
      context,
    ),
    JSON.stringify(body),
  )
})

test('Node finds the entry by its name, also from CommonJS, and no other file of the package', () => {
  const ask = (script: string): string => {
    const { stdout, stderr } = run(
      process.execPath,
      ['--no-warnings', '--input-type=module', '-e', script],
      consumer,
    )
    return stdout + (/ERR_\w+/.exec(stderr)?.[0] ?? '')
  }
  assert.equal(
    ask("import('bridge-data-service/client').then((m) => console.log(typeof m.createBridgeClient))"),
    'function\n',
  )
  assert.equal(
    ask("await import('bridge-data-service/dist/src/cli/bds.js')"),
    'ERR_PACKAGE_PATH_NOT_EXPORTED',
  )
  const required = (name: string): string =>
    ask(
      `import { createRequire } from 'node:module'; console.log(Object.keys(createRequire(import.meta.url)('${name}')).length > 3)`,
    )
  assert.equal(required('bridge-data-service/client'), 'true\n')
  assert.equal(required('bridge-data-service/package.json'), 'true\n')
})
