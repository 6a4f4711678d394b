import type { Hex } from 'viem'
import { concatHex, numberToHex } from 'viem/utils'
import type { FakeBlock, FakeNetwork, FakeTransaction } from './fakeChain.js'
import { callGetter, claimedBitMap, contractAt } from './fakeState.js'
import type { FakeFrame, FakeLog } from './fakeTransaction.js'
import { ZERO_ADDRESS, ZERO_HASH } from './naiveTree.js'

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
  /** The chain of the logs. It is another branch than the headers' for a load balancer that mixes nodes. */
  readonly logBlocks: readonly FakeBlock[]
  /** True for logs that the answer omits. */
  readonly hides: (log: FakeLog, block: FakeBlock, by: 'range' | 'hash') => boolean
  /** A log as sent, made from that of a node that numbers logs per block. */
  readonly render: (log: RenderedLog, block: FakeBlock, by: 'filter' | 'receipt') => object
  readonly zeroBloom: boolean
  readonly takesPrograms: boolean
  readonly finality: 'right' | 'unsupported' | 'null' | 'zero'
}

/** A log in the form of JSON-RPC. */
export interface RenderedLog extends Readonly<Record<string, unknown>> {
  readonly transactionHash: Hex
  readonly logIndex: Hex
}

type Method = (view: FakeView, params: readonly unknown[]) => unknown

/** JSON-RPC methods of the fake node, as geth answers them. @throws FakeRpcError */
export const rpcMethods: Readonly<Record<string, Method>> = {
  eth_chainId: ({ network }) => numberToHex(network.chainId),
  web3_clientVersion: () => 'fake-chain/1.0',
  eth_blockNumber: ({ blocks }) => numberToHex(blocks.length - 1),
  eth_getBlockByNumber: (view, [tag, full]) => headerOf(view, blockAt(view, tag), full === true),
  eth_getBlockByHash: (view, [blockHash, full]) =>
    headerOf(view, blockAt(view, { blockHash }), full === true),
  eth_getLogs: (view, [filter]) => logsOf(view, filter as LogFilter),
  eth_getTransactionByHash: (view, [hash]) => findTransaction(view, hash, transactionOf),
  eth_getTransactionReceipt: (view, [hash]) => findTransaction(view, hash, receiptOf),
  eth_getBlockReceipts: (view, [tag]) => {
    const block = blockAt(view, tag)
    return block ? block.transactions.map((transaction) => receiptOf(view, block, transaction)) : null
  },
  debug_traceTransaction: (view, [hash, options]) => {
    const found = findTransaction(view, hash, (_, __, { trace }) => traceOf(trace, options))
    if (!found) throw new FakeRpcError(-32000, `transaction ${String(hash)} not found`)
    return found
  },
  eth_getCode: ({ network }, [address]) => (contractAt(network, address as Hex) ? '0x01' : '0x'),
  eth_call: (view, [call, tag]) => {
    const { to, data, input = data ?? '0x' } = call as { to?: Hex; data?: Hex; input?: Hex }
    const block = blockAt(view, tag ?? 'latest')
    if (!block) throw new FakeRpcError(-32000, 'header not found')
    const answer =
      to === undefined ? runProgram(view, block, input) : callGetter(view.network, block.state, to, input)
    if (answer === undefined) throw new FakeRpcError(3, 'execution reverted', '0x')
    return answer
  },
}

/**
 * The only creation code that this node runs: a count, then words of the bridge's `claimedBitMap` at the positions
 * after it.
 */
function runProgram({ network, takesPrograms }: FakeView, block: FakeBlock, data: Hex): Hex | undefined {
  const at = data.indexOf(`73${network.contracts.bridge.slice(2)}`)
  const begin = data.indexOf('5b600080fd') + '5b600080fd'.length
  if (!takesPrograms || at < 0 || begin < at) return undefined
  const positions = data.slice(begin).match(/.{64}/g) ?? []
  const words = positions.map((word) => claimedBitMap(network.networkId, block.state, BigInt(`0x${word}`)))
  return concatHex([BigInt(positions.length), ...words].map((word) => numberToHex(word, { size: 32 })))
}

