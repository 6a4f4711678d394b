import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket_context_t,
  WebSocket,
} from 'uWebSockets.js'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { OperatorError } from '../../errors/operatorError.js'
import { glibcVersion } from '../../telemetry/buildInfo.js'
import { fitToOlderGlibc } from './olderGlibc.js'

export type ListenSocket = us_listen_socket
export type UwsResponse = HttpResponse
export type UwsRequest = HttpRequest
export type UwsSocketContext = us_socket_context_t
export type UwsWebSocket<Data> = WebSocket<Data>

/** Methods for which an app can have a handler of their own. */
export const uwsMethods = [
  'get',
  'head',
  'options',
  'post',
  'put',
  'patch',
  'del',
  'connect',
  'trace',
] as const
type UwsMethod = (typeof uwsMethods)[number]

/** The parts of an app that we use. The published types lack `close` and one form of `listen`. */
export interface UwsApp extends Pick<TemplatedApp, 'any' | 'ws' | UwsMethod> {
  listen(
    host: string,
    port: number,
    options: number,
    callback: (socket: ListenSocket | false) => void,
  ): unknown
  /** Closes the listen socket and every connection. */
  close(): void
  /** Calls with 1 for a new connection, which may be closed then, and with -1 for one that has ended. The old core lacks it. */
  filter?(watch: (response: UwsResponse, change: number) => void): unknown
}

/** A native build of uWebSockets.js that runs here. */
export interface UwsCore {
  /** Package and version, for logs and `doctor`. */
  readonly name: string
  readonly version: string
  /** Whether `endWithoutBody` can end the connection. */
  readonly closesBodiless: boolean
  createApp(): UwsApp
  /** Port that a listen socket was given. */
  portOf(socket: ListenSocket): number
  closeListenSocket(socket: ListenSocket): void
}

interface UwsModule {
  App(): UwsApp
  us_socket_local_port(socket: ListenSocket): number
  us_listen_socket_close(socket: ListenSocket): void
}

/** Where packages are loaded from and what this machine is; tests pass another one. */
export interface UwsHost {
  readonly require: NodeJS.Require
  readonly platform: string
  readonly abi: string
  readonly nodeVersion: string
  /** Called only when nothing loads, because it is slow. */
  glibc(): string | undefined
}

/**
 * No build runs everywhere: the modern one needs glibc 2.38, the old one is built only for Node 20 and below. The modern one
 * is tried first.
 */
const MODERN = 'uWebSockets.js-modern'
const PACKAGES = [MODERN, 'uWebSockets.js'] as const

/** SHA-256 of the modern package's addons (20.57.0), and of the copies that `fitToOlderGlibc` makes of them. */
const ADAPTABLE: Readonly<Record<string, readonly [original: string, copy: string]>> = {
  'uws_linux_x64_115.node': [
    '5b126ee00bf754b02e97e4c27090365a8562c5820c93f93918ac2212d4503e91',
    '0fdb9722352c4e0f519b42ad8b0c2bd4544b2c27484c1d49ddf143bfd1637cbb',
  ],
  'uws_linux_x64_127.node': [
    '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac',
    '4ea0943df7d3202b3ada5eb01c40c37c63bb192fd9c7b1abae5082c5cc1f2803',
  ],
  'uws_linux_x64_137.node': [
    '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
    '8d5817f3a52803cb69a0e3d54f6487b533fda603aa63dab8ea09f9762d992e0b',
  ],
  'uws_linux_x64_141.node': [
    '813d788b347c6fd76b779d8932311ec05a044e612b4b83af220f16e6ea789683',
    '395fee5c7a644ad0964cc26651b5dd12833c147123c69dbe938fe17eb13a2760',
  ],
  'uws_linux_arm64_115.node': [
    '6bdbc8ff976b4371af1906175e9025804bacc38a414969f4f02314e6b99f206c',
    '68016401b908e59200b227ade8fe6b36bc9f8e30892e54cefd590a960612d7a6',
  ],
  'uws_linux_arm64_127.node': [
    '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895',
    'b28ee349e8a15aa5fd30988fc3935eb1b8898e44f27f2ae903ad9e959567c1e6',
  ],
  'uws_linux_arm64_137.node': [
    '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
    '84c03ca18de632e52cce378f073f8b008c0817c957d2e475284ce08f75c88a77',
  ],
  'uws_linux_arm64_141.node': [
    '81d0186dd1549ed6a7f47e68e323573fc27d69d2920527654ce2dd993af2b0ec',
    'de517c5f4cd31f4431fc07e2eb212924b0cd02e770679a36ed063b6b47c1c017',
  ],
}
/** The adapted copy still needs `arc4random`. */
const OLDEST_GLIBC_MINOR = 36

/** Listen option that refuses a port in use. */
export const LISTEN_EXCLUSIVE_PORT = 1
/** Listen option that joins all who listen on this port in the same way, of this process or another one of the same user. */
export const LISTEN_SHARED_PORT = 0

