import type { FakeNetwork } from './fakeChain.js'
import { answerCall, type FaultKind, type RpcError } from './fakeRpc.js'
import { type LoopbackServer, serveAnswers } from './wireServer.js'

/** One JSON-RPC call as it came in. `nth` counts calls of the same method and parameters, from 0. */
export interface FakeCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly nth: number
}

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
interface ActiveFault {
  readonly fault: Fault
  /** How many calls matched. */
  seen: number
  /** How often it fired. */
  fired: number
  readonly off: () => void
}

/** The HTTP answer. `silent` sends none, `close` cuts the connection. */
export type FakeAnswer =
  | { readonly status: number; readonly headers: Record<string, string>; readonly body: string }
  | 'silent'
  | 'close'

interface Envelope {
  readonly id?: unknown
  readonly method: string
  readonly params?: readonly unknown[]
}

/** What becomes of one call. `instead` replaces the whole HTTP answer. */
type Outcome =
  | { readonly instead: FakeAnswer }
  | { readonly result: unknown }
  | { readonly error: Pick<RpcError, 'code' | 'message' | 'data'> }

/**
 * One RPC endpoint of a fake network: methods, faults, call counters; no sockets. Several endpoints of one network share
 * its chain and have faults of their own.
 */
export class FakeEndpoint {
  readonly network: FakeNetwork
  /** Every call, oldest first; each call of a batch by itself. */
  readonly requests: FakeCall[] = []
  #faults: readonly ActiveFault[] = []
  #batches: { readonly limit: number; readonly refusal: FakeAnswer } | undefined
  readonly #seen = new Map<string, number>()
  #waiters: Array<{ matches: (call: FakeCall) => boolean; resolve: (call: FakeCall) => void }> = []

  constructor(network: FakeNetwork) {
    this.network = network
  }

  /** Switches a fault on. Several faults apply at once, earlier ones first. */
  fail(fault: Fault): ActiveFault {
    const off = () => {
      this.#faults = this.#faults.filter((each) => each !== active)
    }
    const active: ActiveFault = { fault, seen: 0, fired: 0, off }
    this.#faults = [...this.#faults, active]
    return active
  }

  /** Answers batches of more calls with `refusal`. */
  limitBatches(limit: number, refusal: FakeAnswer): void {
    this.#batches = { limit, refusal }
  }

  clearFaults(): void {
    this.#faults = []
    this.#batches = undefined
  }

  callCount(method: string): number {
    return this.requests.filter((call) => call.method === method).length
  }

  /** The next call that matches, for tests that wait for a call instead of a time. */
  nextCall(method: string, matches: (call: FakeCall) => boolean = () => true): Promise<FakeCall> {
    const wanted = (call: FakeCall) => call.method === method && matches(call)
    return new Promise((resolve) => this.#waiters.push({ matches: wanted, resolve }))
  }

  /** Answers one HTTP body, a single call or a batch. */
  async answer(body: string): Promise<FakeAnswer> {
    const asked = JSON.parse(body) as Envelope | readonly Envelope[]
    const calls = [asked].flat()
    if (this.#batches !== undefined && calls.length > this.#batches.limit) return this.#batches.refusal
    const replies: object[] = []
    for (const { id = null, method, params = [] } of calls) {
      const outcome = await this.#outcome(this.#note(method, params))
      if ('instead' in outcome) return outcome.instead
      replies.push({ jsonrpc: '2.0', id, ...outcome })
    }
    const reply = JSON.stringify(Array.isArray(asked) ? replies : replies[0])
    return { status: 200, headers: { 'content-type': 'application/json' }, body: reply }
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

  async #outcome(call: FakeCall): Promise<Outcome> {
    const firing = this.#faults.filter((active) => isFiring(active, call)).map(({ fault }) => fault)
    for (const fault of firing) {
      if (fault.type === 'hold') await fault.until
      if (fault.type === 'silent' || fault.type === 'close') return { instead: fault.type }
      if (fault.type === 'http') return { instead: { headers: {}, body: '', ...fault } }
      if (fault.type === 'error') return { error: errorOf(fault) }
      if (fault.type === 'result') return { result: fault.value }
    }
    try {
      return { result: answerCall(this.network, firing, call) }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      return { error: errorOf(error as RpcError) }
    }
  }
}

const errorOf = ({ code, message, data }: Extract<Fault, { type: 'error' }> | RpcError) => ({
  code,
  message,
  data,
})

/** True (and counted) when the fault fires for this call. */
function isFiring(active: ActiveFault, call: FakeCall): boolean {
  const { methods, when, times = Number.POSITIVE_INFINITY, skip = 0 } = active.fault
  if ((methods && !methods.includes(call.method)) || (when && !when(call))) return false
  if (active.seen++ < skip || active.fired >= times) return false
  active.fired++
  return true
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
