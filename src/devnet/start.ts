import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/config.types.js'
import type { RunningService, StartService } from '../service/service.types.js'
import { createLogger } from '../telemetry/logger.js'
import { type ApiClient, type BridgeAnswer, createApiClient } from './apiClient.js'
import { type Devnet, startDevnet } from './devnet.js'
import { DevnetError } from './devnetError.js'
import { DevnetCluster, type OtherInstance } from './instances.js'
import { announceDevnet, removeDeadDevnets } from './runningDevnets.js'
import { playScenario } from './scenario.js'
import { devnetServiceConfig, type ServicePorts } from './serviceConfig.js'
import { startTraffic } from './traffic.js'

export interface StartOptions extends ServicePorts {
  /** Time between two rounds of traffic; 0: no traffic. */
  readonly roundMs: number
  /** How this program is called, for the printed commands. */
  readonly command: string
  /** Three instances that share logs on a NATS server, two of which are processes of their own. Absent: one, without. */
  readonly cluster?: {
    /** Program and arguments that run `bds`. */
    readonly program: readonly [string, ...string[]]
  }
}

export interface StartTools {
  readonly startService: StartService
  /** Takes lines for the user. */
  readonly print: (line: string) => void
  /** Aborted when the devnet is to end. */
  readonly signal: AbortSignal
}

/**
 * `bds start`: runs chains, scenario, service and traffic until `signal` is aborted, then ends all of them.
 * @returns undefined after an abort, else the reason why it could not go on.
 * @throws DevnetError when it can't start; what was started is stopped again.
 */
export async function runStart(options: StartOptions, tools: StartTools): Promise<string | undefined> {
  await assertPortFree(options.httpPort, '--port')
  await assertPortFree(options.opsPort, '--ops-port')
  removeDeadDevnets()

  const cluster = options.cluster === undefined ? undefined : await DevnetCluster.start()
  try {
    return await runChains(options, tools, cluster)
  } finally {
    await cluster?.stop()
  }
}

async function runChains(
  options: StartOptions,
  tools: StartTools,
  cluster: DevnetCluster | undefined,
): Promise<string | undefined> {
  tools.print('Starting three chains and deploying the contracts')
  const devnet = await startDevnet()
  try {
    if (tools.signal.aborted) return undefined
    tools.print('Playing a scenario: deposits, settlements, injections, claims')
    await playScenario(devnet)
    if (tools.signal.aborted) return undefined
    tools.print('Starting the service on it')
    const config = {
      ...devnetServiceConfig(devnet, options),
      ...(cluster === undefined ? {} : { cluster: cluster.settings('first') }),
    }
    const service = await tools.startService({
      config,
      logger: createLogger(config.log),
      announce: tools.print,
    })
    try {
      return await serve(devnet, service, options, tools, cluster, config)
    } finally {
      await service.stop(config.http.drainDelayMs)
    }
  } finally {
    await devnet.stop()
  }
}

async function serve(
  devnet: Devnet,
  service: RunningService,
  options: StartOptions,
  { print, signal }: StartTools,
  cluster: DevnetCluster | undefined,
  config: Config,
): Promise<string | undefined> {
  const { url: serviceUrl, opsUrl } = service
  const ended = Promise.race([
    devnet.failed,
    service.failed.then(({ message }) => message),
    abortOf(signal),
    ...(cluster === undefined ? [] : [cluster.failed]),
  ])
  const early = await Promise.race([ended, service.caughtUp.then(() => 'caught up' as const)])
  if (early !== 'caught up') return early

  const api = createApiClient(serviceUrl)
  announceDevnet(devnet, { serviceUrl, opsUrl })
  const others = await cluster?.startOthers(config, options.cluster!.program, (reason) => {
    if (!signal.aborted) print(`${reason}. Those that are left go on.`)
  })
  print(await startMessage(api, { ...options, opsUrl, others }))
  if (options.roundMs === 0) return ended

  const traffic = startTraffic(devnet, api, options.roundMs)
  const trafficEnded = traffic.done.catch((error: unknown) => {
    // After an abort a fault of the traffic is not worth a line.
    if (!signal.aborted)
      print(`The traffic stopped: ${error instanceof Error ? error.message : String(error)}`)
  })
  const reason = await ended
  traffic.stop()
  await trafficEnded
  return reason
}

