import type { NetworkConfig } from '../../config/config.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { exitCodes } from '../../service/exitCodes.js'
import { OLDEST_UPGRADABLE, SCHEMA_OF_LOGS, upgradeShard } from '../../shard/upgrade/upgradeShard.js'
import { fileBytesOf, shardDirectory } from '../../store/shardDirectory.js'
import { openFault, openShardStoreWriter } from '../../store/shardStore.js'
import { differenceFrom, readIdentity, SCHEMA_VERSION } from '../../store/storeIdentity.js'
import { publicJson, publicLines } from '../../telemetry/visibleText.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'
import { otherFlagsHelp } from '../input/arguments.js'
import type { Verb } from '../input/verb.js'
import { chosenNetworks } from './chosenNetworks.js'
import { inLockedFolder, readStoreArguments } from './storeVerb.js'

/** `bds upgrade`: brings the stores of an older build to the schema of this one, in place. */
export const upgrade: Verb = {
  help: [
    'Usage: bds upgrade --config FILE [--network N] [--json] [flags]',
    '',
    "Brings stores of an older schema to this build's, in place and without the chain: each network in one transaction, so that a store is of one",
    'schema or the other, whenever the command ends. Stop the service before, and make a backup with the build that made the stores, or copy the data',
    'folder: older builds refuse what was upgraded. Where a store is too old, it says so, and `bds reindex` is the way.',
    '',
    '  --network N    upgrade this network only',
    '  --json         one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, config, isJson } = readStoreArguments(args, { network: { type: 'string' } })
    const networks = chosenNetworks(config, values)
    const hasher = createHasher(compileMerkleModule())
    const results: Result[] = []
    await inLockedFolder(config, 'write', async (progress) => {
      for (const [at, network] of networks.entries()) {
        const onProgress = (share: number, what: string) =>
          progress.show((at + share) / networks.length, `network ${network.networkId}: ${what}`)
        results.push(
          await upgradeNetwork(
            network,
            shardDirectory(config.dataDir, network.networkId),
            hasher,
            onProgress,
          ),
        )
        progress.clear()
        if (!isJson) console.log(publicLines(tell(results.at(-1)!)))
      }
    })
    if (isJson) console.log(publicJson({ schema: SCHEMA_VERSION, networks: results }))
    return exitCodes.ok
  },
}

interface Result {
  readonly network_id: number
  /** Schema before; null where nothing is stored. */
  readonly from_schema: number | null
  /** Rows whose sender is not known and is asked for by the next run. */
  readonly unknown_senders: number
}

/** @throws FatalError, one line, for a store that can't be upgraded; it is unchanged then. */
async function upgradeNetwork(
  network: NetworkConfig,
  directory: string,
  hasher: TreeHasher,
  onProgress: (share: number, what: string) => void,
): Promise<Result> {
  const { networkId } = network
  const nothing = { network_id: networkId, from_schema: null, unknown_senders: 0 }
  if (fileBytesOf(directory) === 0) return nothing
  let schema = SCHEMA_VERSION
  let store: ReturnType<typeof openShardStoreWriter>
  try {
    store = openShardStoreWriter(directory, undefined, (meta) => {
      const stored = readIdentity(meta)
      if (stored === undefined) return
      schema = stored.schema
      assertUpgradable(network, directory, stored)
      if (stored.schema < SCHEMA_VERSION && stored.followsLog)
        throw new FatalError(
          `${directory} follows the log of a cluster, and instances that were upgraded at different places of it would differ: take its store anew with \`bds reindex --network ${networkId}\``,
        )
    })
  } catch (error) {
    throw openFault(directory, error)
  }
  try {
    if (schema === SCHEMA_VERSION) return { ...nothing, from_schema: schema }
    const { unknownSenders } = upgradeShard(store, hasher, onProgress)
    return { network_id: networkId, from_schema: schema, unknown_senders: unknownSenders }
  } finally {
    await store.close()
  }
}

function assertUpgradable(
  network: NetworkConfig,
  directory: string,
  { schema, identity }: NonNullable<ReturnType<typeof readIdentity>>,
): void {
  const difference = differenceFrom(network, identity)
  if (difference !== undefined)
    throw new FatalError(`${directory} was made for ${difference}: nothing was upgraded`)
  const again = `read the network from the chain again with \`bds reindex --network ${network.networkId}\``
  if (schema < OLDEST_UPGRADABLE)
    throw new FatalError(
      `${directory} has schema version ${schema}, whose rows this build can't read (it upgrades from ${OLDEST_UPGRADABLE} on): ${again}`,
    )
  if (schema === SCHEMA_OF_LOGS)
    throw new FatalError(
      `${directory} has schema version ${schema}, that of a log without a feed, which only the log itself can tell: ${again}`,
    )
  if (schema > SCHEMA_VERSION)
    throw new FatalError(
      `${directory} has schema version ${schema}, later than this build's ${SCHEMA_VERSION}: use the build that made it, or ${again}`,
    )
}

function tell({ network_id, from_schema, unknown_senders }: Result): string {
  if (from_schema === null) return `network ${network_id}: nothing is stored`
  if (from_schema === SCHEMA_VERSION) return `network ${network_id}: has schema ${SCHEMA_VERSION} already`
  const asked = unknown_senders === 0 ? '' : `; the next run asks for ${unknown_senders} unknown senders`
  return `network ${network_id}: upgraded from schema ${from_schema} to ${SCHEMA_VERSION}${asked}`
}
