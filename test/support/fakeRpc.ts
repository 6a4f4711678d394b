import type { Hex } from 'viem'
import { concatHex, numberToHex } from 'viem/utils'
import type { FakeBlock, FakeNetwork, FakeTransaction } from './fakeChain.js'
import { callGetter, claimedBitMap, contractAt, type FakeState } from './fakeState.js'
import type { FakeFrame, FakeLog } from './fakeTransaction.js'

/** A chain, or a function that picks one when the fault fires. */
type BlockSource = readonly FakeBlock[] | (() => readonly FakeBlock[])
type RenderedLog = Readonly<Record<string, unknown>>

/** What an endpoint does wrong. The first ones replace its answer, the others change what it sees. */
interface Faults {
  /** A JSON-RPC error. */
  error: { readonly code: number; readonly message: string; readonly data?: unknown }
  /** An HTTP answer of any kind. */
  http: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Never answers. */
  silent: object
  /** Cuts the connection. */
  close: object
  /** Answers `value`, whatever was asked. */
  result: { readonly value: unknown }
  /** Answers only after `until`. */
  hold: { readonly until: Promise<void> }
  /** `eth_getLogs` refuses more blocks than `limit`. */
  range: { readonly limit: number; readonly message?: string }
  /** `eth_getLogs` refuses more logs than `limit`. */
  results: { readonly limit: number; readonly message?: string }
  /** Answers as if the newest `blocks` blocks did not exist yet. */
  lag: { readonly blocks: number }
  /** Answers from another chain. */
  branch: { readonly blocks: BlockSource }
  /** Logs come from another chain than headers, as from a load balancer that mixes nodes. */
  orphanLogs: { readonly blocks: BlockSource }
  /** The logs of a block, or those chosen, are left out. */
  hideLogs: {
    readonly match: { readonly blockNumber: number } | ((log: FakeLog, block: FakeBlock) => boolean)
    /** Only when they are asked for in this way. */
    readonly by?: 'range' | 'hash'
  }
  /** Contract calls are answered from the newest block, whatever block is named; with `checks: 'block'` only if there is such a block. */
  newestState: { readonly checks?: 'nothing' | 'block' }
  /** Contract calls without a receiver revert. */
  noPrograms: object
  /** Logs are numbered per transaction. */
  logIndex: object
  /** `eth_getLogs` tells some fields of each log otherwise. */
  logField: { readonly change: (log: RenderedLog) => object }
  /** `eth_getLogs` tells each log twice. */
  doubledLogs: object
  /** Headers carry an empty bloom. */
  zeroBloom: object
  /** Tags safe and finalized are odd. */
  finality: { readonly mode: 'unsupported' | 'null' | 'zero' }
}

export type FaultKind = { [T in keyof Faults]: { readonly type: T } & Faults[T] }[keyof Faults]

/** A JSON-RPC error, to be thrown. */
const rpcError = (code: number, message: string, data?: unknown) =>
  Object.assign(new Error(message), { code, data })
export type RpcError = ReturnType<typeof rpcError>

/** The chain as one request sees it. */
class FakeView {
  readonly network: FakeNetwork
  readonly blocks: readonly FakeBlock[]
  readonly logBlocks: readonly FakeBlock[]
  readonly #firing: readonly FaultKind[]

  constructor(network: FakeNetwork, firing: readonly FaultKind[]) {
    this.network = network
    this.#firing = firing
    let { blocks } = network
    for (const fault of firing) {
      if (fault.type === 'branch') blocks = blocksOf(fault.blocks)
      if (fault.type === 'lag') blocks = blocks.slice(0, Math.max(1, blocks.length - fault.blocks))
    }
    this.blocks = blocks
    this.logBlocks = blocksOf(this.fault('orphanLogs')?.blocks ?? blocks)
  }

  faults<T extends keyof Faults>(type: T) {
    return this.#firing.filter((fault): fault is Extract<FaultKind, { type: T }> => fault.type === type)
  }

