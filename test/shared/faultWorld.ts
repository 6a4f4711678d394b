import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type ServiceProcess, startService } from '../support/serviceProcess.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'
import { checkAnswers } from './checkAnswers.js'
import { findLies } from './lies.js'
import { type ExpectedNow, type ReplayChains, startReplayChains } from './replayControl.js'

/** Everything heals within a minute. On a machine that does much else at once a network may take longer, as long as it moves on. */
const HEALED_WITHIN_S = 60
/** Minutes that a network which moves on may take. */
const LONGEST_MINUTES = 4

export interface NetworkSettings {
  readonly finality?: string
  readonly logRange?: number
  readonly rpcTimeoutMs?: number
}

export interface WorldOptions extends NetworkSettings {
  readonly set: string
  /** Heads at the start, in the words of the replay server: `all`, `step:40`. */
  readonly head?: string
  /** Endpoints per network, each a server of its own with the same chains. */
  readonly endpoints?: number
  /** Empty blocks on top of the recorded ones: what lies deep is read window by window. */
  readonly emptyBlocks?: number
  readonly seed?: number
}

/** What the checker calls wrong and is right all the same. */
interface Excuses {
  /**
   * Layers 2 that may have lost deposits whose exit root layer 1 has settled. The checker knows the lost leaves
   * and asks for proofs under such a root. Nobody can make these proofs from the chains alone, so a 404 is right.
   */
  readonly lossy?: readonly number[]
  /** Some call traces are refused: their transactions show the sender, those that were traced the caller. */
  readonly mixesSenders?: boolean
}

interface NetworkSync {
  readonly network_id: number
  readonly is_synced: boolean
  readonly halted: string | null
  readonly synced_block: number
  readonly current_block: number
  readonly indexed_deposit_count: number
  readonly unresolved_senders: number
}

/** A real `bds run` over recorded chains that are played by servers in this process. */
export class FaultWorld {
  /** The first choice of every network first. */
  readonly chains: readonly ReplayChains[]
  readonly configFile: string
  service: ServiceProcess | undefined
  readonly #context: TestContext

  private constructor(context: TestContext, chains: readonly ReplayChains[], configFile: string) {
    this.#context = context
    this.chains = chains
    this.configFile = configFile
  }

  static async open(context: TestContext, options: WorldOptions): Promise<FaultWorld> {
    const chains: ReplayChains[] = []
    for (let i = 0; i < (options.endpoints ?? 1); i++) {
      const head = options.head === undefined ? {} : { head: options.head }
      const server = await startReplayChains(options.set, { ...head, seed: options.seed ?? 1 })
      context.after(() => server.close())
      chains.push(server)
    }
    const folder = tempFolder(context)
    const file = join(folder, 'bds.toml')
    writeFileSync(file, tomlOf(join(folder, 'data'), chains, options))
    const world = new FaultWorld(context, chains, file)
    if (options.emptyBlocks !== undefined)
      await world.everywhere('/head', { advance: options.emptyBlocks, empty: true })
    return world
  }

  /** One control command to every server, so that their chains stay equal. */
  async everywhere(path: string, body: object): Promise<void> {
    for (const server of this.chains) await server.command(path, body)
  }

  /** One control command to the first choice only. */
  async first(path: string, body: object): Promise<void> {
    await this.chains[0]!.command(path, body)
  }

  /** Shows everything that was recorded. Heads that are past it stay where they are. */
  async showAll(): Promise<void> {
    for (const [network, { head, end }] of Object.entries(await this.chains[0]!.heads()))
      await this.everywhere('/head', { network: Number(network), to: Math.max(head, end) })
  }

