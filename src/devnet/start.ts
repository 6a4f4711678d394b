import { once } from 'node:events'
import { createServer } from 'node:net'
import type { RunningService, StartService } from '../service/service.types.js'
import { createLogger } from '../telemetry/logger.js'
import { createApiClient } from './apiClient.js'
import { type Devnet, startDevnet } from './devnet.js'
import { DevnetError } from './devnetError.js'
import { announceDevnet, removeDeadDevnets } from './runningDevnets.js'
import { playScenario } from './scenario.js'
import { devnetServiceConfig, type ServicePorts } from './serviceConfig.js'
import { startMessage } from './startMessages.js'
import { startTraffic } from './traffic.js'

export interface StartOptions extends ServicePorts {
  /** Time between two rounds of traffic; 0: no traffic. */
  readonly roundMs: number
  /** How this program is called, for the printed commands. */
  readonly command: string
}

export interface StartTools {
  readonly startService: StartService
  /** Takes the lines for the person. */
  readonly print: (line: string) => void
  /** Aborted when the person wants it to end. */
  readonly signal: AbortSignal
}

/**
 * `bds start`: runs chains, scenario, service and traffic until `signal` says stop, then ends all of them.
 * @returns undefined after a wanted end, else the reason why it could not go on.
 * @throws DevnetError when it can't start; whatever ran is stopped again.
 */
export async function runStart(options: StartOptions, tools: StartTools): Promise<string | undefined> {
  await assertPortFree(options.httpPort, '--port')
  await assertPortFree(options.opsPort, '--ops-port')
  removeDeadDevnets()

  tools.print('Starting three chains and deploying the contracts')
  const devnet = await startDevnet()
  try {
    if (tools.signal.aborted) return undefined
    tools.print('Playing a scenario: deposits, settlements, injections, claims')
    await playScenario(devnet)
    if (tools.signal.aborted) return undefined
    tools.print('Starting the service on it')
    const config = devnetServiceConfig(devnet, options)
    const service = await tools.startService({
      config,
      logger: createLogger(config.log),
      announce: tools.print,
    })
    try {
      return await serve(devnet, service, options, tools)
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
): Promise<string | undefined> {
  const { url: serviceUrl, opsUrl } = service
  const ended = Promise.race([devnet.failed, service.failed.then(({ message }) => message), abortOf(signal)])
  const early = await Promise.race([ended, service.caughtUp.then(() => 'caught up' as const)])
  if (early !== 'caught up') return early

  const api = createApiClient(serviceUrl)
  announceDevnet(devnet, { serviceUrl, opsUrl })
  print(await startMessage(api, { ...options, opsUrl }))
  if (options.roundMs === 0) return ended

  const traffic = startTraffic(devnet, api, options.roundMs)
  const trafficEnded = traffic.done.catch((error: unknown) => {
    // A chain or a service that ended says so itself, and better.
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

/** Tells before anything starts, and without the race that two services on one shared port would run. */
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