  fault<T extends keyof Faults>(type: T) {
    return this.faults(type).at(-1)
  }
}

/** Answers one call as geth does, apart from the faults that fire for it. @throws RpcError */
export function answerCall(
  network: FakeNetwork,
  firing: readonly FaultKind[],
  { method, params }: { readonly method: string; readonly params: readonly unknown[] },
): unknown {
  const answer = methods[method]
  if (!answer) throw rpcError(-32601, `the method ${method} does not exist/is not available`)
  return answer(new FakeView(network, firing), params)
}

const methods: Readonly<Record<string, (view: FakeView, params: readonly unknown[]) => unknown>> = {
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
    if (!found) throw rpcError(-32000, `transaction ${String(hash)} not found`)
    return found
  },
  eth_getCode: ({ network }, [address]) => (contractAt(network, address as Hex) ? '0x01' : '0x'),
  eth_call: (view, [call, tag = 'latest']) => {
    const { to, data, input = data ?? '0x' } = call as { to?: Hex; data?: Hex; input?: Hex }
    const newest = view.fault('newestState')
    const named = newest && newest.checks !== 'block' ? view.blocks.at(-1) : blockAt(view, tag)
    if (!named) throw rpcError(-32000, 'header not found')
    const { state } = newest ? view.blocks.at(-1)! : named
    const answer =
      to === undefined ? runProgram(view, state, input) : callGetter(view.network, state, to, input)
    if (answer === undefined) throw rpcError(3, 'execution reverted', '0x')
    return answer
  },
}

/**
 * The only creation code that this node runs: a count, then words of the bridge's `claimedBitMap` at the positions
 * after it.
 */
function runProgram(view: FakeView, state: FakeState, data: Hex): Hex | undefined {
  const { network } = view
  const at = data.indexOf(`73${network.contracts.bridge.slice(2)}`)
  const begin = data.indexOf('5b600080fd') + '5b600080fd'.length
  if (view.fault('noPrograms') || at < 0 || begin < at) return undefined
  const positions = data.slice(begin).match(/.{64}/g) ?? []
  const words = positions.map((word) => claimedBitMap(network.networkId, state, BigInt(`0x${word}`)))
  return concatHex([BigInt(positions.length), ...words].map((word) => numberToHex(word, { size: 32 })))
}

function blockAt(view: FakeView, tag: unknown): FakeBlock | undefined {
  const { blocks, network } = view
  if (typeof tag === 'object' && tag !== null) {
    const { blockHash, blockNumber } = tag as { blockHash?: unknown; blockNumber?: Hex }
    return blockHash ? blocks.find((block) => block.hash === blockHash) : blockAt(view, blockNumber)
  }
  if (tag === 'latest' || tag === 'pending') return blocks.at(-1)
  if (tag === 'earliest') return blocks[0]
  if (tag === 'safe' || tag === 'finalized') {
    const lag = tag === 'safe' ? network.safeLag : network.finalizedLag
    const mode = view.fault('finality')?.mode
    if (lag === undefined || mode === 'unsupported')
      throw rpcError(-32602, `invalid argument 0: hex string without 0x prefix: "${tag}"`)
    if (mode === 'null') return undefined
    return mode === 'zero' ? blocks[0] : blocks[Math.max(0, blocks.length - 1 - lag)]
  }
  if (typeof tag === 'string' && /^0x(0|[1-9a-f][0-9a-f]*)$/.test(tag)) return blocks[Number(tag)]
  throw rpcError(-32602, `invalid argument 0: ${JSON.stringify(tag)}`)
}

