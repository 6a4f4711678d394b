import { openEndpoint } from '../../chain/probe/openEndpoint.js'
import { isRevert, RpcFailure } from '../../chain/rpc/rpcFailure.js'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { OperatorError } from '../../errors/operatorError.js'
import type { Logger } from '../../telemetry/logger.js'
import type { Check, Finding } from './doctorChecks.js'

export interface EndToEndOptions {
  readonly config: Config
  /** Address of the running service's API. */
  readonly url: string
  readonly logger: Logger
}

/** The service gives up by itself after `http.deadline_ms`, 10 s. */
const LONGEST_WAIT_MS = 30_000

/**
 * One check for each network: the newest of its deposits that has a proof is claimed on the bridge of its destination, as a call that changes
 * nothing. The bridge checks the proof before it looks whether the deposit was claimed, so that claimed ones show as much as others.
 */
export function endToEndChecks(options: EndToEndOptions): Check[] {
  return options.config.networks.map(({ networkId }) => ({
    what: `end to end, network ${networkId}`,
    run: () => checkNewest(options, networkId),
  }))
}

interface Deposit {
  readonly deposit_count: number
  readonly destination_network: number
}

interface ClaimCall {
  readonly to: string
  readonly data: string
}

async function checkNewest({ config, url, logger }: EndToEndOptions, networkId: number): Promise<Finding> {
  const served = new Set(config.networks.map((network) => network.networkId))
  const deposit = await newestDeposit(url, networkId, served)
  if (deposit === undefined)
    return {
      outcome: 'warn',
      detail: 'no deposit for a configured network is ready or claimed: nothing to try',
    }
  const { deposit_count: count, destination_network: destination } = deposit
  const call = await ask<ClaimCall>(
    url,
    `/bridge/v1/claim-transaction?network_id=${networkId}&deposit_count=${count}`,
  )
  const network = config.networks.find((candidate) => candidate.networkId === destination)!
  const verdict = await callBridge(network, call, logger)
  return {
    outcome: 'ok',
    detail: `deposit ${count} for network ${destination}: the bridge takes the proof (${verdict})`,
  }
}

async function newestDeposit(
  url: string,
  networkId: number,
  served: ReadonlySet<number>,
): Promise<Deposit | undefined> {
  const found: Deposit[] = []
  for (const state of ['ready_for_claim=true', 'claimed=true'])
    for (const destination of served) {
      const path = `/bridge/v1/bridges?network_id=${networkId}&network_ids=${destination}&${state}&page_size=1`
      found.push(...(await ask<{ readonly bridges: readonly Deposit[] }>(url, path)).bridges)
    }
  return found.toSorted((one, other) => other.deposit_count - one.deposit_count)[0]
}

async function ask<T>(url: string, path: string): Promise<T> {
  let response: Response
  try {
    response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(LONGEST_WAIT_MS) })
  } catch {
    throw new OperatorError('the service does not answer')
  }
  if (response.status !== 200) throw new OperatorError(`the service answered ${response.status} to ${path}`)
  return (await response.json()) as T
}

/** What a bridge says only when the proof is right: it looks at the proof first, then whether the deposit was claimed, then pays or calls. */
const AFTER_THE_PROOF: Readonly<Record<string, string>> = {
  '0x646cf558': 'AlreadyClaimed',
  '0x37e391c3': 'MessageFailed',
  '0x6747a288': 'EtherTransferFailed',
}

/** What it says of a proof that is wrong, or that it does not know the root of. */
const ABOUT_THE_PROOF: Readonly<Record<string, string>> = {
  '0xe0417cec': 'InvalidSmtProof',
  '0x002f6fad': 'GlobalExitRootInvalid',
  '0x0595ea2e': 'DestinationNetworkInvalid',
  '0x071389e9': 'InvalidGlobalIndex',
}

/** @returns what the bridge says. @throws OperatorError when it refuses the proof, or no endpoint answers. */
async function callBridge(network: NetworkConfig, { to, data }: ClaimCall, logger: Logger): Promise<string> {
  const failures: string[] = []
  for (const [position, config] of network.rpc.entries()) {
    const endpoint = openEndpoint(network, position, logger)
    if (!endpoint.serves('state')) continue
    try {
      await endpoint.call('eth_call', [{ to, data }, 'latest'], AbortSignal.timeout(network.rpcTimeoutMs))
      return 'the claim would succeed'
    } catch (error) {
      if (error instanceof RpcFailure && isRevert(error)) return verdictOf(error)
      failures.push(`${config.alias}: ${error instanceof RpcFailure ? error.message : 'no answer in time'}`)
    }
  }
  throw new OperatorError(`no endpoint of network ${network.networkId} tells: ${failures.join('; ')}`)
}

function verdictOf(failure: RpcFailure): string {
  const { text } = failure.providerWords()
  const named = (errors: Readonly<Record<string, string>>): string | undefined =>
    Object.entries(errors).find(([selector, name]) => text.includes(selector) || text.includes(name))?.[1]
  const after = named(AFTER_THE_PROOF)
  if (after !== undefined) return after
  const about = named(ABOUT_THE_PROOF)
  throw new OperatorError(
    about === undefined
      ? 'the bridge refuses the claim for a reason that is none of its usual ones'
      : `the bridge refuses the proof: ${about}`,
  )
}