function blockAt(view: FakeView, tag: unknown): FakeBlock | undefined {
  const { blocks, network, finality } = view
  if (typeof tag === 'object' && tag !== null) {
    const { blockHash, blockNumber } = tag as { blockHash?: unknown; blockNumber?: Hex }
    return blockHash ? blocks.find((block) => block.hash === blockHash) : blockAt(view, blockNumber)
  }
  if (tag === 'latest' || tag === 'pending') return blocks.at(-1)
  if (tag === 'earliest') return blocks[0]
  if (tag === 'safe' || tag === 'finalized') {
    const lag = tag === 'safe' ? network.safeLag : network.finalizedLag
    if (lag === undefined || finality === 'unsupported')
      throw new FakeRpcError(-32602, `invalid argument 0: hex string without 0x prefix: "${tag}"`)
    if (finality === 'null') return undefined
    return finality === 'zero' ? blocks[0] : blocks[Math.max(0, blocks.length - 1 - lag)]
  }
  if (typeof tag === 'string' && /^0x(0|[1-9a-f][0-9a-f]*)$/.test(tag)) return blocks[Number(tag)]
  throw new FakeRpcError(-32602, `invalid argument 0: ${JSON.stringify(tag)}`)
}

function headerOf(view: FakeView, block: FakeBlock | undefined, full: boolean): unknown {
  if (!block) return null
  return {
    number: numberToHex(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: numberToHex(block.timestampSec),
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
  /** Nothing, one value or several, as filters have them. */
  const isAmong = (wanted: Hex | readonly Hex[] | null | undefined, told: Hex | undefined): boolean =>
    !wanted || [wanted].flat().some((each) => each.toLowerCase() === told)
  const matches = (log: FakeLog) =>
    isAmong(filter.address, log.address) &&
    (filter.topics ?? []).every((wanted, i) => isAmong(wanted, log.topics[i]))
  const by = filter.blockHash ? 'hash' : 'range'
  return selectedBlocks(view, filter).flatMap((block) =>
    block.logs
      .filter((log) => matches(log) && !view.hides(log, block, by))
      .map((log) => view.render(renderLog(block, log), block, 'filter')),
  )
}

function selectedBlocks({ logBlocks }: FakeView, filter: LogFilter): readonly FakeBlock[] {
  if (filter.blockHash) {
    const block = logBlocks.find((each) => each.hash === filter.blockHash)
    if (!block) throw new FakeRpcError(-32000, 'unknown block')
    return [block]
  }
  const [from, to] = rangeOf(filter, logBlocks)
  if (from > to) throw new FakeRpcError(-32000, 'invalid block range params')
  return logBlocks.slice(from, to + 1)
}

/** First and last block of a filter. Numbers above the head are silently lowered to it, as on most nodes. */
export function rangeOf({ fromBlock, toBlock }: LogFilter, blocks: readonly FakeBlock[]): [number, number] {
  const numberOf = (tag = 'latest') => (tag.startsWith('0x') ? Number(tag) : blocks.length - 1)
  return [numberOf(fromBlock), numberOf(toBlock)]
}

function renderLog(block: FakeBlock, { logIndex, transactionIndex, ...log }: FakeLog): RenderedLog {
  return {
    ...log,
    blockNumber: numberToHex(block.number),
    blockHash: block.hash,
    transactionIndex: numberToHex(transactionIndex),
    logIndex: numberToHex(logIndex),
    removed: false,
  }
}

function findTransaction(
  view: FakeView,
  hash: unknown,
  show: (view: FakeView, block: FakeBlock, transaction: FakeTransaction) => unknown,
): unknown {
  for (const block of view.blocks)
    for (const each of block.transactions) if (each.hash === hash) return show(view, block, each)
  return null
}

function transactionOf(view: FakeView, block: FakeBlock, transaction: FakeTransaction): unknown {
  const { hash, index, from, to, input } = transaction
  return {
    ...{ hash, from, to, input, transactionIndex: numberToHex(index) },
    ...{ blockHash: block.hash, blockNumber: numberToHex(block.number) },
    ...{ chainId: numberToHex(view.network.chainId), type: '0x2', nonce: '0x0', value: '0x0' },
    ...{ gas: '0x30d40', gasPrice: '0x7', maxFeePerGas: '0x7', maxPriorityFeePerGas: '0x0' },
    ...{ accessList: [], v: '0x0', r: '0x1', s: '0x1', yParity: '0x0' },
  }
}

function receiptOf(view: FakeView, block: FakeBlock, transaction: FakeTransaction): unknown {
  const { hash, index, from, to, logs } = transaction
  return {
    ...{ transactionHash: hash, transactionIndex: numberToHex(index), from, to },
    ...{ blockHash: block.hash, blockNumber: numberToHex(block.number), logsBloom: block.logsBloom },
    logs: logs.map((log) => view.render(renderLog(block, log), block, 'receipt')),
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

function renderFrame({ calls, logs, ...rest }: FakeFrame, withLog: boolean): unknown {
  return {
    ...rest,
    ...(calls.length > 0 ? { calls: calls.map((each) => renderFrame(each, withLog)) } : {}),
    ...(withLog && logs.length > 0 ? { logs } : {}),
  }
}