function abortOf(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

/** Fails before anything is started if a port is taken. @throws DevnetError. */
async function assertPortFree(port: number, flag: string): Promise<void> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const fact = code === 'EACCES' ? 'may not be used by this user' : 'is taken'
    throw new DevnetError(
      `port ${port} ${fact}: is another devnet running? Choose another one with ${flag} N, or any free one with ${flag} 0`,
      { cause: error },
    )
  }
  server.close()
  await once(server, 'close')
}

/** Deposits for the printed commands; undefined where the devnet has none of the kind. */
interface Examples {
  readonly ready: BridgeAnswer | undefined
  readonly claimed: BridgeAnswer | undefined
  readonly pending: BridgeAnswer | undefined
}

/**
 * The message when the devnet is up: commands to copy, with ids that exist.
 * @param command how this program is called, for the claim command.
 */
async function startMessage(
  api: ApiClient,
  {
    command,
    opsUrl,
    roundMs,
    others,
  }: { command: string; opsUrl: string; roundMs: number; others: readonly OtherInstance[] | undefined },
): Promise<string> {
  const { ready, claimed, pending } = await findExamples(api)
  const get = (path: string): string => `  curl -s '${api.url}${path}'`
  const oneBridge = (bridge: BridgeAnswer): string =>
    get(`/bridge/v1/bridges?network_id=${bridge.origin_network}&deposit_count=${bridge.deposit_count}`)

  const lines = [
    '',
    `  ${api.url}/explorer`,
    '',
    `The devnet is up: an L1 (network 0) and two L2s (networks 1 and 2), served at ${api.url}. The page above shows it.`,
    '',
    'Health, and how far the chains are indexed',
    get('/bridge/v1/'),
    get('/bridge/v1/sync-status'),
    'Bridges, claims and wrapped tokens',
    get('/bridge/v1/bridges?network_id=0&page_size=3'),
    get('/bridge/v1/claims?network_id=1'),
    get('/bridge/v1/token-mappings?network_id=1'),
  ]
  if (claimed !== undefined) lines.push('A bridge that was claimed', oneBridge(claimed))
  if (pending !== undefined) lines.push('A bridge that is not ready yet', oneBridge(pending))
  if (ready !== undefined) {
    const deposit = `network_id=${ready.origin_network}&deposit_count=${ready.deposit_count}`
    lines.push(
      'A bridge that is ready: its record, the L1 info leaf to use, the proof',
      oneBridge(ready),
      get(`/bridge/v1/l1-info-tree-index?${deposit}`),
      get(`/bridge/v1/claim-proof?${deposit}&leaf_index=${ready.l1_info_tree_index}`),
      '',
      `Claim it on the contract of network ${ready.destination_network}, with the proof from the API`,
      `  ${command} devnet claim --network ${ready.origin_network} --deposit ${ready.deposit_count}`,
    )
  }
  if (others !== undefined) lines.push('', ...aboutOthers(others, command))
  lines.push('', `Metrics: ${opsUrl}/metrics`)
  if (roundMs > 0)
    lines.push(
      `From now on there is a deposit every ${roundMs / 1000} s, and sometimes a settlement, an injection or a claim.`,
    )
  lines.push('Ctrl-C stops everything and leaves nothing behind.')
  return lines.join('\n')
}

function aboutOthers(others: readonly OtherInstance[], command: string): string[] {
  return [
    'Two more instances share its logs and give the same answers',
    ...others.map(({ name, url }) => `  ${url}/explorer   the ${name}`),
    'Kill one while you look: another one leads within four seconds what it led (`role` in /bridge/v1/sync-status)',
    ...others.map(({ pid }) => `  kill -9 ${pid}`),
    'Start it again, with its store',
    ...others.map(({ file }) => `  ${command} run --config ${file}`),
  ]
}

async function findExamples(api: ApiClient): Promise<Examples> {
  const bridges: BridgeAnswer[] = []
  for (const networkId of [1, 0, 2]) bridges.push(...(await api.listBridges({ network_id: networkId })))
  return {
    ready: bridges.find(({ ready_for_claim }) => ready_for_claim),
    claimed: bridges.find(({ claim_tx_hash }) => claim_tx_hash !== null),
    pending: bridges.find(({ ready_for_claim, claim_tx_hash }) => !ready_for_claim && claim_tx_hash === null),
  }
}
