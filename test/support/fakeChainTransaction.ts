import type { Hex } from 'viem'
import { numberToHex, slice, stringToHex } from 'viem/utils'
import { encodeCall, encodeEvent, type FakeEventName } from './fakeChainAbi.js'
import { keccak, ZERO_ADDRESS } from './fakeChainTrees.js'

export interface FakeLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly logIndex: number
  readonly transactionIndex: number
  readonly transactionHash: Hex
}

/** One frame of geth's callTracer, with its logs (`withLog`). */
export interface FakeFrame {
  type: 'CALL' | 'DELEGATECALL' | 'STATICCALL'
  from: Hex
  to: Hex
  input: Hex
  value: Hex
  gas: Hex
  gasUsed: Hex
  output: Hex
  error?: string
  logs: Array<{ address: Hex; topics: readonly Hex[]; data: Hex; position: Hex; index: Hex }>
  calls: FakeFrame[]
}

export interface FakeContracts {
  readonly bridge: Hex
  readonly globalExitRootManager: Hex
  readonly rollupManager: Hex
}

/** What a block provides to the transactions that are built in it. */
export interface TransactionContext {
  readonly contracts: FakeContracts
  readonly logs: FakeLog[]
  /** Refuses logs of a transaction that is not the block's newest one. */
  assertOpen(index: number): void
}

/** The n-th externally owned account of every fake chain. */
export function account(n: number): Hex {
  return slice(keccak(stringToHex(`account ${n}`)), 12)
}

/** The n-th contract of a user: not a bridge contract. */
export function userContract(n: number): Hex {
  return slice(keccak(stringToHex(`contract ${n}`)), 12)
}

/** The n-th token. */
export function tokenAddress(n: number): Hex {
  return slice(keccak(stringToHex(`token ${n}`)), 12)
}

/** Implementation behind a proxy: bridge contracts answer calls through a DELEGATECALL to it, as on real chains. */
function implementationOf(proxy: Hex): Hex {
  return slice(keccak(proxy, stringToHex('implementation')), 12)
}

/** Calls, logs and trace of one transaction: the mechanics under the bridge's own operations. */
export class FakeTransactionFrames {
  readonly hash: Hex
  readonly index: number
  readonly from: Hex
  protected readonly context: TransactionContext
  /** Frames that are not closed yet, outermost first. */
  private readonly stack: FakeFrame[] = []
  private top: FakeFrame | undefined

  constructor(context: TransactionContext, options: { hash: Hex; index: number; from: Hex; to?: Hex }) {
    this.context = context
    this.hash = options.hash
    this.index = options.index
    this.from = options.from
    if (options.to !== undefined) {
      this.top = frame('CALL', this.from, options.to, encodeCall('run', ['0x']))
      this.stack.push(this.top)
    }
  }

  get to(): Hex {
    return this.root().to
  }

  get input(): Hex {
    return this.root().input
  }

  /** The transaction as callTracer returns it. */
  trace(): FakeFrame {
    return this.root()
  }

  /** The caller of the next call. */
  protected get caller(): Hex {
    return this.stack.at(-1)?.to ?? this.from
  }

  /** Runs `body` inside a call of another contract, which becomes the caller of the calls in `body`. */
  through(contract: Hex, body: () => void): void {
    this.inFrame(frame('CALL', this.caller, contract, encodeCall('run', ['0x'])), body)
  }

  /** A log of a contract other than the bridge's. */
  noise(address: Hex = tokenAddress(0)): void {
    const transfer = () =>
      this.emit(address, 'transfer', { from: this.from, to: ZERO_ADDRESS, value: BigInt(this.index + 1) })
    this.inFrame(frame('CALL', this.caller, address, encodeCall('run', ['0x'])), transfer)
  }

  /** A reverted call of a bridge contract inside the transaction: it is in the trace and leaves no log. */
  revertedCall(target: Hex, input: Hex): void {
    const reverted = frame('CALL', this.caller, target, input)
    reverted.error = 'execution reverted'
    this.inFrame(reverted, () => {})
  }

  /** Runs `body` in the implementation behind a proxy. */
  protected inContract(target: Hex, input: Hex, body: () => void): void {
    this.inFrame(frame('CALL', this.caller, target, input), () =>
      this.inFrame(frame('DELEGATECALL', target, implementationOf(target), input), body),
    )
  }

  /** @returns log index of the new log. */
  protected emit(address: Hex, name: FakeEventName, args: Record<string, unknown>): number {
    return this.emitRaw(address, encodeEvent(name, args))
  }

  /**
   * A log of any shape, for logs that no contract here emits.
   * @returns its log index.
   */
  emitRaw(address: Hex, event: { topics: readonly Hex[]; data: Hex }): number {
    this.context.assertOpen(this.index)
    const current = this.stack.at(-1)
    if (current === undefined) throw new Error('a log needs a call: name `to` or make an operation first')
    const logIndex = this.context.logs.length
    const { topics, data } = event
    const transaction = { transactionIndex: this.index, transactionHash: this.hash }
    this.context.logs.push({ address, topics, data, logIndex, ...transaction })
    const position = numberToHex(current.calls.length)
    current.logs.push({ address, topics, data, position, index: numberToHex(logIndex) })
    return logIndex
  }

  private inFrame(next: FakeFrame, body: () => void): void {
    const parent = this.stack.at(-1)
    if (parent) parent.calls.push(next)
    else if (this.top)
      throw new Error('a direct transaction makes one call: name a contract as `to` for more')
    else this.top = next
    this.stack.push(next)
    body()
    this.stack.pop()
  }

  private root(): FakeFrame {
    return this.top ?? frame('CALL', this.from, account(0), '0x')
  }
}

function frame(type: FakeFrame['type'], from: Hex, to: Hex, input: Hex): FakeFrame {
  const cost = { value: '0x0', gas: '0x30d40', gasUsed: '0x5208' } as const
  return { type, from, to, input, ...cost, output: '0x', logs: [], calls: [] }
}
