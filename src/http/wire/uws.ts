import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { OperatorError } from '../../errors/operatorError.js'

export type { HttpRequest, HttpResponse }
export type ListenSocket = us_listen_socket

/** The parts of an app that we use. The published types lack `close` and one form of `listen`. */
export interface UwsApp extends Pick<TemplatedApp, 'any' | 'get'> {
  listen(
    host: string,
    port: number,
    options: number,
    callback: (socket: ListenSocket | false) => void,
  ): unknown
  /** Closes the listen socket and every connection. */
  close(): void
}

/** A native build of uWebSockets.js that runs here. */
export interface UwsCore {
  /** Package and version, for logs and `doctor`. */
  readonly name: string
  readonly version: string
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
const PACKAGES = ['uWebSockets.js-modern', 'uWebSockets.js'] as const

/** Listen option that refuses a port in use. By default the port would be shared silently with the other process. */
export const LISTEN_EXCLUSIVE_PORT = 1

/**
 * Loads the first native build that works. The old package silently falls back to an implementation in JavaScript, which is
 * refused.
 * @throws OperatorError that names Node's ABI and says, for each package, why it can't be used.
 */
export function loadUws(host: UwsHost = thisHost()): UwsCore {
  const reasons: string[] = []
  for (const name of PACKAGES) {
    const loaded = tryLoad(name, host)
    if (typeof loaded !== 'string') return loaded
    reasons.push(loaded)
  }
  throw new OperatorError(
    `no native build of uWebSockets.js runs on ${host.platform}, Node ${host.nodeVersion} (ABI ${host.abi}), glibc ${host.glibc() ?? 'unknown'}: ${reasons.join('; ')}`,
  )
}

/** Every native build that works here, for tests of the wire on each. */
export function loadEachUws(host: UwsHost = thisHost()): UwsCore[] {
  return PACKAGES.map((name) => tryLoad(name, host)).filter((loaded) => typeof loaded !== 'string')
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
  return {
    name,
    version,
    createApp: () => core.App(),
    portOf: (socket) => core.us_socket_local_port(socket),
    closeListenSocket: (socket) => core.us_listen_socket_close(socket),
  }
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
    glibc: () => {
      const report = process.report.getReport() as {
        readonly header?: { readonly glibcVersionRuntime?: string }
      }
      return report.header?.glibcVersionRuntime
    },
  }
}
