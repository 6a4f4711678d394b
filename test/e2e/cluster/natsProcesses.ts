import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterServers } from '../../../src/cluster/clusterServers.js'
import { openNatsServers } from '../../../src/cluster/nats/natsServers.js'
import { systemClock } from '../../../src/telemetry/clocks.js'
import { freePort } from '../../support/freePort.js'
import { installedProgram } from '../../support/installedProgram.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'
import { type Cleaner, tempFolder } from '../../support/tempFolder.js'
import { until } from '../../support/until.js'

export const TEST_LIMIT_MS = 120_000
/** More than a test writes. */
export const MAX_LOG_BYTES = 100_000_000

interface NatsServer {
  readonly name: string
  readonly config: string
  readonly port: number
  readonly monitorPort: number
  process: ChildProcess | undefined
}

/** Real servers, with a folder and ports of their own, as one cluster if there are several. They are killed when the test ends. */
export class NatsProcesses {
  readonly servers: readonly NatsServer[]
  readonly #folder: string

  private constructor(folder: string, servers: readonly NatsServer[]) {
    this.#folder = folder
    this.servers = servers
  }

  /** @param settings of each server besides, in its own words. */
  static async start(context: Cleaner, count: 1 | 3, settings = ''): Promise<NatsProcesses> {
    const servers: NatsServer[] = []
    // A test process that ends too early takes its servers with it; they don't keep it alive.
    const killAll = (): void => {
      for (const server of servers) server.process?.kill('SIGKILL')
    }
    process.once('exit', killAll)
    // From a runner whose patience is over.
    process.once('SIGTERM', () => {
      killAll()
      process.kill(process.pid, 'SIGKILL')
    })
    // Before the folder's removal is asked for: what was registered first is done first.
    context.after(async () => {
      await Promise.all(servers.map(kill))
    })
    const folder = tempFolder(context)
    const ports: number[] = []
    while (ports.length < 3 * count) ports.push(await freePort())
    for (let at = 0; at < count; at++) {
      const name = `n${at + 1}`
      const config = join(folder, `${name}.conf`)
      servers.push({ name, config, port: ports[at]!, monitorPort: ports[count + at]!, process: undefined })
    }
    const routes = servers.map((_, at) => `nats://127.0.0.1:${ports[2 * count + at]}`)
    for (const [at, { name, config, port, monitorPort }] of servers.entries()) {
      mkdirSync(join(folder, name))
      const cluster = `cluster { name: test, listen: "127.0.0.1:${ports[2 * count + at]}", routes: [${routes}] }`
      writeFileSync(
        config,
        `server_name: ${name}
listen: "127.0.0.1:${port}"
http: "127.0.0.1:${monitorPort}"
jetstream { store_dir: "${join(folder, name)}", max_file_store: 1GB, max_memory_store: 16MB }
${count === 1 ? '' : cluster}
${settings}
`,
      )
    }
    const processes = new NatsProcesses(folder, servers)
    for (const at of servers.keys()) processes.start(at)
    await Promise.all([...servers.keys()].map((at) => processes.untilHealthy(at)))
    return processes
  }

  get addresses(): readonly string[] {
    return this.servers.map(({ port }) => `127.0.0.1:${port}`)
  }

  /** One instance of ours. The test closes it. */
  member(maxLogBytes = MAX_LOG_BYTES, replicas: 1 | 3 = this.servers.length === 3 ? 3 : 1): ClusterServers {
    const settings = { servers: this.addresses, name: 'test', prefix: 'test', replicas, maxLogBytes }
    return openNatsServers(settings, systemClock, createKeepingLogger().logger)
  }

  start(at: number): void {
    const server = this.servers[at]!
    const log = openSync(join(this.#folder, `${server.name}.log`), 'a')
    server.process = spawn(installedProgram('nats-server')!, ['-c', server.config], {
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    server.process.unref()
  }

  kill(at: number): Promise<void> {
    return kill(this.servers[at]!)
  }

  signal(at: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.servers[at]!.process!.kill(signal)
  }

  /**
   * Waits until a server says that it has caught up: what a readiness probe asks.
   * @throws with the end of its log.
   */
  async untilHealthy(at: number): Promise<void> {
    const { name } = this.servers[at]!
    try {
      await until(
        () => this.#ask(at, '/healthz'),
        (answer) => (answer as { status?: string } | undefined)?.status === 'ok',
        `${name} is healthy`,
        60_000,
      )
    } catch (error) {
      const lines = readFileSync(join(this.#folder, `${name}.log`), 'utf8').split('\n')
      throw new Error(lines.slice(-30).join('\n'), { cause: error })
    }
  }

  /** Which server leads a stream, as the others say. */
  async leaderOf(stream: string): Promise<number> {
    const name = await until(
      async () => {
        for (const at of this.servers.keys()) {
          const found = leaderIn(await this.#ask(at, '/jsz?streams=true'), stream)
          if (found !== undefined) return found
        }
        return undefined
      },
      (found) => found !== undefined,
      `${stream} has a leader`,
    )
    return this.servers.findIndex((server) => server.name === name)
  }

  async #ask(at: number, path: string): Promise<unknown> {
    const url = `http://127.0.0.1:${this.servers[at]!.monitorPort}${path}`
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
      return await response.json()
    } catch {
      return undefined
    }
  }
}

async function kill({ process: child }: NatsServer): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

interface StreamReport {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string
      readonly cluster?: { readonly leader?: string }
    }[]
  }[]
}

function leaderIn(report: unknown, stream: string): string | undefined {
  for (const { stream_detail } of (report as StreamReport | undefined)?.account_details ?? [])
    for (const { name, cluster } of stream_detail ?? []) if (name === stream) return cluster?.leader
  return undefined
}

/** Ends every wait of a test before its runner gives up on it. */
export function deadline(context: Cleaner): AbortSignal {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new Error('the test takes too long')), TEST_LIMIT_MS - 10_000)
  context.after(() => {
    clearTimeout(timer)
    limit.abort()
  })
  return limit.signal
}

/** Closes them when the test ends, and asserts that this takes no longer than promised. */
export function closeAfter(context: Cleaner, ...members: readonly { close(): Promise<void> }[]): void {
  context.after(async () => {
    const startedMs = performance.now()
    await Promise.all(members.map((member) => member.close()))
    const tookMs = performance.now() - startedMs
    assert.ok(tookMs < 3_000, `close took ${tookMs} ms`)
  })
}