/**
 * Loads the first native build that works: the modern one, the old one, or a copy of the modern one that is adapted to this
 * machine's older glibc. The old package silently falls back to an implementation in JavaScript, which is refused.
 * @param mayAdapt false: no copy is made.
 * @throws OperatorError that names Node's ABI and says, for each package, why it can't be used.
 */
export function loadUws(mayAdapt = true, host: UwsHost = thisHost()): UwsCore {
  const reasons: string[] = []
  const ways = [
    ...PACKAGES.map((name) => () => tryLoad(name, host)),
    ...(mayAdapt ? [() => tryAdapted(host)] : []),
  ]
  for (const way of ways) {
    const loaded = way()
    if (typeof loaded !== 'string') return loaded
    reasons.push(loaded)
  }
  throw new OperatorError(
    `no native build of uWebSockets.js runs on ${host.platform}, Node ${host.nodeVersion} (ABI ${host.abi}), glibc ${host.glibc() ?? 'unknown'}: ${reasons.join('; ')}`,
  )
}

/** Every native build that works here, for tests of the wire on each. */
export function loadEachUws(host: UwsHost = thisHost()): UwsCore[] {
  return [...PACKAGES.map((name) => tryLoad(name, host)), tryAdapted(host)].filter(
    (loaded) => typeof loaded !== 'string',
  )
}

/** @returns the build, or why it can't be used. */
function tryLoad(name: string, host: UwsHost): UwsCore | string {
  let folder: string
  let version: string
  try {
    folder = packageFolder(host.require.resolve(name))
    version = versionIn(folder)
  } catch {
    return `${name} is not installed`
  }
  const label = `${name} ${version}`
  const addon = `uws_${host.platform}_${host.abi}.node`
  if (!existsSync(join(folder, addon)) && !existsSync(join(folder, 'binaries', addon)))
    return `${label} has no build for this Node (${addon})`
  let core: UwsModule
  try {
    core = host.require(name) as UwsModule
  } catch (error) {
    const needed = /GLIBC_[0-9.]+/.exec(String(error))?.[0]
    return needed === undefined ? `${label} does not load` : `${label} needs ${needed}`
  }
  const isNative = Object.keys(host.require.cache).some(
    (file) => file.startsWith(folder + sep) && file.endsWith(addon),
  )
  if (!isNative) return `${label} offers only its JavaScript fallback`
  return coreOf(name, version, core)
}

function coreOf(name: string, version: string, core: UwsModule): UwsCore {
  return {
    name,
    version,
    closesBodiless: name === MODERN,
    createApp: () => core.App(),
    portOf: (socket) => core.us_socket_local_port(socket),
    closeListenSocket: (socket) => core.us_listen_socket_close(socket),
  }
}

/**
 * Loads a copy of the modern addon that asks for no more than this machine's glibc has. The copy is made anew in a folder that
 * only this user may enter, and is removed as soon as it is loaded; both files must have the sums of `ADAPTABLE`.
 */
function tryAdapted(host: UwsHost): UwsCore | string {
  let home: string
  try {
    home = packageFolder(host.require.resolve(MODERN))
  } catch {
    return `no copy of ${MODERN} can be adapted: it is not installed`
  }
  const version = versionIn(home)
  const label = `${MODERN} ${version}`
  const addon = `uws_${host.platform}_${host.abi}.node`
  const sums = ADAPTABLE[addon]
  const minor = /^2\.(\d+)$/.exec(host.glibc() ?? '')?.[1]
  if (sums === undefined || !existsSync(join(home, addon)))
    return `${label} has no build that could be adapted (${addon})`
  if (minor === undefined || Number(minor) < OLDEST_GLIBC_MINOR)
    return `${label} can be adapted to glibc 2.${OLDEST_GLIBC_MINOR} and newer only`
  const original = readFileSync(join(home, addon))
  if (sumOf(original) !== sums[0]) return `${label} is not adapted: ${addon} is not the file that was checked`
  const copy = fitToOlderGlibc(original)
  if (copy === undefined || sumOf(copy) !== sums[1]) return `${label} can't be adapted`
  let folder: string
  try {
    folder = mkdtempSync(join(tmpdir(), 'bds-uws-'))
  } catch {
    return `no adapted copy of ${label} can be written to ${tmpdir()}`
  }
  const file = join(folder, addon)
  try {
    writeFileSync(file, copy, { mode: 0o700 })
    return coreOf(MODERN, `${version} (a copy adapted to glibc 2.${minor})`, host.require(file) as UwsModule)
  } catch (error) {
    return `the adapted copy of ${label} does not load from ${tmpdir()}: ${error instanceof Error ? error.message.replaceAll(file, addon) : 'unknown'}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function packageFolder(entry: string): string {
  let folder = dirname(entry)
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

function versionIn(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return String((manifest as { readonly version?: unknown }).version)
}

function thisHost(): UwsHost {
  return {
    require: createRequire(import.meta.url),
    platform: `${process.platform}_${process.arch}`,
    abi: process.versions.modules,
    nodeVersion: process.versions.node,
    glibc: glibcVersion,
  }
}
