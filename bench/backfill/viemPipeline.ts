import { createPublicClient, hexToBytes, http } from 'viem'
import type { FetchedRange } from '../../src/chain/chainClient.types.js'
import { LogRange } from '../../src/chain/logRange.js'
import { makeBatch } from '../../src/indexer/batches.js'
import { WindowPipeline } from '../../src/indexer/windowPipeline.js'
import { compileMerkleModule } from '../../src/merkle/wasm.js'
import type { BlockHeader, ChainEvent, IndexedBlock } from '../../src/protocol/chainEvent.js'
import { coldDecoders } from '../../src/protocol/decodeColdEvents.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import { openShardWriter } from '../../src/shard/writer.js'
import { prepareStores } from '../../src/store/openStores.js'
import { createStatusBoard } from '../../src/telemetry/statusBoard.js'
import { benchConfig } from './benchConfig.js'
import {
  type BackfillCounts,
  type BenchNetwork,
  BLOCKS_LEFT_OUT,
  type ContenderTask,
  WINDOW_BLOCKS,
} from './contenders.js'
import { networkFilter } from './networkFilter.js'

/**
 * The same pipeline and store with viem's `getLogs`, each log decoded by viem's `decodeEventLog`, as `getLogs({ event })`
 * does it; blocks, windows, batches and tables are ours.
 */
export async function viemPipeline(task: ContenderTask): Promise<BackfillCounts> {
  const config = benchConfig(task)
  const status = createStatusBoard(config.networks.map(({ networkId }) => networkId))
  const compiled = compileMerkleModule()
  const guard = prepareStores(config)
  const counts = { deposits: 0, claims: 0 }
  for (const network of task.networks) {
    const { networkId } = network
    const writer = openShardWriter({ config, networkId, compiled, status })
    const fetchRange = rangeReader(network)
    const last = network.lastBlock - BLOCKS_LEFT_OUT
    const plan = { from: 1, target: last, windowBlocks: WINDOW_BLOCKS }
    const windows = new WindowPipeline({ fetchRange }, plan, new AbortController().signal)
    for (let range = await windows.next(); range !== undefined; range = await windows.next()) {
      const { number } = range.head
      const head = { ...range.head, number: asBlockNumber(Math.max(last, number)) }
      writer.applyBlocks(makeBatch(range, range.blocks, { head, finalizedBlock: head.number }, 0))
    }
    counts.deposits += writer.counts().deposits
    counts.claims += writer.counts().claims
    await writer.close()
  }
  await guard.close()
  return counts
}

function rangeReader(network: BenchNetwork): (from: number, to: number) => Promise<FetchedRange> {
  const client = createPublicClient({ transport: http(network.rpc, { maxResponseBodySize: 64 * 2 ** 20 }) })
  const filter = networkFilter(network)
  const addresses = [...filter.keys()] as `0x${string}`[]
  const logRange = new LogRange(WINDOW_BLOCKS)
  return async (from, last) => {
    const to = Math.min(last, from + logRange.span - 1)
    const [block, logs] = await Promise.all([
      client.getBlock({ blockNumber: BigInt(to) }),
      client.getLogs({ address: addresses, fromBlock: BigInt(from), toBlock: BigInt(to) }),
    ])
    logRange.succeeded(to - from + 1, logs.length)
    const blocks: (IndexedBlock & { events: ChainEvent[] })[] = []
    let header: BlockHeader | undefined
    for (const log of logs) {
      const name = filter.get(log.address)?.get(log.topics[0] ?? '')
      if (name === undefined) continue
      const number = asBlockNumber(Number(log.blockNumber))
      const position = {
        blockNumber: number,
        logIndex: log.logIndex,
        transactionHash: hexToBytes(log.transactionHash),
      }
      const event = coldDecoders[name](log.topics, log.data, position)
      if (header?.number !== number) {
        header = {
          number,
          hash: hexToBytes(log.blockHash),
          parentHash: new Uint8Array(32),
          timestampSec: Number(log.blockTimestamp),
        }
        blocks.push({ header, events: [] })
      }
      if (event.type === 'l1InfoRoot') {
        header = { ...header, parentHash: event.previousBlockHash }
        blocks[blocks.length - 1] = { header, events: blocks.at(-1)!.events }
      }
      blocks.at(-1)!.events.push(event)
    }
    const head = {
      number: asBlockNumber(to),
      hash: hexToBytes(block.hash),
      parentHash: hexToBytes(block.parentHash),
      timestampSec: Number(block.timestamp),
    }
    return { fromBlock: asBlockNumber(from), head, blocks }
  }
}