function headerOf(view: FakeView, block: FakeBlock | undefined, full: boolean): unknown {
  if (!block) return null
  return {
    number: numberToHex(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: numberToHex(block.timestampSec),
    logsBloom: view.fault('zeroBloom') ? `0x${'00'.repeat(256)}` : block.logsBloom,
    transactions: block.transactions.map((each) => (full ? transactionOf(view, block, each) : each.hash)),
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
  const holes = view.faults('hideLogs').filter((fault) => fault.by === undefined || fault.by === by)
  const isHidden = (log: FakeLog, block: FakeBlock) =>
    holes.some(({ match }) =>
      typeof match === 'function' ? match(log, block) : match.blockNumber === block.number,
    )
  const changes = view.faults('logField')
  const logs = selectedBlocks(view, filter).flatMap((block) =>
    block.logs
      .filter((log) => matches(log) && !isHidden(log, block))
      .map((log) => {
        const told = renderLog(view, block, log)
        for (const { change } of changes) Object.assign(told, change(told))
        return told
      }),
  )
  for (const { limit, message } of view.faults('results'))
    if (logs.length > limit) throw rpcError(-32005, message ?? `query returned more than ${limit} results`)
  return view.fault('doubledLogs') ? logs.flatMap((log) => [log, log]) : logs
}

function selectedBlocks(view: FakeView, filter: LogFilter): readonly FakeBlock[] {
  const { logBlocks } = view
  if (filter.blockHash) {
    const block = logBlocks.find((each) => each.hash === filter.blockHash)
    if (!block) throw rpcError(-32000, 'unknown block')
    return [block]
  }
  // Numbers above the head are silently lowered to it, as on most nodes.
  const numberOf = (tag = 'latest') => (tag.startsWith('0x') ? Number(tag) : logBlocks.length - 1)
  const [from, to] = [numberOf(filter.fromBlock), numberOf(filter.toBlock)]
  for (const { limit, message } of view.faults('range'))
    if (to - from + 1 > limit) throw rpcError(-32000, message ?? `query exceeds max block range ${limit}`)
  if (from > to) throw rpcError(-32000, 'invalid block range params')
  return logBlocks.slice(from, to + 1)
}

function renderLog(view: FakeView, block: FakeBlock, log: FakeLog): RenderedLog {
  const { logIndex, transactionIndex, caller, ...rest } = log
  const first = view.fault('logIndex')
    ? block.logs.find(({ transactionHash }) => transactionHash === log.transactionHash)!.logIndex
    : 0
  return {
    ...rest,
    blockNumber: numberToHex(block.number),
    blockHash: block.hash,
    transactionIndex: numberToHex(transactionIndex),
    logIndex: numberToHex(logIndex - first),
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

function transactionOf(_: FakeView, block: FakeBlock, transaction: FakeTransaction): unknown {
  const { hash, index, from, to, input } = transaction
  return {
    ...{ hash, from, to, input, transactionIndex: numberToHex(index) },
    ...{ blockHash: block.hash, blockNumber: numberToHex(block.number) },
  }
}

function receiptOf(view: FakeView, block: FakeBlock, transaction: FakeTransaction): unknown {
  const { hash, index, from, to, logs } = transaction
  return {
    ...{ transactionHash: hash, transactionIndex: numberToHex(index), from, to },
    ...{ blockHash: block.hash, blockNumber: numberToHex(block.number), logsBloom: block.logsBloom },
    logs: logs.map((log) => renderLog(view, block, log)),
  }
}

/** callTracer's answer. Without `withLog` frames have no logs, as on nodes that do not know the option. */
function traceOf(frame: FakeFrame, options: unknown): unknown {
  const { tracer, tracerConfig } = (options ?? {}) as {
    tracer?: string
    tracerConfig?: { withLog?: boolean }
  }
  if (tracer !== 'callTracer') throw rpcError(-32602, 'only callTracer is offered')
  return renderFrame(frame, tracerConfig?.withLog === true)
}

function renderFrame({ calls, logs, ...rest }: FakeFrame, withLog: boolean): unknown {
  return {
    ...rest,
    ...(calls.length > 0 ? { calls: calls.map((each) => renderFrame(each, withLog)) } : {}),
    ...(withLog && logs.length > 0 ? { logs } : {}),
  }
}

function blocksOf(source: BlockSource): readonly FakeBlock[] {
  return typeof source === 'function' ? source() : source
}
