import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Cleaner } from './tempFolder.js'

/** `BDS_ENTRY`: another copy to test, such as that of an installed package. */
export const BDS = process.env.BDS_ENTRY ?? fileURLToPath(new URL('../../src/cli/bds.js', import.meta.url))
/** Only a process that hangs takes so long: with many others on few cores a start has taken over half a minute. */
const LONGEST_START_MS = 90_000

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A real `bds` process. It is killed when its test ends. */
export interface BdsProcess {
  readonly child: ChildProcess
  readonly exited: Promise<Exit>
  /** Lines written so far. */
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** The first line of standard output that matches, already written or not yet. Rejects when the process ends before. */
  line(pattern: RegExp): Promise<string>
  kill(signal: NodeJS.Signals): Promise<Exit>
}

/** The environment of the tests without every `BDS_` variable: `bds` refuses unknown ones. */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BDS_')))
}

/**
 * Starts `bds` with the environment of the tests, without its `BDS_` variables, plus `environment`. `launcher` is
 * a command that runs the words after it, for a `bds` with another parent than the test.
 */
export function startBds(
  context: Cleaner,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): BdsProcess {
  const [command, ...words] = [...launcher, process.execPath, BDS, ...args]
  const child = spawn(command!, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inheritedEnvironment(), ...environment },
  })
  const stdout: string[] = []
  const stderr: string[] = []
  const watchers = new Set<() => void>()
  createInterface(child.stdout).on('line', (line) => {
    stdout.push(line)
    for (const watch of watchers) watch()
  })
  createInterface(child.stderr).on('line', (line) => stderr.push(line))
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const kill = (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal)
    return exited
  }
  context.after(async () => {
    await kill('SIGKILL')
  })
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        const found = stdout.find((text) => pattern.test(text))
        if (found === undefined) return
        watchers.delete(watch)
        resolve(found)
      }
      watchers.add(watch)
      watch()
      void exited.then(({ code, signal }) =>
        reject(
          new Error(`bds ended (${signal ?? code}) before ${pattern}:\n${[...stdout, ...stderr].join('\n')}`),
        ),
      )
    })
  return { child, exited, stdout, stderr, line, kill }
}

/** An answer of the API. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  // The caller checks the type of the body.
  readonly body: unknown
}

export interface ServiceProcess extends BdsProcess {
  readonly url: string
  readonly opsUrl: string
  get(path: string): Promise<ApiAnswer>
  /** The body of an answer that must be a 200. */
  read<T>(path: string): Promise<T>
}

/** `BDS_TEST_CELLS=3`: services that a test starts without a wish of its own have so many front threads. */
const cells = process.env.BDS_TEST_CELLS

function withCells(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): Readonly<Record<string, string>> {
  const hasWish =
    ['--http-threads', '--http-transport'].some((name) => args.includes(name)) ||
    ['BDS_HTTP__THREADS', 'BDS_HTTP__TRANSPORT', 'NODE_OPTIONS'].some((name) => name in environment)
  return cells === undefined || hasWish ? environment : { ...environment, BDS_HTTP__THREADS: cells }
}

/** Starts `bds run` and waits until it listens. */
export async function startService(
  context: Cleaner,
  configFile: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): Promise<ServiceProcess> {
  const bds = startBds(
    context,
    ['run', '--config', configFile, ...args],
    withCells(environment, args),
    launcher,
  )
  const timer = setTimeout(() => bds.child.kill('SIGKILL'), LONGEST_START_MS)
  const line = await bds.line(/^listening on /).finally(() => clearTimeout(timer))
  const [url, opsUrl] = line.match(/http:\/\/[^\s,)]+/g) ?? []
  if (url === undefined || opsUrl === undefined) throw new Error(`no addresses in: ${line}`)
  const get = async (path: string): Promise<ApiAnswer> => {
    const response = await fetch(url + path)
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const read = async <T>(path: string): Promise<T> => {
    const { status, body } = await get(path)
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body as T
  }
  return { ...bds, url, opsUrl, get, read }
}
