import { existsSync } from 'node:fs'
import type { ChainClient } from '../../chain/chainClient.types.js'
import { createChainClient } from '../../chain/client/chainClient.js'
import type { NetworkConfig } from '../../config/config.types.js'
import { FatalError, RetryableError } from '../../errors/chainErrors.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import { encodeHex } from '../../protocol/hex.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import { readCounters } from '../../shard/position/chainPosition.js'
import { type L1InfoGerReader, l1ShardReaderOf } from '../../shard/readiness/l1ShardReader.js'
import { type ComparableState, readComparableState, verifyShard } from '../../shard/verify/verifyShard.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreSnapshot } from '../../store/shardStore.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { checkIdentity } from '../../store/storeIdentity.js'
import { createLogger } from '../../telemetry/logger.js'
import { type CheckOutcome, compareState } from './compareState.js'

/** Longest time to compare a network with its contracts; longer when every claim is compared. */
const CHAIN_TIMEOUT_MS = 30_000
const DEEP_TIMEOUT_MS = 30 * 60_000

export interface NetworkReport {
  readonly network_id: number
  /** Checkpoint of the snapshot that was checked; null when no block is stored. */
  readonly block: number | null
  readonly checks: readonly CheckOutcome[]
}

export interface VerifyOptions {
  readonly dataDir: string
  readonly network: NetworkConfig
  readonly hasher: TreeHasher
  readonly isDeep: boolean
  /** Whether the store is compared with the contract, too. */
  readonly asksChain: boolean
  /** All configured networks. */
  readonly networkIds: readonly number[]
  /** Is called as it goes on. @param share 0 to 1. */
  readonly onProgress: (share: number, what: string) => void
}

/** Share of the store in the whole: the comparison with the contracts is the rest. */
const STORE_SHARE = 0.8

/**
 * Checks one network's shard in one snapshot, then compares it with the contract.
 * @throws FatalError when there is no shard, or it was made for another network.
 */
export async function verifyNetwork(options: VerifyOptions): Promise<NetworkReport> {
  const { dataDir, network, hasher, isDeep, asksChain, onProgress } = options
  const networkId = asNetworkId(network.networkId)
  const directory = shardDirectory(dataDir, networkId)
  const store = openShardStoreSnapshot(directory)
  const checks: CheckOutcome[] = []
  let stored: ComparableState | undefined
  try {
    store.refresh()
    checkIdentity(store, network, directory)
    const onCheck = (name: string, done: number, all: number) => onProgress((STORE_SHARE * done) / all, name)
    for (const { name, isGood, detail } of verifyShard(store, networkId, hasher, isDeep, onCheck))
      checks.push({ name, outcome: isGood ? 'good' : 'damaged', detail })
    stored = readComparableState(store, networkId, hasher)
    onProgress(STORE_SHARE, 'contracts')
    if (asksChain && stored !== undefined) checks.push(...(await compareWithContract(options, store, stored)))
  } finally {
    store.release()
    await store.close()
  }
  return { network_id: networkId, block: stored?.checkpoint.number ?? null, checks }
}

async function compareWithContract(
  options: VerifyOptions,
  view: ReadView,
  stored: ComparableState,
): Promise<CheckOutcome[]> {
  const { network, isDeep } = options
  const logger = createLogger({ level: 'error', format: 'json' }, { component: 'verify' })
  const client = createChainClient({ network, logger })
  const limitMs = isDeep ? DEEP_TIMEOUT_MS : CHAIN_TIMEOUT_MS
  const signal = AbortSignal.timeout(limitMs)
  const failed = (error: unknown): CheckOutcome[] => {
    const name = 'contract'
    if (error instanceof FatalError) return [{ name, outcome: 'damaged', detail: error.message }]
    if (error instanceof RetryableError) return [{ name, outcome: 'skipped', detail: error.message }]
    const detail = `no endpoint answered within ${limitMs / 1000} s`
    if (signal.aborted) return [{ name, outcome: 'skipped', detail }]
    throw error
  }
  try {
    const trees = await compareTrees(client, stored, signal)
    if (!isDeep || trees.outcome !== 'good') return [trees]
    return [trees, ...(await compareDeep(options, view, client, stored, signal))]
  } catch (error) {
    return failed(error)
  } finally {
    client.close()
  }
}

async function compareDeep(
  { dataDir, network, hasher, networkIds }: VerifyOptions,
  view: ReadView,
  client: ChainClient,
  { checkpoint }: ComparableState,
  signal: AbortSignal,
): Promise<CheckOutcome[]> {
  const indexedDeposits = new Map<NetworkId, number>()
  let leaves: L1InfoGerReader | undefined
  try {
    for (const networkId of networkIds) {
      const directory = shardDirectory(dataDir, networkId)
      if (networkId === network.networkId || !existsSync(directory)) continue
      const other = openShardStoreSnapshot(directory)
      other.refresh()
      indexedDeposits.set(asNetworkId(networkId), readCounters(other).deposits)
      other.release()
      if (networkId === L1_NETWORK_ID) leaves = l1ShardReaderOf(other, hasher)
      else await other.close()
    }
    return await compareState({ network, view, hasher, client, checkpoint, indexedDeposits, leaves }, signal)
  } finally {
    await leaves?.close()
  }
}

async function compareTrees(
  client: ChainClient,
  { checkpoint, deposits, localExitRoot }: ComparableState,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const name = 'contract'
  const block = checkpoint.number
  const skipped = (detail: string): CheckOutcome => ({ name, outcome: 'skipped', detail })
  const damaged = (detail: string): CheckOutcome => ({ name, outcome: 'damaged', detail })
  const header = await client.getHeader(block, signal)
  if (header === undefined || !equalBytes(header.hash, checkpoint.hash))
    return skipped(`the chain has another block ${block}: a reorg that is not followed yet`)
  const count = await client.getContractDepositCount(block, signal)
  const root = await client.getContractLocalExitRoot(block, signal)
  if (count !== undefined && count !== deposits)
    return damaged(`depositCount() at block ${block} is ${count}, ${deposits} are indexed`)
  if (root !== undefined && !equalBytes(root, localExitRoot))
    return damaged(`getRoot() at block ${block} is ${encodeHex(root)}, ours is ${encodeHex(localExitRoot)}`)
  if (count === undefined || root === undefined) return skipped(`no endpoint has the state of block ${block}`)
  return { name, outcome: 'good', detail: `getRoot() and depositCount() at block ${block}` }
}
