import type { CommandLog } from '../cluster/commandLog.js'
import type { Config, NetworkConfig } from '../config/config.types.js'
import { FatalError } from '../errors/chainErrors.js'
import { OperatorError } from '../errors/operatorError.js'
import { COMMAND_CODEC_VERSION } from '../log/commandCodec.js'
import type { TreeHasher } from '../merkle/hasher.js'
import { encodeHex } from '../protocol/hex.js'
import { findLogId } from '../replica/logFollower.js'
import { assertL1NotOlder, decodeManifest, MANIFEST_NAME, type Manifest } from '../snapshot/manifest.js'
import { assertOneDisk, clearStaging, type StagedShard, stageSet } from '../snapshot/stagedSet.js'
import { restoreDirectory } from '../store/shardDirectory.js'
import { differenceFrom, SCHEMA_VERSION } from '../store/storeIdentity.js'
import { systemClock } from '../telemetry/clocks.js'
import type { Logger } from '../telemetry/logger.js'
import { checkStaged } from './checkStaged.js'
import type { SnapshotSets, VerifiedSet } from './snapshotSets.js'

export interface StageNewestOptions {
  readonly config: Config
  readonly sets: SnapshotSets
  readonly hasher: TreeHasher
  readonly logger: Logger
  readonly signal: AbortSignal
  openLog(networkId: number): Promise<CommandLog>
  /** Name of the instance whose own sets come last: its stores are what is doubted. */
  readonly doubted?: string
}

/**
 * Makes stores of the newest set that is whole, verifies, and can be followed on by the log, in the folder of restores: `placeStaged` puts
 * them in place. A set that is not good is left out with a line in the log.
 * @returns the set; undefined: there is no such set. @throws OperatorError when the servers are silent; the signal's reason.
 */
export async function stageNewest(
  options: StageNewestOptions,
  networkIds: readonly number[],
): Promise<VerifiedSet | undefined> {
  const { config, sets, logger, signal, doubted } = options
  assertOneDisk(config.dataDir, networkIds)
  const found = (await sets.list(signal)).filter(({ sequences }) => networkIds.every((id) => id in sequences))
  const isOwn = ({ maker }: VerifiedSet): boolean => maker === doubted
  await clearStaging(config.dataDir)
  for (const set of [...found.filter((each) => !isOwn(each)), ...found.filter(isOwn)])
    try {
      await stageOne(options, networkIds, set)
      logger.info('a snapshot is taken over', { set: set.id, networks: networkIds })
      return set
    } catch (error) {
      await clearStaging(config.dataDir)
      if (signal.aborted || !(error instanceof FatalError || error instanceof OperatorError)) throw error
      logger.error('a snapshot is left out', { set: set.id, error })
    }
  return undefined
}

async function stageOne(
  options: StageNewestOptions,
  networkIds: readonly number[],
  set: VerifiedSet,
): Promise<void> {
  const { config, sets, hasher, signal, openLog } = options
  const source = sets.source(set.id, signal)
  const manifest = decodeManifest(await source.get(MANIFEST_NAME), `snapshot ${set.id}`)
  if (manifest.command_version > COMMAND_CODEC_VERSION)
    throw new FatalError(
      `snapshot ${set.id} has commands of version ${manifest.command_version}, this build reads ${COMMAND_CODEC_VERSION}`,
    )
  assertL1NotOlder(manifest.networks)
  const shards: StagedShard[] = []
  for (const network of config.networks.filter(({ networkId }) => networkIds.includes(networkId)))
    shards.push(await fitting(manifest, network, await openLog(network.networkId), signal))
  const staging = restoreDirectory(config.dataDir)
  await stageSet({
    ...{ shards, source, staging, hasher },
    check: ({ networkId }) => checkStaged(staging, networkId, hasher),
    onProgress: () => signal.throwIfAborted(),
  })
}

/** @throws FatalError for a snapshot of another deployment, or one that the log can't follow on. */
async function fitting(
  { networks }: Manifest,
  network: NetworkConfig,
  log: CommandLog,
  signal: AbortSignal,
): Promise<StagedShard> {
  const { networkId } = network
  const what = `the snapshot of network ${networkId}`
  const snapshot = networks.find(({ network_id }) => network_id === networkId)
  if (snapshot === undefined) throw new FatalError(`${what} is missing`)
  const difference = differenceFrom(network, snapshot.identity)
  if (difference !== undefined) throw new FatalError(`${what} was made for ${difference}`)
  if (snapshot.schema !== SCHEMA_VERSION)
    throw new FatalError(`${what} has schema version ${snapshot.schema}, this build reads ${SCHEMA_VERSION}`)
  const sequence = snapshot.log?.sequence ?? 0
  const { first, last } = await log.bounds(signal)
  if (sequence + 1 < first || sequence > last)
    throw new FatalError(`${what} stands at ${sequence} of its log, which has ${first} to ${last}`)
  const logId = await findLogId(log, systemClock, signal)
  if (logId !== undefined && encodeHex(logId) !== snapshot.log?.id)
    throw new FatalError(`${what} is of log ${snapshot.log?.id}, not of ${encodeHex(logId)}`)
  return { networkId, snapshot }
}
