import { stat } from 'node:fs/promises'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import { OperatorError } from '../../errors/operatorError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { asNetworkId } from '../../protocol/units.js'
import { exitCodes } from '../../service/exitCodes.js'
import { type ChunkSource, openFolderSource, openTarSource } from '../../snapshot/chunkStore.js'
import {
  assertL1NotOlder,
  decodeManifest,
  MANIFEST_NAME,
  type Manifest,
  type ShardSnapshot,
} from '../../snapshot/manifest.js'
import { readShardFacts, type ShardFacts } from '../../snapshot/shardFacts.js'
import {
  assertOneDisk,
  clearStaging,
  finishPlacing,
  placeStaged,
  stageSet,
} from '../../snapshot/stagedSet.js'
import { endFeed } from '../../store/ensureFeed.js'
import { fileBytesOf, restoreDirectory, shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreSnapshot, openShardStoreWriter } from '../../store/shardStore.js'
import { differenceFrom, SCHEMA_VERSION } from '../../store/storeIdentity.js'
import { publicJson, publicLines } from '../../telemetry/visibleText.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'
import { otherFlagsHelp } from '../input/arguments.js'
import type { ProgressLine } from '../input/progressBar.js'
import { UsageError, type Verb } from '../input/verb.js'
import { inLockedFolder, readStoreArguments } from './storeVerb.js'
import { type NetworkReport, verifyNetwork } from './verifyNetwork.js'

/** `bds restore`: makes stores of a backup, verifies them, and puts them into the data folder. */
export const restore: Verb = {
  help: [
    'Usage: bds restore --config FILE --from DIR|FILE.tar [--replace] [--deep] [--offline] [--json] [flags]',
    '',
    'Makes stores of a backup, verifies them, compares them with the contracts, and puts them into the data folder. Stop the service before.',
    'Ends with 4, and leaves the data folder as it was, when the backup is damaged, of another deployment, or does not agree with the contracts.',
    'When it is interrupted while stores are replaced, `bds run` refuses to start until it has been run again.',
    '',
    '  --from PATH    what `bds backup --to` made',
    '  --replace      replace stores that are already there; without it they are an error',
    '  --deep         verify as `bds verify --deep` does',
    '  --offline      do not compare with the contracts',
    '  --json         one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, switches, config, isJson } = readStoreArguments(args, {
      from: { type: 'string' },
      replace: { type: 'boolean' },
      deep: { type: 'boolean' },
      offline: { type: 'boolean' },
    })
    const { from } = values
    if (from === undefined) throw new UsageError('--from is missing')
    const source = await openSource(from)
    try {
      const manifest = decodeManifest(await source.get(MANIFEST_NAME), from)
      const result = await restoreSet({
        ...{ config, manifest, source },
        hasher: createHasher(compileMerkleModule()),
        mayReplace: switches.has('replace'),
        isDeep: switches.has('deep'),
        asksChain: !switches.has('offline'),
      })
      if (isJson) console.log(publicJson({ from, made_at: manifest.made_at, ...result }))
      else console.log(publicLines(tell(config, from, manifest, result)))
      return exitCodes.ok
    } finally {
      await source.close()
    }
  },
}

interface Options {
  readonly config: Config
  readonly manifest: Manifest
  readonly source: ChunkSource
  readonly hasher: TreeHasher
  readonly mayReplace: boolean
  readonly isDeep: boolean
  readonly asksChain: boolean
}

interface Restored {
  readonly networks: readonly NetworkReport[]
  /** Configured networks that the backup does not have. */
  readonly missing: readonly number[]
  /** Networks of the backup that are not configured. */
  readonly left_out: readonly number[]
}

interface Shard {
  readonly network: NetworkConfig
  readonly networkId: number
  readonly snapshot: ShardSnapshot
}

async function openSource(from: string): Promise<ChunkSource> {
  const found = await stat(from).catch(() => undefined)
  if (found === undefined) throw new OperatorError(`${from} does not exist`)
  return found.isDirectory() ? openFolderSource(from) : openTarSource(from)
}

/** @throws FatalError, OperatorError: one line; the data folder has its old stores then, unless stores were being replaced. */
async function restoreSet(options: Options): Promise<Restored> {
  const { config, manifest } = options
  const shards = chooseShards(options)
  const networks = await inLockedFolder(config, 'write', (progress) =>
    replaceStores(options, shards, progress),
  )
  const restored = shards.map(({ networkId }) => networkId)
  const inBackup = manifest.networks.map(({ network_id }) => network_id)
  return {
    networks,
    missing: config.networks.map(({ networkId }) => networkId).filter((id) => !restored.includes(id)),
    left_out: inBackup.filter((id) => !restored.includes(id)),
  }
}

