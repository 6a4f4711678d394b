import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/config.types.js'
import { devnetFolderPrefix } from './devnet.js'
import { DevnetError } from './devnetError.js'
import { type GuardedGroup, startGuarded } from './guardedGroup.js'

/** Of each log; a devnet writes some kilobytes a minute. */
const MAX_LOG_BYTES = 64 * 2 ** 20
/** Besides the one in the process of the devnet. */
const OTHERS = ['second', 'third'] as const

/** An instance of the devnet's cluster that may be killed. */
export interface OtherInstance {
  readonly name: string
  readonly url: string
  readonly pid: number
  /** Configuration to start it again with. */
  readonly file: string
}

/** A NATS server with JetStream on a free loopback port, for `bds start --cluster`. It ends with this process, however it ends. */
export class DevnetCluster {
  /** Resolves with the reason when the server ends without `stop`. */
  readonly failed: Promise<string>
  readonly #server: GuardedGroup
  #others: GuardedGroup | undefined

  private constructor(server: GuardedGroup, failed: Promise<string>) {
    this.#server = server
    this.failed = failed
  }

  /** @throws DevnetError when there is no `nats-server` on PATH, or it does not start. */
  static async start(): Promise<DevnetCluster> {
    const folder = mkdtempSync(join(tmpdir(), devnetFolderPrefix))
    let report: (reason: string) => void = () => undefined
    const failed = new Promise<string>((resolve) => {
      report = resolve
    })
    const command = [
      'nats-server',
      '-a',
      '127.0.0.1',
      '-p',
      '-1',
      '-js',
      '-sd',
      join(folder, 'nats'),
    ] as const
    try {
      const options = { what: 'the cluster', nameOf: () => 'nats-server', onEnd: report }
      return new DevnetCluster(await startGuarded(folder, [command], options), failed)
    } catch (error) {
      if (!(error as Error).message.includes('ENOENT')) throw error
      throw new DevnetError(
        'bds start --cluster needs nats-server on PATH, and there is none: apt-get install nats-server, or a release from github.com/nats-io/nats-server',
        { cause: error },
      )
    }
  }

  /** How the instance with this name shares its logs. */
  settings(instance: string): NonNullable<Config['cluster']> {
    return {
      servers: [`127.0.0.1:${this.#server.processes[0]!.port}`],
      name: 'devnet',
      instance,
      role: 'any',
      replicas: 1,
      maxLogBytes: MAX_LOG_BYTES,
      maxLagMs: 10_000,
      maxStaleMs: 10_000,
      snapshotEveryMs: 0,
      access: {},
    }
  }

  /**
   * Starts two more instances on free ports.
   * @param first of the instance that runs already: its settings stand in the logs.
   * @param program how `bds` is run.
   * @param onEnd is called with a line when one of them ends.
   * @throws DevnetError when one does not start.
   */
  async startOthers(
    first: Config,
    program: readonly [string, ...string[]],
    onEnd: (reason: string) => void,
  ): Promise<OtherInstance[]> {
    const folder = mkdtempSync(join(tmpdir(), devnetFolderPrefix))
    const files = OTHERS.map((name) => {
      const file = join(folder, `${name}.json`)
      mkdirSync(join(folder, name))
      writeFileSync(file, JSON.stringify(this.#fileOf(first, name, join(folder, name)), null, 2))
      return file
    })
    const commands = files.map((file) => [...program, 'run', '--config', file] as const)
    this.#others = await startGuarded(folder, commands, {
      what: 'the other instances',
      nameOf: (at) => `the ${OTHERS[at]} instance`,
      onEnd,
    })
    return this.#others.processes.map(({ port, pid }, at) => ({
      name: OTHERS[at]!,
      url: `http://127.0.0.1:${port}`,
      pid,
      file: files[at]!,
    }))
  }

  async stop(): Promise<void> {
    await this.#others?.stop()
    await this.#server.stop()
  }

  /** The configuration file of another instance with the settings of the first. */
  #fileOf({ networks, feed }: Config, instance: string, dataDir: string): object {
    const { servers, name, replicas, maxLogBytes, snapshotEveryMs } = this.settings(instance)
    return {
      data_dir: dataDir,
      http: { host: '127.0.0.1', port: 0, drain_delay_ms: 0 },
      ops: { host: '127.0.0.1', port: 0 },
      log: { level: 'error' },
      feed: { keep_events: feed.keepEvents },
      explorer: { title: `Devnet, ${instance} instance` },
      cluster: {
        ...{ servers, name, instance, replicas },
        max_log_bytes: maxLogBytes,
        snapshot_every_ms: snapshotEveryMs,
      },
      networks: networks.map((network) => ({
        network_id: network.networkId,
        chain_id: network.chainId,
        rpc: network.rpc.map(({ url }) => url),
        public_rpc: network.publicRpc,
        bridge: network.bridge,
        global_exit_root_manager: network.globalExitRootManager,
        rollup_manager: network.rollupManager,
        start_block: network.startBlock,
        finality: network.finality.tag,
        rollback_blocks: network.rollbackBlocks,
        poll_interval_ms: network.pollIntervalMs,
        stalled_after_ms: network.stalledAfterMs,
      })),
    }
  }
}