  async start(): Promise<ServiceProcess> {
    this.service = await startService(this.#context, this.configFile)
    return this.service
  }

  async networks(): Promise<readonly NetworkSync[]> {
    const status = await this.service!.read<{ networks: NetworkSync[] }>('/bridge/v1/sync-status')
    return status.networks
  }

  /** Waits until every network is at the head of its chain. */
  async caughtUp(withinMs = 1000 * HEALED_WITHIN_S): Promise<void> {
    const expected = await this.chains[0]!.expected()
    const isThere = ({ network_id, is_synced, synced_block }: NetworkSync) =>
      is_synced && synced_block >= expected.networks[network_id]!.head
    await this.until(
      () => this.networks(),
      (networks) => networks.every(isThere),
      'caught up',
      withinMs,
    )
  }

  /** `until` whose failure shows what the service logged. */
  async until<T>(
    ask: () => Promise<T>,
    isGood: (answer: T) => boolean | Promise<boolean>,
    what: string,
    withinMs: number,
  ): Promise<T> {
    let last: T | undefined
    const asked = async () => {
      last = await ask()
      return isGood(last)
    }
    await until(asked, (answer) => answer, what, withinMs).catch((error: unknown) => {
      throw new Error(`${String(error)} ${JSON.stringify(last)}\n${this.logTail()}`)
    })
    return last!
  }

  /** True when every network is at the head with all of its deposits. */
  async isAllServed(): Promise<boolean> {
    const { networks } = await this.chains[0]!.expected()
    return (await this.networks()).every(({ network_id, is_synced, synced_block, indexed_deposit_count }) => {
      const { head, depositCount } = networks[network_id]!
      return is_synced && synced_block >= head && indexed_deposit_count === depositCount
    })
  }

  /** How far every network has come, to see whether one moves on. */
  async progress(): Promise<string> {
    const networks = await this.networks()
    return networks.map((one) => `${one.synced_block}/${one.unresolved_senders}`).join(' ')
  }

  /** Within a minute every answer must agree with the present chains, except for the excused ones. */
  async assertRight({ lossy = [], mixesSenders = false }: Excuses = {}): Promise<void> {
    let deadline = Date.now() + 1000 * HEALED_WITHIN_S
    const lastDeadline = Date.now() + 60_000 * LONGEST_MINUTES
    let reached = await this.progress()
    const isExcusing = lossy.length > 0 || mixesSenders
    for (;;) {
      const isPatient = !isExcusing || Date.now() >= deadline
      const waitS = isPatient ? Math.max(1, Math.ceil((deadline - Date.now()) / 1000)) : 1
      const args = ['--service', this.service!.url, '--expected', this.chains[0]!.control, '--strict']
      const { code, output } = await checkAnswers([...args, '--wait', String(waitS)])
      if (code === 0) return assert.match(output, /^[1-9]\d* passed, 0 failed$/m)
      const lines = output.split('\n').filter((line) => !line.startsWith('note'))
      const failures = lines.filter((line) => line.startsWith('FAIL'))
      const expected = await this.chains[0]!.expected()
      const isExcused = (line: string): boolean =>
        (mixesSenders && MIXED_SENDERS.test(line)) || isBeyondKnowing(lossy, line, expected)
      if (failures.length > 0 && failures.every(isExcused)) return
      if (Date.now() < deadline) continue
      const now = await this.progress()
      // A sender that got its fallback is asked for again ever more rarely, while half of the answers are still spoilt.
      const isCorrecting = failures.length > 0 && failures.every((line) => MIXED_SENDERS.test(line))
      if ((now !== reached || isCorrecting) && Date.now() < lastDeadline) {
        reached = now
        deadline = Date.now() + 1000 * HEALED_WITHIN_S
        continue
      }
      const told = JSON.stringify(await this.networks())
      assert.fail(`${lines.slice(0, 12).join('\n')}\n${told}\n${this.logTail()}`)
    }
  }

  /** Nothing that the service answers now may be false. */
  async assertHonest(): Promise<void> {
    const lies = await findLies(this.service!, await this.chains[0]!.expected())
    assert.deepEqual(lies, [], this.logTail())
  }

  logTail(lines = 12): string {
    return (this.service?.stderr ?? []).slice(-lines).join('\n')
  }
}

const MIXED_SENDERS =
  /^FAIL bridges: network \d+: deposit \d+ origin_address is of one kind everywhere — caller and sender mixed$/
const REFUSED_PROOF = /^FAIL proof: (\d+)#\d+ with leaf (\d+): .* — 404 .*"PROOF_NOT_AVAILABLE"/

/** True when what failed is a proof of `networks` under a root that their deposits, as the chains have them now, never made. */
function isBeyondKnowing(networks: readonly number[], failure: string, expected: ExpectedNow): boolean {
  const [, source, leaf] = REFUSED_PROOF.exec(failure) ?? []
  const network = Number(source)
  const rollupExitRoot = expected.l1InfoLeaves[Number(leaf)]?.rollupExitRoot
  const version = expected.rollupExitRoots.findIndex((settled) => settled.rollupExitRoot === rollupExitRoot)
  const settled = expected.rollupExitRoots.slice(0, version + 1).findLast((one) => one.rollupId === network)
  const isMade = expected.bridges.some(
    ({ sourceNetwork, rootAfter }) => sourceNetwork === network && rootAfter === settled?.exitRoot,
  )
  return networks.includes(network) && settled !== undefined && !isMade
}

function tomlOf(dataDir: string, chains: readonly ReplayChains[], settings: NetworkSettings): string {
  const tables = Object.values(chains[0]!.networks).map((network) => {
    const urls = chains.map((server) => `"${server.networks[network.networkId]!.rpc}"`)
    return `
[[networks]]
network_id = ${network.networkId}
chain_id = ${network.chainId}
rpc = [${urls.join(', ')}]
bridge = "${network.bridge}"
global_exit_root_manager = "${network.globalExitRootManager}"
${network.rollupManager === undefined ? '' : `rollup_manager = "${network.rollupManager}"`}
start_block = ${network.startBlock}
finality = "${settings.finality ?? 'latest'}"
poll_interval_ms = 50
rpc_timeout_ms = ${settings.rpcTimeoutMs ?? 1_500}
log_range = ${settings.logRange ?? 1_000}
`
  })
  const head = `data_dir = "${dataDir}"\nprimary_network = 1\n[http]\nport = 0\ndrain_delay_ms = 0\n[ops]\nport = 0\n[pool]\nworkers = 1\n`
  return head + tables.join('')
}
