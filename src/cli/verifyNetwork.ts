import { createChainClient } from '../chain/chainClient.js'
import type { NetworkConfig } from '../config/config.types.js'
import { FatalError, RetryableError } from '../errors/chainErrors.js'
import type { TreeHasher } from '../merkle/hasher.js'
import { encodeHex } from '../protocol/hex.js'
import { asNetworkId } from '../protocol/units.js'
import { readShardClaims, type ShardClaims, verifyShard } from '../shard/verify/verifyShard.js'
import { equalBytes } from '../store/codecs/bytes.js'
import { checkIdentity } from '../store/identity.js'
import { shardDirectory } from '../store/shardDirectory.js'
import { openShardStoreSnapshot } from '../store/shardStore.js'
import { createLogger } from '../telemetry/logger.js'

/** Longest time that a chain may take to answer. */
const CHAIN_TIMEOUT_MS = 30_000

/** How one check ended; `skipped`: it could not be made, which says nothing about the data. */
export interface CheckOutcome {
  readonly name: string
  readonly outcome: 'good' | 'damaged' | 'skipped'
  readonly detail: string
}

export interface NetworkReport {
  readonly network_id: number
  /** Checkpoint of the snapshot that was looked at; null before the first. */
  readonly block: number | null
  readonly checks: readonly CheckOutcome[]
}

export interface VerifyOptions {
  readonly dataDir: string
  readonly network: NetworkConfig
  readonly hasher: TreeHasher
  readonly isDeep: boolean
  /** Whether the contract is asked too. */
  readonly asksChain: boolean
}

/**
 * Checks one network's shard in one snapshot, then compares it with the contract. @throws FatalError when there is no shard,
 * or it was made for another network.
 */
export async function verifyNetwork(options: VerifyOptions): Promise<NetworkReport> {
  const { dataDir, network, hasher, isDeep, asksChain } = options
  const networkId = asNetworkId(network.networkId)
  const directory = shardDirectory(dataDir, networkId)
  const store = openShardStoreSnapshot(directory)
  const checks: CheckOutcome[] = []
  let claims: ShardClaims | undefined
  try {
    store.refresh()
    checkIdentity(store, network, directory)
    for (const { name, isGood, detail } of verifyShard(store, networkId, hasher, isDeep))
      checks.push({ name, outcome: isGood ? 'good' : 'damaged', detail })
    claims = readShardClaims(store, networkId, hasher)
  } finally {
    store.release()
    await store.close()
  }
  if (asksChain && claims !== undefined) checks.push(await compareWithContract(network, claims))
  return { network_id: networkId, block: claims?.checkpoint.number ?? null, checks }
}

async function compareWithContract(network: NetworkConfig, claims: ShardClaims): Promise<CheckOutcome> {
  const name = 'contract'
  const { checkpoint, deposits, localExitRoot } = claims
  const block = checkpoint.number
  const logger = createLogger({ level: 'error', format: 'json' }, { component: 'verify' })
  const client = createChainClient({ network, logger })
  const signal = AbortSignal.timeout(CHAIN_TIMEOUT_MS)
  const skipped = (detail: string): CheckOutcome => ({ name, outcome: 'skipped', detail })
  try {
    const header = await client.getHeader(block, signal)
    if (header === undefined || !equalBytes(header.hash, checkpoint.hash))
      return skipped(`the chain has another block ${block}: a reorg that is not followed yet`)
    const count = await client.getContractDepositCount(block, signal)
    const root = await client.getContractLocalExitRoot(block, signal)
    if (count !== undefined && count !== deposits)
      return {
        name,
        outcome: 'damaged',
        detail: `depositCount() at block ${block} is ${count}, ${deposits} are indexed`,
      }
    if (root !== undefined && !equalBytes(root, localExitRoot))
      return {
        name,
        outcome: 'damaged',
        detail: `getRoot() at block ${block} is ${encodeHex(root)}, ours is ${encodeHex(localExitRoot)}`,
      }
    if (count === undefined || root === undefined)
      return skipped(`no endpoint has the state of block ${block}`)
    return { name, outcome: 'good', detail: `getRoot() and depositCount() at block ${block}` }
  } catch (error) {
    if (error instanceof FatalError) return { name, outcome: 'damaged', detail: error.message }
    if (error instanceof RetryableError) return skipped(error.message)
    if (signal.aborted) return skipped(`no endpoint answered within ${CHAIN_TIMEOUT_MS / 1000} s`)
    throw error
  } finally {
    client.close()
  }
}
