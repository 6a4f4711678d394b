import type { Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import type { FakeBlock, FakeNetwork } from './fakeChain.js'
import { FakeRpcError, type FakeView, rangeOf, rpcMethods } from './fakeRpc.js'
import type { FakeLog } from './fakeTransaction.js'
import { type LoopbackServer, serveAnswers } from './wireServer.js'

/** One JSON-RPC call as it came in. `nth` counts calls of the same method and parameters, from 0. */
export interface FakeCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly nth: number
}

/** A chain, or a function that picks one when the fault fires. */
type BlockSource = readonly FakeBlock[] | (() => readonly FakeBlock[])

/**
 * What an endpoint does wrong. `error` … `hold` replace the answer; the others change what the endpoint sees.
 *
 * - `error`: JSON-RPC error. `http`: an HTTP answer of any kind. `silent`: never answers. `close`: cuts the connection.
 * - `result`: answers `value` whatever was asked. `hold`: answers only after `until`.
 * - `range` / `results`: `eth_getLogs` refuses more blocks / more logs than `limit`.
 * - `lag`: answers as if the newest `blocks` blocks did not exist yet. `branch`: answers from another chain.
 * - `orphanLogs`: logs come from another chain than headers. `hideLogs`: the logs of a block, or those chosen, are left out.
 * - `newestState`: contract calls are answered from the newest block, whatever block is named; with `checks: 'block'` only if
 *   there is such a block.
 * - `noPrograms`: contract calls without a receiver revert.
 * - `logIndex`: logs are numbered per transaction. `logField`: `eth_getLogs` tells some fields of each log otherwise.
 *   `doubledLogs`: it tells each log twice.
 * - `zeroBloom`: headers carry an empty bloom. `finality`: tags safe and finalized are odd.
 */
