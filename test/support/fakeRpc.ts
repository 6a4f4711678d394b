import type { Hex } from 'viem'
import { concatHex, numberToHex } from 'viem/utils'
import type { FakeBlock, FakeNetwork, FakeTransaction } from './fakeChain.js'
import { callGetter, claimedBitMap, hasCode, quantity } from './fakeChainGetters.js'
import type { FakeFrame, FakeLog } from './fakeChainTransaction.js'
import { ZERO_ADDRESS, ZERO_HASH } from './fakeChainTrees.js'

/** A JSON-RPC error as data. */
export class FakeRpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The chain as one request sees it. */
export interface FakeView {
  readonly network: FakeNetwork
  readonly blocks: readonly FakeBlock[]
  /** True for logs that the answer omits. */
  readonly hides: (log: FakeLog, block: FakeBlock, by: 'range' | 'hash') => boolean
  readonly zeroBloom: boolean
  readonly takesPrograms: boolean
  /** Logs and receipts as sent, made from those of a node that numbers logs per block. */
  readonly render: (log: RenderedLog, block: FakeBlock, by: 'filter' | 'receipt') => object
  readonly finality: 'right' | 'unsupported' | 'null' | 'zero'
  /** The chain of the logs. It is another branch than the headers' for a load balancer that mixes nodes. */
  readonly logBlocks: readonly FakeBlock[]
}

/** A log in the form of JSON-RPC. */
export interface RenderedLog extends Readonly<Record<string, unknown>> {
  readonly transactionHash: Hex
  readonly logIndex: Hex
}

type Params = readonly unknown[]
type Method = (view: FakeView, params: Params) => unknown

/** JSON-RPC methods of the fake node, as geth answers them. @throws FakeRpcError */
export const rpcMethods: Readonly<Record<string, Method>> = {
  eth_chainId: ({ network }) => quantity(network.chainId),
  net_version: ({ network }) => String(network.chainId),
  web3_clientVersion: () => 'fake-chain/1.0',
  eth_syncing: () => false,
  eth_blockNumber: ({ blocks }) => quantity(blocks.length - 1),
  eth_getBlockByNumber: (view, [tag, full]) => headerOf(view, blockAt(view, tag), full === true),
  eth_getBlockByHash: (view, [hash, full]) => {
    const block = view.blocks.find((each) => each.hash === hash)
    return headerOf(view, block, full === true)
  },
  eth_getLogs: (view, [filter]) => logsOf(view, filter as LogFilter),
  eth_getTransactionByHash: (view, [hash]) => {
    const found = findTransaction(view, hash)
    return found ? transactionOf(view, found.block, found.transaction) : null
  },
  eth_getTransactionReceipt: (view, [hash]) => {
    const found = findTransaction(view, hash)
    return found ? receiptOf(view, found.block, found.transaction) : null
  },
  eth_getBlockReceipts: (view, [tag]) => {
    const block = blockAt(view, tag)
    return block ? block.transactions.map((transaction) => receiptOf(view, block, transaction)) : null
  },
  debug_traceTransaction: (view, [hash, options]) => {
    const found = findTransaction(view, hash)
    if (!found) throw new FakeRpcError(-32000, `transaction ${String(hash)} not found`)
    return traceOf(found.transaction.trace, options)
  },
  debug_traceBlockByHash: (view, [hash, options]) => {
    const block = view.blocks.find((each) => each.hash === hash)
    if (!block) throw new FakeRpcError(-32000, `block ${String(hash)} not found`)
    return block.transactions.map(({ hash: txHash, trace }) => ({ txHash, result: traceOf(trace, options) }))
  },
  eth_getCode: (view, [address]) => (hasCode(view.network, address as Hex) ? '0x01' : '0x'),
  eth_call: (view, [call, tag]) => {
    const { to, data, input } = call as { to?: Hex; data?: Hex; input?: Hex }
    const block = blockAt(view, tag ?? 'latest')
    if (!block) throw new FakeRpcError(-32000, 'header not found')
    if (to === undefined) return runProgram(view, block, input ?? data ?? '0x')
    const answer = callGetter(view.network, block.state, to, input ?? data ?? '0x')
    if (answer === undefined) throw new FakeRpcError(3, 'execution reverted', '0x')
    return answer
  },
}

