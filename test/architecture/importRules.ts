import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { init, parse } from 'es-module-lexer'

/** One emitted file: where it lies below `src`, what it imports at run time, and its text without comments. */
export interface SourceFile {
  /** `pool/queryPool.js`. */
  readonly path: string
  /** As written: `../errors/answers.js`, `lmdb`, `node:fs`. */
  readonly imports: readonly string[]
  readonly code: string
}

/** Rooms that everybody may use. */
const COMMON = ['errors', 'protocol', 'telemetry']

/**
 * Who may import whom at run time. Types are erased from the emitted files, so "types of config" need no rule. Files that
 * lie in no folder (`main.js`, `service.js`) are the room `main`.
 */
const ALLOWED: Readonly<Record<string, readonly string[] | 'all'>> = {
  errors: [],
  protocol: [],
  telemetry: [],
  config: [],
  merkle: [],
  store: [],
  chain: [],
  api: [],
  ops: [],
  shard: ['merkle', 'store'],
  indexer: ['shard', 'chain', 'merkle'],
  pool: ['shard', 'api', 'merkle'],
  http: ['api', 'pool'],
  devnet: ['chain'],
  main: 'all',
  cli: 'all',
}

/** Things that one file, or one room, keeps to itself. */
interface Keeper {
  readonly what: string
  readonly pattern: RegExp
  readonly room: string
  readonly files: 'one' | 'any'
  /** The entry of a process of its own, which has its own ends. */
  readonly besides?: string
}

const KEEPERS: readonly Keeper[] = [
  { what: 'uWebSockets.js', pattern: /['"]uWebSockets\.js(?:-modern)?['"]/, room: 'http', files: 'one' },
  { what: 'lmdb', pattern: /from ['"]lmdb['"]/, room: 'store', files: 'one' },
  { what: 'ws', pattern: /from ['"]ws['"]/, room: 'chain', files: 'one' },
  { what: 'WebAssembly', pattern: /\bWebAssembly\./, room: 'merkle', files: 'one' },
  { what: 'process.env', pattern: /\bprocess\.env\b/, room: 'config', files: 'one' },
  { what: 'Date.now', pattern: /\bDate\.now\b/, room: 'telemetry', files: 'one' },
  { what: 'piscina', pattern: /from ['"]piscina['"]/, room: 'pool', files: 'any' },
  {
    what: 'process.exit',
    pattern: /\bprocess\.exit\(/,
    room: 'main',
    files: 'one',
    besides: 'devnet/anvilGuard.js',
  },
]

function roomOf(path: string): string {
  return path.includes('/') ? path.split('/')[0]! : 'main'
}

/** Every breach of the rules, as a sentence. */
export function findBreaches(files: readonly SourceFile[]): string[] {
  return [...files.flatMap(fileBreaches), ...KEEPERS.flatMap((keeper) => keeperBreaches(keeper, files))]
}

function fileBreaches({ path, imports }: SourceFile): string[] {
  const room = roomOf(path)
  const allowed = ALLOWED[room]
  const breaches: string[] = []
  if (allowed === undefined) breaches.push(`${path}: the room ${room} is not on the plan`)
  if (posix.basename(path) === 'index.js') breaches.push(`${path}: a barrel file`)
  for (const specifier of imports) {
    if (!specifier.startsWith('.')) continue
    const target = posix.join(posix.dirname(path), specifier)
    const targetRoom = roomOf(target)
    const isFine =
      targetRoom === room || COMMON.includes(targetRoom) || allowed === 'all' || allowed?.includes(targetRoom)
    if (!isFine) breaches.push(`${path} imports ${target}: ${room} may not import ${targetRoom}`)
    if (target.endsWith('.worker.js')) breaches.push(`${path} imports ${target}: a thread entry is no module`)
  }
  return breaches
}

function keeperBreaches(keeper: Keeper, files: readonly SourceFile[]): string[] {
  const { what, pattern, room, files: count, besides } = keeper
  const users = files
    .filter(({ path, code }) => path !== besides && pattern.test(code))
    .map(({ path }) => path)
  const strangers = users.filter((path) => roomOf(path) !== room)
  const breaches = strangers.map((path) => `${path} uses ${what}: only ${room} may`)
  if (count === 'one' && users.length > 1)
    breaches.push(`${what} is used by ${users.join(' and ')}: only one file may`)
  return breaches
}

/** Keepers without any user: a rule that guards nothing has lost its subject. */
export function unusedKeepers(files: readonly SourceFile[]): string[] {
  return KEEPERS.filter(({ pattern }) => !files.some(({ code }) => pattern.test(code))).map(
    ({ what }) => what,
  )
}

/** Reads the JavaScript that was emitted below `emittedRoot` from the sources below `sourceRoot`: nothing of a source that is gone. */
export async function readSourceFiles(emittedRoot: string, sourceRoot: string): Promise<SourceFile[]> {
  await init
  return readdirSync(sourceRoot, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.ts$/.test(entry.name))
    .map((entry) => {
      const path = relative(sourceRoot, join(entry.parentPath, entry.name)).replace(/\.ts$/, '.js')
      return sourceFile(path, readFileSync(join(emittedRoot, path), 'utf8'))
    })
}

/** `init` of es-module-lexer must have run. */
export function sourceFile(path: string, text: string): SourceFile {
  const [imports] = parse(text, path)
  return {
    path: path.replaceAll('\\', '/'),
    imports: imports.flatMap((found) => ('specifier' in found && found.specifier ? [found.specifier] : [])),
    code: text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, ''),
  }
}
