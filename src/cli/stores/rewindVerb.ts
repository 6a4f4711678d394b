import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createStatusBoard } from '../../board/statusBoard.js'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import { OperatorError } from '../../errors/operatorError.js'
import type { BlockNumber } from '../../protocol/units.js'
import { exitCodes } from '../../service/exitCodes.js'
import { applyOrThrow } from '../../shard/applyOrThrow.js'
import { planRewind } from '../../shard/position/chainPosition.js'
import { openShardWriter } from '../../shard/write/writer.js'
import { prepareStores } from '../../store/openStores.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreReader } from '../../store/shardStore.js'
import { publicJson } from '../../telemetry/visibleText.js'
import { compileMerkleModule } from '../../wasm/wasmModule.js'
import { otherFlagsHelp } from '../input/arguments.js'
import { readNumber } from '../input/readNumber.js'
import type { Verb } from '../input/verb.js'
import { oneNetwork } from './chosenNetworks.js'
import { readStoreArguments } from './storeVerb.js'

const MAX_BLOCK = 9_999_999_999

/** `bds rewind`: takes blocks back in one transaction, as a reorg does; the next run reads them again. */
export const rewind: Verb = {
  help: [
    'Usage: bds rewind --config FILE --network N --to-block B [--json] [flags]',
    '',
    'Takes back everything that network N stored above block B; the next `bds run` reads those blocks again. Stop the service',
    'before. The network goes back to the newest stored block at or below B: blocks without events are not always stored. Undo',
    'is kept for networks[].rollback_blocks; to go further back, use `bds reindex`.',
    '',
    '  --network N    the network',
    '  --to-block B   newest block that may stay',
    '  --json         one JSON document instead of a line',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const text = { type: 'string' } as const
    const { values, config, isJson } = readStoreArguments(args, { network: text, 'to-block': text })
    const network = oneNetwork(config, values)
    const block = readNumber(values, 'to-block', undefined, MAX_BLOCK)
    if (!existsSync(join(shardDirectory(config.dataDir, network.networkId), 'data.mdb')))
      throw new FatalError(`network ${network.networkId} has no data in ${config.dataDir}: nothing to rewind`)
    const { told, ...facts } = await rewindShard(config, network, block)
    console.log(isJson ? publicJson(facts) : told)
    return exitCodes.ok
  },
}

interface Rewound {
  /** What was done, in one line. */
  readonly told: string
  readonly network_id: number
  /** Newest block that is left; null at the beginning. */
  readonly block: number | null
  readonly deposits: number
  readonly claims: number
}

/** @throws FatalError when the folder is in use, OperatorError when undo does not reach `block`. */
async function rewindShard(config: Config, network: NetworkConfig, block: number): Promise<Rewound> {
  const { networkId, startBlock } = network
  const own = { ...config, networks: [network] }
  const guard = prepareStores(own)
  const reader = openShardStoreReader(shardDirectory(config.dataDir, networkId))
  const writer = openShardWriter({
    config: own,
    networkId,
    compiled: compileMerkleModule(),
    status: createStatusBoard([networkId]),
  })
  try {
    reader.refresh()
    const plan = planRewind(reader, block, startBlock)
    reader.release()
    const result = (told: string): Rewound => {
      const { deposits, claims } = writer.counts()
      return { told, network_id: networkId, block: writer.checkpoint()?.number ?? null, deposits, claims }
    }
    if (plan.type === 'nothing')
      return result(`network ${networkId} is at ${blockName(plan.checkpoint)}: nothing to take back`)
    if (plan.type === 'tooDeep') throw tooDeep(networkId, block, plan.oldest)
    // Claims are taken back with their blocks. Until these are read again, no deposit to this network is ready.
    applyOrThrow(writer, { type: 'noteCatchingUp', isCatchingUp: true })
    applyOrThrow(writer, { type: 'revertTo', ancestor: plan.ancestor as BlockNumber })
    const { deposits, claims } = writer.counts()
    const left = `${deposits} deposits and ${claims} claims are left`
    return result(`network ${networkId} is back at ${placeName(writer.checkpoint()?.number, block)}; ${left}`)
  } finally {
    await writer.close()
    await reader.close()
    await guard.close()
  }
}

function placeName(reached: number | undefined, wanted: number): string {
  if (reached === wanted) return blockName(reached)
  return reached === undefined
    ? `its beginning (no block at or below ${wanted} is stored)`
    : `block ${reached}, the newest stored block at or below ${wanted}`
}

function blockName(block: number | undefined): string {
  return block === undefined ? 'its beginning' : `block ${block}`
}

function tooDeep(networkId: number, block: number, oldest: number | undefined): OperatorError {
  const reach = oldest === undefined ? 'no block can be taken back' : `undo reaches back to block ${oldest}`
  return new OperatorError(
    `network ${networkId} can't go back to block ${block}: ${reach}; \`bds reindex --network ${networkId}\` reads everything again`,
  )
}