/**
 * The only creation code that this node runs: a count, then words of the bridge's `claimedBitMap` at the positions
 * after it.
 */
function runProgram({ network, ...view }: FakeView, block: FakeBlock, data: Hex): Hex {
  const bridge = network.contracts.bridge.slice(2)
  const at = data.indexOf(`73${bridge}`)
  const begin = data.indexOf('5b600080fd') + '5b600080fd'.length
  if (view.takesPrograms === false || at < 0 || begin < at)
    throw new FakeRpcError(3, 'execution reverted', '0x')
  const positions = data.slice(begin).match(/.{64}/g) ?? []
  const words = positions.map((word) => claimedBitMap(network.networkId, block.state, BigInt(`0x${word}`)))
  return concatHex([BigInt(positions.length), ...words].map((word) => numberToHex(word, { size: 32 })))
}

function blockAt(view: FakeView, tag: unknown): FakeBlock | undefined {
  const { blocks, network } = view
  if (typeof tag === 'object' && tag !== null) {
    const { blockHash, blockNumber } = tag as { blockHash?: Hex; blockNumber?: Hex }
    return blockHash ? blocks.find((block) => block.hash === blockHash) : blockAt(view, blockNumber)
  }
  if (tag === 'latest' || tag === 'pending') return blocks.at(-1)
  if (tag === 'earliest') return blocks[0]
  if (tag === 'safe' || tag === 'finalized') {
    const lag = tag === 'safe' ? network.safeLag : network.finalizedLag
    if (lag === undefined || view.finality === 'unsupported')
      throw new FakeRpcError(-32602, `invalid argument 0: hex string without 0x prefix: "${tag}"`)
    if (view.finality === 'null') return undefined
    if (view.finality === 'zero') return blocks[0]
    return blocks[Math.max(0, blocks.length - 1 - lag)]
  }
  if (typeof tag === 'string' && /^0x(0|[1-9a-f][0-9a-f]*)$/.test(tag)) return blocks[Number(tag)]
  throw new FakeRpcError(-32602, `invalid argument 0: ${JSON.stringify(tag)}`)
}

function headerOf(view: FakeView, block: FakeBlock | undefined, full: boolean): unknown {
  if (!block) return null
  return {
    number: quantity(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: quantity(block.timestampSec),
    logsBloom: view.zeroBloom ? `0x${'00'.repeat(256)}` : block.logsBloom,
    transactions: block.transactions.map((each) => (full ? transactionOf(view, block, each) : each.hash)),
    ...{ miner: ZERO_ADDRESS, difficulty: '0x0', totalDifficulty: '0x0', extraData: '0x', size: '0x200' },
    ...{ gasLimit: '0x1c9c380', gasUsed: '0x5208', baseFeePerGas: '0x7', nonce: '0x0000000000000000' },
    ...{ stateRoot: ZERO_HASH, transactionsRoot: ZERO_HASH, receiptsRoot: ZERO_HASH, mixHash: ZERO_HASH },
    ...{ sha3Uncles: ZERO_HASH, uncles: [] },
  }
}

interface LogFilter {
  readonly address?: Hex | readonly Hex[]
  readonly topics?: ReadonlyArray<Hex | readonly Hex[] | null>
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: Hex
}

function logsOf(view: FakeView, filter: LogFilter): unknown[] {
  const addresses = filter.address === undefined ? undefined : list(filter.address).map(lower)
  const topics = filter.topics?.map((topic) => (topic === null ? undefined : list(topic).map(lower)))
  const matches = (log: FakeLog) =>
    (!addresses || addresses.includes(log.address)) &&
    (topics ?? []).every((wanted, i) => !wanted || wanted.includes(log.topics[i] ?? '0x'))
  const by = filter.blockHash ? 'hash' : 'range'
  return selectedBlocks(view, filter).flatMap((block) =>
    block.logs
      .filter((log) => matches(log) && !view.hides(log, block, by))
      .map((log) => view.render(renderLog(block, log), block, 'filter')),
  )
}

function selectedBlocks(view: FakeView, filter: LogFilter): readonly FakeBlock[] {
  if (filter.blockHash) {
    const block = view.logBlocks.find((each) => each.hash === filter.blockHash)
    if (!block) throw new FakeRpcError(-32000, 'unknown block')
    return [block]
  }
  const from = numberOf(view, filter.fromBlock ?? 'latest')
  const to = numberOf(view, filter.toBlock ?? 'latest')
  if (from > to) throw new FakeRpcError(-32000, 'invalid block range params')
  return view.logBlocks.slice(from, to + 1)
}

/** Numbers above the head are silently lowered to it, as on most nodes. */
function numberOf(view: FakeView, tag: string): number {
  return tag.startsWith('0x') ? Number(tag) : blockAt(view, tag)!.number
}

function renderLog(block: FakeBlock, log: FakeLog): RenderedLog {
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: quantity(block.number),
    blockHash: block.hash,
    transactionHash: log.transactionHash,
    transactionIndex: quantity(log.transactionIndex),
    logIndex: quantity(log.logIndex),
    removed: false,
  }
}

