import type { Endpoint } from '../../chain/endpoints/endpoint.js'
import { readHead } from '../../chain/endpoints/readBlocks.js'
import { isRevert, RpcFailure } from '../../chain/rpc/rpcFailure.js'
import type { NetworkConfig } from '../../config/config.types.js'
import { systemClock } from '../../telemetry/clocks.js'
import { spellSeconds } from '../input/progressBar.js'
import type { Check, Finding } from './doctorChecks.js'

/** Clocks of machines that keep time agree by far better; a block may be dated a little ahead of its making. */
const MOST_AHEAD_MS = 15_000
/** A full node keeps the state of 128 blocks. */
const OLD_STATE_DEPTH = 10_000

/** What an endpoint shows of this machine's clock, and how far back it has state. It must be known to serve the network's chain. */
export function endpointChecks(network: NetworkConfig, endpoint: Endpoint, signal: AbortSignal): Check[] {
  const { alias } = endpoint
  return [
    { what: `${alias}, clock`, run: () => clockFinding(network, endpoint, signal) },
    ...(endpoint.serves('state')
      ? [{ what: `${alias}, old state`, run: () => oldState(network, endpoint, signal) }]
      : []),
  ]
}

async function clockFinding(
  { stalledAfterMs }: NetworkConfig,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Finding> {
  const { timestampSec } = await readHead(endpoint, signal)
  const ageMs = systemClock.unixMs() - timestampSec * 1_000
  if (ageMs < -MOST_AHEAD_MS)
    return {
      outcome: 'warn',
      detail: `the newest block is dated ${spellSeconds(-ageMs / 1_000)} from now: this machine's clock is slow, so ages and bds_head_age_seconds are too small`,
    }
  const age = `the newest block is ${spellSeconds(Math.max(0, ageMs) / 1_000)} old`
  return stalledAfterMs > 0 && ageMs > stalledAfterMs
    ? {
        outcome: 'warn',
        detail: `${age}: the chain or this endpoint stands still, or this machine's clock is fast`,
      }
    : { outcome: 'ok', detail: age }
}

async function oldState(
  { bridge, startBlock }: NetworkConfig,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Finding> {
  const { number: head } = await readHead(endpoint, signal)
  const block = head - OLD_STATE_DEPTH
  if (block < startBlock)
    return { outcome: 'ok', detail: `not asked: fewer than ${OLD_STATE_DEPTH} blocks since start_block` }
  try {
    await endpoint.call('eth_getBalance', [bridge, `0x${block.toString(16)}`], signal)
  } catch (error) {
    if (!(error instanceof RpcFailure) || !(error.kind === 'rpc' || error.kind === 'http') || isRevert(error))
      throw error
    return {
      outcome: 'warn',
      detail: `refused ${OLD_STATE_DEPTH} blocks below the head: no archive node. It can't compare stores that have stood still or come from a backup, nor tell callers of old transactions`,
    }
  }
  return { outcome: 'ok', detail: `answered ${OLD_STATE_DEPTH} blocks below the head` }
}
