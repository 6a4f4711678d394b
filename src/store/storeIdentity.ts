import type { NetworkConfig } from '../config/config.types.js'
import { FatalError } from '../errors/chainErrors.js'
import { metaKey } from './layout/keys.js'
import { decodeUint32, encodeUint32 } from './layout/smallRows.js'
import type { ReadView, ShardStoreWriter } from './shardStore.types.js'

/**
 * Version of the tables' layout. It grows with each change that older builds can't read, or that makes older stores be indexed again, or
 * that older builds would not go on with: they would change a store and not tell its feed. 6 was that of a store that follows a log, in
 * builds without feeds, of which no service could have one.
 */
export const SCHEMA_VERSION = 8

/** What a store was made for, as `meta` has it: network, chain and contracts. */
export type Identity = Readonly<Record<string, string | number>>

/** Schema version and identity of a store, and whether it follows the log of a cluster; undefined for a new one. */
export function readIdentity(
  view: Pick<ReadView, 'get'>,
): { readonly schema: number; readonly identity: Identity; readonly followsLog: boolean } | undefined {
  const schema = view.get('meta', metaKey('schema'))
  if (schema === undefined) return undefined
  // Before the next read, which overwrites its bytes.
  const version = decodeUint32(schema)
  const stored = view.get('meta', metaKey('identity'))
  const identity: Identity = stored === undefined ? {} : JSON.parse(Buffer.from(stored).toString())
  return { schema: version, identity, followsLog: view.get('meta', metaKey('log')) !== undefined }
}

function identityOf(network: NetworkConfig): Identity {
  return {
    network_id: network.networkId,
    chain_id: network.chainId,
    bridge: network.bridge,
    global_exit_root_manager: network.globalExitRootManager,
    rollup_manager: network.rollupManager ?? '',
    start_block: network.startBlock,
  }
}

/** Writes the network's identity into a new store, or checks that of an existing one. @throws as `checkIdentity`. */
export function ensureIdentity(store: ShardStoreWriter, network: NetworkConfig, directory: string): void {
  if (checkIdentity(store, network, directory)) return
  store.transact((view) => {
    view.put('meta', metaKey('schema'), encodeUint32(SCHEMA_VERSION))
    view.put('meta', metaKey('identity'), Buffer.from(JSON.stringify(identityOf(network))))
  })
}

/**
 * Refuses a store that was made for another network or other contracts: their rows would mix with this network's unnoticed.
 * @returns false for a new store that has no identity yet.
 * @throws FatalError, one line, naming each difference.
 */
export function checkIdentity(
  view: Pick<ReadView, 'get'>,
  network: NetworkConfig,
  directory: string,
): boolean {
  const stored = readIdentity(view)
  if (stored === undefined) return false
  const { schema, identity } = stored
  const again = `index again with \`bds reindex --network ${network.networkId}\``
  if (schema !== SCHEMA_VERSION) {
    const remedy = schema < SCHEMA_VERSION ? `bring it up to date with \`bds upgrade\`, or ${again}` : again
    throw new FatalError(
      `${directory} has schema version ${schema}, this build reads ${SCHEMA_VERSION}: ${remedy}`,
    )
  }
  const difference = differenceFrom(network, identity)
  if (difference !== undefined)
    throw new FatalError(`${directory} was made for ${difference}: choose another data_dir, or ${again}`)
  return true
}

/**
 * Refuses to write into a store whose changes come from somewhere else: from a log that the configuration does not name, or from the chain
 * alone, where the log's first command would find what no other instance has.
 * @throws FatalError, one line.
 */
export function assertWrittenBy(
  view: Pick<ReadView, 'get'>,
  isInCluster: boolean,
  { networkId }: NetworkConfig,
  directory: string,
): void {
  const followsLog = view.get('meta', metaKey('log')) !== undefined
  const elsewhere = `choose another data_dir, or index again with \`bds reindex --network ${networkId}\``
  if (followsLog && !isInCluster)
    throw new FatalError(
      `${directory} follows the log of a cluster, and cluster.servers is empty: configure them, ${elsewhere}`,
    )
  const holds = (['checkpoint', 'catchingUp', 'haltReason'] as const).some(
    (name) => view.get('meta', metaKey(name)) !== undefined,
  )
  if (!followsLog && isInCluster && holds)
    throw new FatalError(
      `${directory} was indexed without a cluster, and its log can't follow on that: ${elsewhere}, which takes all of it from the log`,
    )
}

/** What a stored identity has otherwise than the configuration, in words; undefined when they are equal. */
export function differenceFrom(network: NetworkConfig, identity: Identity): string | undefined {
  const differences = Object.entries(identityOf(network))
    .filter(([field, value]) => identity[field] !== value)
    .map(([field, value]) => `${field} ${identity[field]} (configured: ${value})`)
  return differences.length === 0 ? undefined : differences.join(', ')
}
