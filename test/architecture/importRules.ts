import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'

/** One source file: where it lies below `src`, what it imports (types too), and its text without comments. */
export interface SourceFile {
  /** `pool/queryPool.ts`. */
  readonly path: string
  /** As written: `../query/answers.js`, `lmdb`, `node:fs`. */
  readonly imports: readonly string[]
  readonly code: string
}

/** A row of the table in `docs/rooms.md`: which rooms a room may import besides the common ones. */
export type RoomPlan = ReadonlyMap<string, readonly string[]>

/** Rooms that every room may import. */
const COMMON = ['errors', 'protocol', 'telemetry']

const MOST_DOORS = 12

/** A library or a global that only one file, or one room, may use. */
interface Keeper {
  readonly what: string
  readonly pattern: RegExp
  readonly room: string
  readonly files: 'one' | 'any'
  /** A file that may use it too: the entry of a process of its own, or of a client that brings no room of the service along. */
  readonly besides?: string
}

const KEEPERS: readonly Keeper[] = [
  { what: 'uWebSockets.js', pattern: /['"]uWebSockets\.js(?:-modern)?['"]/, room: 'http/wire', files: 'one' },
  { what: 'lmdb', pattern: /from ['"]lmdb['"]/, room: 'store', files: 'one' },
  {
    what: 'ws',
    pattern: /from ['"]ws['"]/,
    room: 'chain/rpc',
    files: 'one',
    besides: 'http/wire/nodeSocket.ts',
  },
  { what: 'WebAssembly', pattern: /\bnew WebAssembly\./, room: 'wasm', files: 'one' },
  { what: 'process.env', pattern: /\bprocess\.env\b/, room: 'config', files: 'one' },
  {
    what: 'Date.now',
    pattern: /\bDate\.now\b/,
    room: 'telemetry',
    files: 'one',
    besides: 'client/waits.ts',
  },
  { what: '@nats-io', pattern: /from ['"]@nats-io\//, room: 'cluster/nats', files: 'any' },
  { what: 'piscina', pattern: /from ['"]piscina['"]/, room: 'pool', files: 'any' },
  {
    what: 'process.exit',
    pattern: /\bprocess\.exit\(/,
    room: 'service',
    files: 'one',
    besides: 'devnet/guard.ts',
  },
]

function roomOf(path: string): string {
  return posix.dirname(path)
}

/** Reads the table of rooms. @param text of `docs/rooms.md`. */
export function readRoomPlan(text: string): RoomPlan {
  const rows = [...text.matchAll(/^\| `([^`]+)` \| .+? \| ([^|]*) \|$/gm)]
  return new Map(
    rows.map(([, room, may]) => [room!, [...may!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)]),
  )
}

/** Every breach of the rules, as a sentence. */
export function findBreaches(files: readonly SourceFile[], plan: RoomPlan): string[] {
  return [
    ...files.flatMap((file) => fileBreaches(file, plan)),
    ...[...plan.keys()]
      .filter((room) => !files.some(({ path }) => roomOf(path) === room))
      .map((room) => `${room} is on the plan and has no file`),
    ...KEEPERS.flatMap((keeper) => keeperBreaches(keeper, files)),
    ...sharedNames(files),
    ...tooManyDoors(files),
    ...circles(fileImports(files)).map((circle) => `files in a circle: ${circle}`),
    ...circles(roomImports(files)).map((circle) => `rooms in a circle: ${circle}`),
  ]
}

/** Imports that the plan allows and no file makes. */
export function unusedAllowances(files: readonly SourceFile[], plan: RoomPlan): string[] {
  const used = roomImports(files)
  return [...plan].flatMap(([room, allowed]) =>
    allowed.filter((other) => !used.get(room)?.has(other)).map((other) => `${room} does not import ${other}`),
  )
}

function fileBreaches({ path, imports }: SourceFile, plan: RoomPlan): string[] {
  const room = roomOf(path)
  const allowed = plan.get(room)
  const breaches: string[] = []
  if (allowed === undefined) breaches.push(`${path}: the room ${room} is not on the plan`)
  if (posix.basename(path) === 'index.ts') breaches.push(`${path}: a barrel file`)
  for (const target of localImports(path, imports)) {
    const targetRoom = roomOf(target)
    const isFine = targetRoom === room || COMMON.includes(targetRoom) || allowed?.includes(targetRoom)
    if (!isFine) breaches.push(`${path} imports ${target}: ${room} may not import ${targetRoom}`)
    if (target.endsWith('.worker.ts')) breaches.push(`${path} imports ${target}: a thread entry is no module`)
  }
  return breaches
}

function localImports(path: string, imports: readonly string[]): string[] {
  return imports
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts'))
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

function sharedNames(files: readonly SourceFile[]): string[] {
  const byName = new Map<string, SourceFile[]>()
  for (const file of files) {
    const name = posix.basename(file.path)
    byName.set(name, [...(byName.get(name) ?? []), file])
  }
  return [...byName.values()]
    .filter((sharers) => sharers.length > 1)
    .map((sharers) => `one name for several files: ${sharers.map(({ path }) => path).join(', ')}`)
}

function tooManyDoors(files: readonly SourceFile[]): string[] {
  const doors = new Map<string, Set<string>>()
  for (const { path, imports } of files)
    for (const target of localImports(path, imports)) {
      const room = roomOf(target)
      if (room === roomOf(path)) continue
      if (!doors.has(room)) doors.set(room, new Set())
      doors.get(room)!.add(target)
    }
  return [...doors]
    .filter(([, targets]) => targets.size > MOST_DOORS)
    .map(([room, targets]) => `${room} has ${targets.size} doors: ${[...targets].join(', ')}`)
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>

function fileImports(files: readonly SourceFile[]): Graph {
  return new Map(files.map(({ path, imports }) => [path, new Set(localImports(path, imports))]))
}

function roomImports(files: readonly SourceFile[]): Graph {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of files) {
    const room = roomOf(path)
    if (!graph.has(room)) graph.set(room, new Set())
    for (const target of localImports(path, imports))
      if (roomOf(target) !== room) graph.get(room)!.add(roomOf(target))
  }
  return graph
}

/** Circles in the order of discovery. Of several circles through one node only one is reported. */
function circles(graph: Graph): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (node: string, way: readonly string[]): void => {
    const from = way.indexOf(node)
    if (from >= 0) {
      found.push([...way.slice(from), node].join(' → '))
      return
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...way, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return found
}

/** Keepers whose library or global is used nowhere: their rule guards nothing. */
export function unusedKeepers(files: readonly SourceFile[]): string[] {
  return KEEPERS.filter(({ pattern }) => !files.some(({ code }) => pattern.test(code))).map(
    ({ what }) => what,
  )
}

export function readSourceFiles(sourceRoot: string): SourceFile[] {
  return readdirSync(sourceRoot, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.tsx?$/.test(entry.name))
    .map((entry) => {
      const path = relative(sourceRoot, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
      // Importers write `.js` for both kinds.
      return sourceFile(path.replace(/\.tsx$/, '.ts'), readFileSync(join(sourceRoot, path), 'utf8'))
    })
}

/**
 * Imports are found by their form, as the formatter writes them.
 * @param text TypeScript.
 */
export function sourceFile(path: string, text: string): SourceFile {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const forms = [
    /^(?:import|export)\b[^'"]*?\bfrom '([^']+)'/gm,
    /^import '([^']+)'/gm,
    /\bimport\('([^']+)'\)/g,
  ]
  return {
    path,
    imports: forms.flatMap((form) => [...code.matchAll(form)].map(([, specifier]) => specifier!)),
    code,
  }
}
