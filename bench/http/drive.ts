import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

/** Result of one run of a load generator. */
export interface Run {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Load {
  readonly port: number
  /** Paths that are requested in turn. */
  readonly paths: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Requests per second over all connections; undefined: as many as possible. */
  readonly perSecond?: number
  /** Milliseconds, whole ones, for which each connection waits after an answer. Only wrk heeds it. */
  readonly pauseMs?: number
  /** The right body, if all paths are the same. */
  readonly expectedBody?: string
}

/** A run had an error, a time-out, another status or a wrong body, so it counts for nothing. */
class VoidRun extends Error {
  override name = 'VoidRun'
}

/** `wrk -t1`: needs so little CPU that it can show the ceiling. */
export async function runWrk(load: Load, folder: string): Promise<Run> {
  // Two may run at once.
  const { pauseMs } = load
  const name = `paths-${load.port}-${load.connections}`
  const script = join(folder, `${name}.lua`)
  const list = join(folder, `${name}.txt`)
  writeFileSync(list, load.paths.join('\n'))
  writeFileSync(
    script,
    `local requests, at = {}, 0
     init = function()
       for path in io.lines(${JSON.stringify(list)}) do requests[#requests + 1] = wrk.format("GET", path) end
     end
     request = function() at = at % #requests + 1; return requests[at] end
     ${pauseMs === undefined ? '' : `delay = function() return ${pauseMs} end`}`,
  )
  const args = [
    '-t1',
    `-c${load.connections}`,
    `-d${load.seconds}s`,
    '--latency',
    '--timeout',
    '5s',
    '-s',
    script,
  ]
  const { stdout } = await promisify(execFile)('wrk', [...args, `http://127.0.0.1:${load.port}`])
  return readWrk(stdout)
}

/** What `wrk --latency` printed. Its line of the deviation ends with a percentage, too. @throws when any request failed. */
export function readWrk(stdout: string): Run {
  if (/Non-2xx|Socket errors/.test(stdout)) throw new VoidRun(stdout)
  const find = (pattern: RegExp): string => {
    const found = pattern.exec(stdout)?.[1]
    if (found === undefined) throw new Error(`wrk did not say ${pattern}:\n${stdout}`)
    return found
  }
  return {
    requests: Number(find(/(\d+) requests in/)),
    perSecond: Number(find(/Requests\/sec:\s+([\d.]+)/)),
    p50Ms: milliseconds(find(/^\s*50%\s+(\S+)/m)),
    p99Ms: milliseconds(find(/^\s*99%\s+(\S+)/m)),
  }
}

function milliseconds(text: string): number {
  const [, value, unit] = /^([\d.]+)(us|ms|s)$/.exec(text) ?? []
  if (unit === undefined) throw new Error(`wrk gave a time as ${text}`)
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's']
}

/** Autocannon checks bodies, but needs much more CPU than what it measures: for latency, and where wrk is not installed. */
export async function runAutocannon(load: Load): Promise<Run> {
  const { port, paths, expectedBody } = load
  const origin = `http://127.0.0.1:${port}`
  const result = await autocannon({
    connections: load.connections,
    duration: load.seconds,
    ...(load.perSecond === undefined ? {} : { overallRate: Math.round(load.perSecond) }),
    // It can check bodies only if all requests have the same.
    ...(expectedBody === undefined
      ? { url: origin, requests: paths.map((path) => ({ path })) }
      : { url: origin + paths[0], expectBody: expectedBody }),
  })
  const { errors, timeouts, non2xx, mismatches } = result
  if (errors + timeouts + non2xx + mismatches > 0)
    throw new VoidRun(JSON.stringify({ errors, timeouts, non2xx, mismatches, path: load.paths[0] }))
  return {
    requests: result.requests.total,
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}