export type FaultKind =
  | { readonly type: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | {
      readonly type: 'http'
      readonly status: number
      readonly headers?: Record<string, string>
      readonly body?: string
    }
  | { readonly type: 'silent' | 'close' | 'noPrograms' | 'logIndex' | 'doubledLogs' | 'zeroBloom' }
  | { readonly type: 'result'; readonly value: unknown }
  | { readonly type: 'hold'; readonly until: Promise<void> }
  | { readonly type: 'range' | 'results'; readonly limit: number; readonly message?: string }
  | { readonly type: 'lag'; readonly blocks: number }
  | { readonly type: 'branch' | 'orphanLogs'; readonly blocks: BlockSource }
  | {
      readonly type: 'hideLogs'
      readonly match: { readonly blockNumber: number } | ((log: FakeLog, block: FakeBlock) => boolean)
      readonly by?: 'range' | 'hash' | 'both'
    }
  | { readonly type: 'newestState'; readonly checks?: 'nothing' | 'block' }
  | { readonly type: 'logField'; readonly change: (log: Readonly<Record<string, unknown>>) => object }
  | { readonly type: 'finality'; readonly mode: 'unsupported' | 'null' | 'zero' }

/** When a fault fires: all given conditions must hold. */
interface FaultTrigger {
  readonly methods?: readonly string[]
  readonly when?: (call: FakeCall) => boolean
  /** The fault fires this often, then never again. */
  readonly times?: number
  /** This many matching calls pass before the fault fires. */
  readonly skip?: number
}

export type Fault = FaultKind & FaultTrigger

/** A fault that is switched on. */
class ActiveFault {
  readonly fault: Fault
  /** How often it fired. */
  fired = 0
  readonly off: () => void
  #seen = 0

  constructor(fault: Fault, all: ActiveFault[]) {
    this.fault = fault
    this.off = () => void all.splice(all.indexOf(this), 1)
    all.push(this)
  }

  /** True (and counted) when the fault fires for this call. */
  fires(call: FakeCall): boolean {
    const { methods, when, times, skip } = this.fault
    if ((methods && !methods.includes(call.method)) || (when && !when(call))) return false
    if (this.#seen++ < (skip ?? 0) || this.fired >= (times ?? Number.POSITIVE_INFINITY)) return false
    this.fired++
    return true
  }
}

/** The HTTP answer. `silent` sends none, `close` cuts the connection. */
export type FakeAnswer =
  | { readonly status: number; readonly headers: Record<string, string>; readonly body: string }
  | 'silent'
  | 'close'

interface Envelope {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

/** Thrown inside a call to replace the whole HTTP answer. */
class WireInterrupt extends Error {
  readonly answer: FakeAnswer

  constructor(answer: FakeAnswer) {
    super('the answer is replaced')
    this.answer = answer
  }
}

/**
 * One RPC endpoint of a fake network: methods, faults, call counters; no sockets. Several endpoints of one network share
 * its chain and have faults of their own.
 */
export class FakeEndpoint {
  readonly network: FakeNetwork
  /** Every call, oldest first; each call of a batch by itself. */
  readonly requests: FakeCall[] = []
  readonly #faults: ActiveFault[] = []
  #batches: { readonly limit: number; readonly refusal: FakeAnswer } | undefined
  readonly #seen = new Map<string, number>()
  #waiters: Array<{ matches: (call: FakeCall) => boolean; resolve: (call: FakeCall) => void }> = []

  constructor(network: FakeNetwork) {
    this.network = network
  }

  /** Switches a fault on. Several faults apply at once, earlier ones first. */
  fail(fault: Fault): ActiveFault {
    return new ActiveFault(fault, this.#faults)
  }

  /** Answers batches of more calls with `refusal`. */
  limitBatches(limit: number, refusal: FakeAnswer): void {
    this.#batches = { limit, refusal }
  }

  clearFaults(): void {
    this.#faults.length = 0
    this.#batches = undefined
  }

  callCount(method: string): number {
    return this.requests.filter((call) => call.method === method).length
  }

  totalCalls(): number {
    return this.requests.length
  }

  resetCounters(): void {
    this.requests.length = 0
  }

  /** The next call that matches, for tests that wait for a call instead of a time. */
  nextCall(method: string, matches: (call: FakeCall) => boolean = () => true): Promise<FakeCall> {
    const wanted = (call: FakeCall) => call.method === method && matches(call)
    return new Promise((resolve) => this.#waiters.push({ matches: wanted, resolve }))
  }

  /** Answers one HTTP body, a single call or a batch. */
  async answer(body: string): Promise<FakeAnswer> {
    try {
      const parsed = JSON.parse(body) as Envelope | Envelope[]
      if (!Array.isArray(parsed)) return ok(await this.#one(parsed))
      if (this.#batches !== undefined && parsed.length > this.#batches.limit) return this.#batches.refusal
      const answers: unknown[] = []
      for (const each of parsed) answers.push(await this.#one(each))
      return ok(answers)
    } catch (error) {
      if (error instanceof WireInterrupt) return error.answer
      if (error instanceof SyntaxError)
        return ok({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'parse error' } })
      throw error
    }
  }

  async #one({ id = null, method, params }: Envelope): Promise<unknown> {
    const call = this.#note(String(method), Array.isArray(params) ? params : [])
    try {
      return { jsonrpc: '2.0', id, result: await this.#result(call) }
    } catch (error) {
      if (!(error instanceof FakeRpcError)) throw error
      const { code, message, data } = error
      return { jsonrpc: '2.0', id, error: { code, message, data } }
    }
  }

  #note(method: string, params: readonly unknown[]): FakeCall {
    const key = `${method} ${JSON.stringify(params)}`
    const nth = this.#seen.get(key) ?? 0
    this.#seen.set(key, nth + 1)
    const call = { method, params, nth }
    this.requests.push(call)
    const called = this.#waiters.filter((each) => each.matches(call))
    this.#waiters = this.#waiters.filter((each) => !called.includes(each))
    for (const { resolve } of called) resolve(call)
    return call
  }

  async #result(call: FakeCall): Promise<unknown> {
    const firing = this.#faults.filter((fault) => fault.fires(call)).map(({ fault }) => fault)
    for (const fault of firing) {
      if (fault.type === 'hold') await fault.until
      if (fault.type === 'silent' || fault.type === 'close') throw new WireInterrupt(fault.type)
      if (fault.type === 'http') {
        const { status, headers = {}, body = '' } = fault
        throw new WireInterrupt({ status, headers, body })
      }
      if (fault.type === 'error') throw new FakeRpcError(fault.code, fault.message, fault.data)
      if (fault.type === 'result') return fault.value
    }
    const method = rpcMethods[call.method]
    if (!method) throw new FakeRpcError(-32601, `the method ${call.method} does not exist/is not available`)
    const view = viewOf(this.network, firing)
    const newest = firing.find((fault) => fault.type === 'newestState')
    if (newest !== undefined && call.method === 'eth_call') {
      if (newest.checks === 'block') method(view, call.params)
      return method(view, [call.params[0], 'latest'])
    }
    if (call.method !== 'eth_getLogs') return method(view, call.params)
    const filter = call.params[0] as { readonly blockHash?: Hex }
    const [from, to] = filter.blockHash ? [0, 0] : rangeOf(filter, view.blocks)
    for (const fault of firing)
      if (fault.type === 'range' && to - from + 1 > fault.limit)
        throw new FakeRpcError(-32000, fault.message ?? `query exceeds max block range ${fault.limit}`)
    const logs = method(view, call.params) as unknown[]
    for (const fault of firing)
      if (fault.type === 'results' && logs.length > fault.limit)
        throw new FakeRpcError(-32005, fault.message ?? `query returned more than ${fault.limit} results`)
    return firing.some(({ type }) => type === 'doubledLogs') ? logs.flatMap((log) => [log, log]) : logs
  }
}

function viewOf(network: FakeNetwork, firing: readonly FaultKind[]): FakeView {
  let { blocks } = network
  let logBlocks: FakeView['logBlocks'] | undefined
  let finality: FakeView['finality'] = 'right'
  for (const fault of firing) {
    if (fault.type === 'branch') blocks = blocksOf(fault.blocks)
    if (fault.type === 'lag') blocks = blocks.slice(0, Math.max(1, blocks.length - fault.blocks))
    if (fault.type === 'orphanLogs') logBlocks = blocksOf(fault.blocks)
    if (fault.type === 'finality') finality = fault.mode
  }
  const isOn = (type: FaultKind['type']) => firing.some((fault) => fault.type === type)
  return {
    ...{ network, blocks, logBlocks: logBlocks ?? blocks, finality },
    ...{ zeroBloom: isOn('zeroBloom'), takesPrograms: !isOn('noPrograms') },
    hides: (log, block, by) =>
      firing.some((fault) => {
        if (fault.type !== 'hideLogs' || ![undefined, 'both', by].includes(fault.by)) return false
        const { match } = fault
        return typeof match === 'function' ? match(log, block) : match.blockNumber === block.number
      }),
    render: (log, block, by) => {
      const told = { ...log }
      for (const fault of firing) {
        if (fault.type === 'logField' && by === 'filter') Object.assign(told, fault.change(log))
        if (fault.type !== 'logIndex') continue
        const first = block.logs.find(({ transactionHash }) => transactionHash === log.transactionHash)!
        told.logIndex = numberToHex(Number(log.logIndex) - first.logIndex)
      }
      return told
    },
  }
}

function blocksOf(source: BlockSource): readonly FakeBlock[] {
  return typeof source === 'function' ? source() : source
}

function ok(value: unknown): FakeAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

/** An endpoint that listens on loopback. */
export interface FakeRpcServer extends LoopbackServer {
  /** Its faults and call counters. */
  readonly endpoint: FakeEndpoint
}

/**
 * Serves one network over JSON-RPC on port 0 of loopback. Call it several times for several endpoints of one network.
 *
 *     const rpc = await serveFakeNetwork(world.network(0))
 *     rpc.endpoint.fail({ type: 'http', status: 429, times: 3 })
 *     rpc.endpoint.fail({ type: 'hideLogs', match: { blockNumber: 7 }, times: 1 })
 *     await rpc.endpoint.nextCall('eth_getLogs')
 *     await rpc.close()
 */
export async function serveFakeNetwork(network: FakeNetwork): Promise<FakeRpcServer> {
  const endpoint = new FakeEndpoint(network)
  return { endpoint, ...(await serveAnswers((body) => endpoint.answer(body))) }
}
