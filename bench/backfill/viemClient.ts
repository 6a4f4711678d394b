import { type AbiEvent, createPublicClient, http, type Log } from 'viem'
import { hexToBytes } from 'viem/utils'
import type { ChainClient, FetchedRange } from '../../src/chain/chainClient.types.js'
import { type ChainClientOptions, createChainClient } from '../../src/chain/client/chainClient.js'
import { LogRange } from '../../src/chain/endpoints/logRange.js'
import { coldDecoders } from '../../src/events/decodeColdEvents.js'
import { type EventFilter, eventFilterOf } from '../../src/events/decodeLog.js'
import {
  bridgeEventsAbi,
  claimEventV1Abi,
  globalExitRootManagerEventsAbi,
  rollupManagerEventsAbi,
} from '../../src/protocol/abis.js'
import type { BlockHeader, ChainEvent, EventPosition, IndexedBlock } from '../../src/protocol/chainEvent.js'
import { asBlockNumber, asDepositCount, asLeafCount, asNetworkId } from '../../src/protocol/units.js'
import { WINDOW_BLOCKS } from './contenders.js'

/** Windows near the head and parts of windows are left to our client: they are not what this bench measures. */
const SHORT_WINDOW = 64

type DecodedLog = Log<bigint, number, false, AbiEvent, undefined, AbiEvent[]> & {
  readonly eventName: string
  readonly args: Readonly<Record<string, unknown>>
  readonly blockTimestamp?: bigint
}

/** Our client, except that viem's `getLogs({ events })` reads the windows of history and decodes each log. */
export function createViemClient(options: ChainClientOptions): ChainClient {
  const ours = createChainClient(options)
  const { network } = options
  const transport = http(network.rpc[0]!.url, { maxResponseBodySize: 64 * 2 ** 20 })
  const client = createPublicClient({ transport })
  const filter = eventFilterOf(network)
  const address = [...filter.keys()] as `0x${string}`[]
  const events: readonly AbiEvent[] = [
    ...bridgeEventsAbi,
    ...claimEventV1Abi,
    ...globalExitRootManagerEventsAbi,
    ...(network.rollupManager === undefined ? [] : rollupManagerEventsAbi),
  ]
  const logRange = new LogRange(WINDOW_BLOCKS)
  return {
    ...ours,
    async fetchRange(from, last, signal) {
      if (last - from < SHORT_WINDOW) return ours.fetchRange(from, last, signal)
      const to = Math.min(last, from + logRange.span - 1)
      const range = { fromBlock: BigInt(from), toBlock: BigInt(to) }
      const [block, logs] = await Promise.all([
        client.getBlock({ blockNumber: range.toBlock }),
        client.getLogs({ address, events, ...range }),
      ])
      logRange.succeeded(to - from + 1, logs.length)
      const head = {
        number: asBlockNumber(to),
        hash: hexToBytes(block.hash),
        parentHash: hexToBytes(block.parentHash),
        timestampSec: Number(block.timestamp),
      }
      return { fromBlock: from, head, blocks: blocksOf(logs as unknown as DecodedLog[], filter) }
    },
  }
}

function blocksOf(logs: readonly DecodedLog[], filter: EventFilter): FetchedRange['blocks'] {
  const blocks: (IndexedBlock & { events: ChainEvent[] })[] = []
  let header: BlockHeader | undefined
  for (const log of logs) {
    const number = asBlockNumber(Number(log.blockNumber))
    const position = {
      blockNumber: number,
      logIndex: log.logIndex,
      transactionHash: hexToBytes(log.transactionHash),
    }
    const event = hotEvent(log, position) ?? coldEvent(log, position, filter)
    if (event === undefined) continue
    if (header?.number !== number) {
      header = {
        number,
        hash: hexToBytes(log.blockHash),
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
  return blocks
}

type Hex = `0x${string}`

/** Turns what viem has decoded into our events. */
function hotEvent({ eventName, args }: DecodedLog, position: EventPosition): ChainEvent | undefined {
  const bytes = (name: string) => hexToBytes(args[name] as Hex)
  const network = (name: string) => asNetworkId(args[name] as number)
  switch (eventName) {
    case 'BridgeEvent':
      return {
        type: 'deposit',
        ...position,
        leafType: args.leafType as number,
        originNetwork: network('originNetwork'),
        originAddress: bytes('originAddress'),
        destinationNetwork: network('destinationNetwork'),
        destinationAddress: bytes('destinationAddress'),
        amount: args.amount as bigint,
        metadata: bytes('metadata'),
        depositCount: asDepositCount(args.depositCount as number),
        sender: null,
      }
    case 'ClaimEvent':
      return {
        type: 'claim',
        ...position,
        generation: 'v2',
        globalIndex: args.globalIndex as bigint,
        originNetwork: network('originNetwork'),
        originAddress: bytes('originAddress'),
        destinationAddress: bytes('destinationAddress'),
        amount: args.amount as bigint,
        sender: null,
      }
    case 'UpdateL1InfoTree':
      return {
        type: 'l1InfoLeaf',
        ...position,
        mainnetExitRoot: bytes('mainnetExitRoot'),
        rollupExitRoot: bytes('rollupExitRoot'),
      }
    case 'UpdateL1InfoTreeV2':
      return {
        type: 'l1InfoRoot',
        ...position,
        l1InfoRoot: bytes('currentL1InfoRoot'),
        leafCount: asLeafCount(Number(args.leafCount)),
        previousBlockHash: hexToBytes(`0x${(args.blockhash as bigint).toString(16).padStart(64, '0')}`),
        timestampSec: Number(args.minTimestamp),
      }
    default:
      return undefined
  }
}

/** Rare events, which our decoder decodes again. */
function coldEvent(log: DecodedLog, position: EventPosition, filter: EventFilter): ChainEvent | undefined {
  const name = filter.get(log.address)?.get(log.topics[0] ?? '')
  if (name === undefined || name === 'BridgeEvent') return undefined
  return coldDecoders[name](log.topics, log.data, position)
}
