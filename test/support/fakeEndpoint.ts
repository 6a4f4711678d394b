import type { FakeNetwork } from './fakeChain.js'
import { quantity } from './fakeChainGetters.js'
import { FakeRpcError, type FakeView, rpcMethods } from './fakeRpc.js'
import {
  ActiveFault,
  blocksOf,
  type FakeCall,
  type Fault,
  type FaultKind,
  logMatches,
} from './fakeRpcFaults.js'

/** The HTTP answer. `silent` sends none, `close` cuts the connection. */
export type WireAnswer =
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
  readonly answer: WireAnswer

  constructor(answer: WireAnswer) {
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
  /** Calls per method so far, each call of a batch counted. */
  readonly calls = new Map<string, number>()
  /** Every call, oldest first. */
  readonly requests: FakeCall[] = []
  private readonly faults: ActiveFault[] = []
  private batches: { readonly limit: number; readonly refusal: WireAnswer } | undefined
  private readonly seen = new Map<string, number>()
  private readonly waiters: Array<{
    matches: (call: FakeCall) => boolean
    resolve: (call: FakeCall) => void
  }> = []

  constructor(network: FakeNetwork) {
    this.network = network
  }

  /** Switches a fault on. Several faults apply at once, earlier ones first. */
  fail(fault: Fault): ActiveFault {
    const active = new ActiveFault(fault, (self) => this.faults.splice(this.faults.indexOf(self), 1))
    this.faults.push(active)
    return active
  }

  /** Answers batches of more calls with `refusal`. */
  limitBatches(limit: number, refusal: WireAnswer): void {
    this.batches = { limit, refusal }
  }

  clearFaults(): void {
    this.faults.length = 0
    this.batches = undefined
  }

  callCount(method: string): number {
    return this.calls.get(method) ?? 0
  }

  totalCalls(): number {
    return this.requests.length
  }

  resetCounters(): void {
    this.calls.clear()
    this.requests.length = 0
  }

  /** The next call that matches, for tests that wait for a call instead of a time. */
  nextCall(method: string, matches: (call: FakeCall) => boolean = () => true): Promise<FakeCall> {
    const wanted = (call: FakeCall) => call.method === method && matches(call)
    return new Promise((resolve) => this.waiters.push({ matches: wanted, resolve }))
  }

  /** Answers one HTTP body, a single call or a batch. */
  async answer(body: string): Promise<WireAnswer> {
    try {
      const parsed = JSON.parse(body) as Envelope | Envelope[]
      if (!Array.isArray(parsed)) return ok(await this.one(parsed))
      if (this.batches !== undefined && parsed.length > this.batches.limit) return this.batches.refusal
      const answers: unknown[] = []
      for (const each of parsed) answers.push(await this.one(each))
      return ok(answers)
    } catch (error) {
      if (error instanceof WireInterrupt) return error.answer
      if (error instanceof SyntaxError)
        return ok({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'parse error' } })
      throw error
    }
  }

  private async one({ id = null, method, params }: Envelope): Promise<unknown> {
    const call = this.note(String(method), Array.isArray(params) ? params : [])
    try {
      const result = await this.call(call)
      return { jsonrpc: '2.0', id, result }
    } catch (error) {
      if (!(error instanceof FakeRpcError)) throw error
      const { code, message, data } = error
      return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
    }
  }

  private note(method: string, params: readonly unknown[]): FakeCall {
    const key = `${method} ${JSON.stringify(params)}`
    const nth = this.seen.get(key) ?? 0
    this.seen.set(key, nth + 1)
    const call = { method, params, nth }
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1)
    this.requests.push(call)
    for (const waiter of this.waiters.filter((each) => each.matches(call))) {
      this.waiters.splice(this.waiters.indexOf(waiter), 1)
      waiter.resolve(call)
    }
    return call
  }

  private async call(call: FakeCall): Promise<unknown> {
    const firing = this.faults.filter((fault) => fault.fires(call)).map(({ fault }) => fault)
    for (const fault of firing) {
      if (fault.type === 'hold') await fault.until
      if (fault.type === 'silent' || fault.type === 'close') throw new WireInterrupt(fault.type)
      if (fault.type === 'http')
        throw new WireInterrupt({
          status: fault.status,
          headers: fault.headers ?? {},
          body: fault.body ?? '',
        })
      if (fault.type === 'error') throw new FakeRpcError(fault.code, fault.message, fault.data)
      if (fault.type === 'result') return fault.value
    }
    const method = rpcMethods[call.method]
    if (!method) throw new FakeRpcError(-32601, `the method ${call.method} does not exist/is not available`)
    const view = this.view(firing)
    if (call.method === 'eth_getLogs') refuseWideRanges(firing, call, view)
    const newest = firing.find((fault) => fault.type === 'newestState')
    if (newest !== undefined && call.method === 'eth_call') {
      if (newest.checks === 'block') method(view, call.params)
      return method(view, [call.params[0], 'latest'])
    }
    const result = method(view, call.params)
    if (call.method !== 'eth_getLogs') return result
    const logs = result as unknown[]
    refuseManyResults(firing, logs)
    return firing.some(({ type }) => type === 'doubledLogs') ? logs.flatMap((log) => [log, log]) : logs
  }

  private view(firing: readonly FaultKind[]): FakeView {
    const { network } = this
    let { blocks } = network
    let logBlocks: FakeView['logBlocks'] | undefined
    let zeroBloom = false
    let takesPrograms = true
    let finality: FakeView['finality'] = 'right'
    const hidden: Array<Extract<FaultKind, { type: 'hideLogs' }>> = []
    for (const fault of firing) {
      if (fault.type === 'branch') blocks = blocksOf(fault.blocks)
      if (fault.type === 'lag') blocks = blocks.slice(0, Math.max(1, blocks.length - fault.blocks))
      if (fault.type === 'orphanLogs') logBlocks = blocksOf(fault.blocks)
      if (fault.type === 'zeroBloom') zeroBloom = true
      if (fault.type === 'noPrograms') takesPrograms = false
      if (fault.type === 'finality') finality = fault.mode
      if (fault.type === 'hideLogs') hidden.push(fault)
    }
    const render: FakeView['render'] = (log, block, by) => {
      const told = { ...log }
      for (const fault of firing) {
        if (fault.type === 'logField' && by === 'filter') Object.assign(told, fault.change(log))
        if (fault.type !== 'logIndex') continue
        const first = block.logs.find(({ transactionHash }) => transactionHash === log.transactionHash)!
        told.logIndex = quantity(Number(log.logIndex) - first.logIndex)
      }
      return told
    }
    const hides: FakeView['hides'] = (log, block, by) =>
      hidden.some(
        (fault) =>
          (fault.by === undefined || fault.by === 'both' || fault.by === by) &&
          logMatches(fault.match, log, block),
      )
    const sight = { network, blocks, logBlocks: logBlocks ?? blocks }
    return { ...sight, hides, render, zeroBloom, takesPrograms, finality }
  }
}

function refuseWideRanges(firing: readonly FaultKind[], call: FakeCall, view: FakeView): void {
  const filter = call.params[0] as { fromBlock?: string; toBlock?: string; blockHash?: string }
  if (filter.blockHash) return
  const numberOf = (tag = 'latest') => (tag.startsWith('0x') ? Number(tag) : view.blocks.length - 1)
  const span = numberOf(filter.toBlock) - numberOf(filter.fromBlock) + 1
  for (const fault of firing)
    if (fault.type === 'range' && span > fault.limit)
      throw new FakeRpcError(-32000, fault.message ?? `query exceeds max block range ${fault.limit}`)
}

function refuseManyResults(firing: readonly FaultKind[], logs: readonly unknown[]): void {
  for (const fault of firing)
    if (fault.type === 'results' && logs.length > fault.limit)
      throw new FakeRpcError(-32005, fault.message ?? `query returned more than ${fault.limit} results`)
}

function ok(value: unknown): WireAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