function findTransaction(
  view: FakeView,
  hash: unknown,
): { block: FakeBlock; transaction: FakeTransaction } | undefined {
  for (const block of view.blocks)
    for (const transaction of block.transactions) if (transaction.hash === hash) return { block, transaction }
  return undefined
}

function transactionOf(view: FakeView, block: FakeBlock, transaction: FakeTransaction): unknown {
  return {
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    hash: transaction.hash,
    transactionIndex: quantity(transaction.index),
    from: transaction.from,
    to: transaction.to,
    input: transaction.input,
    chainId: quantity(view.network.chainId),
    ...{ type: '0x2', nonce: '0x0', value: '0x0', gas: '0x30d40', gasPrice: '0x7', maxFeePerGas: '0x7' },
    ...{ maxPriorityFeePerGas: '0x0', accessList: [], v: '0x0', r: '0x1', s: '0x1', yParity: '0x0' },
  }
}

function receiptOf(view: FakeView, block: FakeBlock, transaction: FakeTransaction): unknown {
  return {
    transactionHash: transaction.hash,
    transactionIndex: quantity(transaction.index),
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    from: transaction.from,
    to: transaction.to,
    logs: transaction.logs.map((log) => view.render(renderLog(block, log), block, 'receipt')),
    logsBloom: block.logsBloom,
    ...{ status: '0x1', type: '0x2', contractAddress: null, cumulativeGasUsed: '0x5208' },
    ...{ gasUsed: '0x5208', effectiveGasPrice: '0x7' },
  }
}

/** callTracer's answer. Without `withLog` frames have no logs, as on nodes that do not know the option. */
function traceOf(frame: FakeFrame, options: unknown): unknown {
  const { tracer, tracerConfig } = (options ?? {}) as {
    tracer?: string
    tracerConfig?: { withLog?: boolean }
  }
  if (tracer !== 'callTracer') throw new FakeRpcError(-32602, 'only callTracer is offered')
  return renderFrame(frame, tracerConfig?.withLog === true)
}

function renderFrame(frame: FakeFrame, withLog: boolean): unknown {
  const { calls, logs, ...rest } = frame
  return {
    ...rest,
    ...(calls.length > 0 ? { calls: calls.map((each) => renderFrame(each, withLog)) } : {}),
    ...(withLog && logs.length > 0 ? { logs } : {}),
  }
}

function list<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T]
}

const lower = (value: Hex): Hex => value.toLowerCase() as Hex