/** Makes the stores, verifies them and puts them into the locked data folder. @returns what was verified. @throws as `restoreSet`. */
async function replaceStores(
  options: Options,
  shards: readonly Shard[],
  progress: ProgressLine,
): Promise<NetworkReport[]> {
  const { config, hasher, mayReplace } = options
  const { dataDir } = config
  const staging = restoreDirectory(dataDir)
  // A restore that ended while it replaced stores had leave to do so. Its set and this one may have other networks, and are never mixed.
  const isResumed = (await finishPlacing(dataDir)) !== 'none'
  const there = shards.filter(({ networkId }) => fileBytesOf(shardDirectory(dataDir, networkId)) > 0)
  if (there.length > 0 && !mayReplace && !isResumed)
    throw new FatalError(
      `${dataDir} has stores of ${namesOf(there.map(({ networkId }) => networkId))}: nothing was restored; --replace replaces them`,
    )
  assertOneDisk(
    dataDir,
    shards.map(({ networkId }) => networkId),
  )
  await assertFitsTheRest(config, shards, hasher)
  await clearStaging(dataDir)
  const networks = await stage(options, shards, staging, progress).catch(async (error: unknown) => {
    await clearStaging(dataDir)
    throw error
  })
  await placeStaged(
    dataDir,
    shards.map(({ networkId }) => networkId),
  )
  return networks
}

/** The networks that are both configured and in the backup. @throws FatalError when none is, or one is of another deployment or schema. */
function chooseShards({ config, manifest }: Options): Shard[] {
  const shards = config.networks.flatMap((network) => {
    const snapshot = manifest.networks.find(({ network_id }) => network_id === network.networkId)
    return snapshot === undefined ? [] : [{ network, networkId: network.networkId, snapshot }]
  })
  if (shards.length === 0) throw new FatalError('the backup has none of the configured networks')
  for (const { network, networkId, snapshot } of shards) {
    const difference = differenceFrom(network, snapshot.identity)
    if (difference !== undefined)
      throw new FatalError(`the backup of network ${networkId} was made for ${difference}`)
    if (snapshot.schema !== SCHEMA_VERSION)
      throw new FatalError(
        `the backup of network ${networkId} has schema version ${snapshot.schema}, this build reads ${SCHEMA_VERSION}: restore it with the build that made it (${manifest.build})`,
      )
  }
  return shards
}

/** @throws FatalError when the L1's store would be older than what another network has polled, stores that stay included. */
async function assertFitsTheRest(
  { dataDir, networks }: Config,
  shards: readonly Shard[],
  hasher: TreeHasher,
): Promise<void> {
  const facts: ShardFacts[] = shards.map(({ snapshot }) => snapshot)
  for (const { networkId } of networks) {
    const directory = shardDirectory(dataDir, networkId)
    if (shards.some((shard) => shard.networkId === networkId) || fileBytesOf(directory) === 0) continue
    const store = openShardStoreSnapshot(directory)
    store.refresh()
    const stored = readShardFacts(store, asNetworkId(networkId), hasher)
    store.release()
    await store.close()
    if (stored !== undefined) facts.push(stored)
  }
  assertL1NotOlder(facts)
}

/** Makes the stores in a folder of their own and verifies them. @throws FatalError for the first fault. */
async function stage(
  { config, source, hasher, isDeep, asksChain }: Options,
  shards: readonly Shard[],
  staging: string,
  progress: ProgressLine,
): Promise<NetworkReport[]> {
  return stageSet({
    ...{ shards, source, staging, hasher },
    onProgress: (share, networkId, what) => progress.show(share, `network ${networkId}: ${what}`),
    check: async ({ network, networkId }: Shard, onProgress) => {
      const store = openShardStoreWriter(shardDirectory(staging, networkId))
      endFeed(store)
      await store.close()
      const report = await verifyNetwork({
        ...{ dataDir: staging, network, hasher, isDeep, asksChain, onProgress },
        networkIds: config.networks.map((one) => one.networkId),
      })
      const damaged = report.checks.find(({ outcome }) => outcome === 'damaged')
      if (damaged !== undefined)
        throw new FatalError(
          `the backup of network ${networkId} is damaged: ${damaged.name}: ${damaged.detail}`,
        )
      return report
    },
  })
}

function namesOf(networkIds: readonly number[]): string {
  return `${networkIds.length === 1 ? 'network' : 'networks'} ${networkIds.join(', ')}`
}

function tell(
  config: Config,
  from: string,
  manifest: Manifest,
  { networks, missing, left_out }: Restored,
): string {
  const lines = networks.map(({ network_id, block, checks }) => {
    const skipped = checks.filter(({ outcome }) => outcome === 'skipped')
    const place = block === null ? 'nothing indexed yet' : `block ${block}`
    const good = `network ${network_id}: ${place}, ${checks.length - skipped.length} checks passed`
    return [good, ...skipped.map(({ name, detail }) => `not checked: ${name}: ${detail}`)].join('; ')
  })
  if (missing.length > 0)
    lines.push(
      `not in the backup: ${namesOf(missing)}; \`bds run\` goes on with what is stored, or reads it from the chain`,
    )
  if (left_out.length > 0) lines.push(`not configured, left out: ${namesOf(left_out)}`)
  lines.push(`restored ${from} of ${manifest.made_at} into ${config.dataDir}`)
  return lines.join('\n')
}
