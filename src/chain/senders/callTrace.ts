import { eventTopics } from '../../events/eventTopics.js'
import { uint256Word } from '../../protocol/abiWords.js'
import { decodeQuantity } from '../rpc/rpcBlocks.js'
import { ADDRESS } from './readTransactions.js'

/** What a bridge call does. */
type BridgeAction = 'deposit' | 'claim' | 'forwardLet'

/** A successful call into the bridge. */
export interface BridgeCall {
  /** 0x + 40 lower-case digits; undefined when the trace contradicts itself. */
  readonly caller: string | undefined
  readonly input: string
  /** Wei sent with it. */
  readonly value: string
}

/** An event of the bridge inside a trace, with the call that made it. */
interface TracedEvent {
  readonly action: BridgeAction
  /** Deposit count or (global) index; undefined for ForwardLET. */
  readonly key: bigint | undefined
  readonly caller: string | undefined
}

export interface BridgeTrace {
  /** In the order in which they returned: of two nested calls, the inner one is first. */
  readonly calls: readonly BridgeCall[]
  /** In the order of their logs; empty when the tracer does not show logs. */
  readonly events: readonly TracedEvent[]
}

/** A frame of geth's callTracer, unchecked. */
interface Frame {
  readonly type?: unknown
  readonly from?: unknown
  readonly to?: unknown
  readonly input?: unknown
  readonly value?: unknown
  readonly error?: unknown
  readonly revertReason?: unknown
  readonly calls?: unknown
  readonly logs?: unknown
}

interface FrameLog {
  readonly address?: unknown
  readonly topics?: unknown
  readonly data?: unknown
  readonly position?: unknown
}

/** For each event: what the call does, and which word of the data identifies the deposit or claim. */
const eventKeys: Readonly<
  Record<string, { readonly action: BridgeAction; readonly keyWord: number | undefined }>
> = {
  [eventTopics.BridgeEvent]: { action: 'deposit', keyWord: 7 },
  [eventTopics.ClaimEvent]: { action: 'claim', keyWord: 0 },
  [eventTopics.ClaimEventV1]: { action: 'claim', keyWord: 0 },
  [eventTopics.ForwardLET]: { action: 'forwardLet', keyWord: undefined },
}

/** The context in which the frames below a frame run. */
interface Context {
  /** The address whose storage is in use, which is the caller of calls made from here; undefined when the trace does not say. */
  readonly address: string | undefined
  /** The frames are below a DELEGATECALL: the code that runs is another account's. */
  readonly isBorrowedCode: boolean
  /** The call that entered the bridge, when the context is the bridge. */
  readonly bridgeCall: BridgeCall | undefined
}

/** zkSync's system contracts forward a call under its original caller. On an EVM, no contract at such an address calls others. */
const SYSTEM_CONTRACT = /^0x0{36}[0-9a-f]{4}$/

/**
 * Reads the calls into the bridge that took effect: a frame that failed took back everything below it. The bridge is a proxy.
 * So its code runs in DELEGATECALL frames, and its caller is the sender of the CALL that entered the proxy.
 * @param root answer of `debug_traceTransaction` with callTracer.
 * @param bridge 0x + 40 lower-case digits.
 */
export function readBridgeTrace(root: unknown, bridge: string): BridgeTrace {
  const calls: BridgeCall[] = []
  const events: TracedEvent[] = []

  const visit = (raw: unknown, outer: Context | undefined): void => {
    if (typeof raw !== 'object' || raw === null) return
    const frame = raw as Frame
    if (isPresent(frame.error) || isPresent(frame.revertReason)) return
    const type = lower(frame.type)
    const isSameContext = type === 'delegatecall' || type === 'callcode'
    const entered =
      type === 'call' && lower(frame.to) === bridge ? toCall(frame, callerOf(frame, outer)) : undefined
    const context: Context =
      isSameContext && outer !== undefined
        ? { ...outer, isBorrowedCode: true }
        : { address: address(frame.to), isBorrowedCode: false, bridgeCall: entered }
    const logs = list(frame.logs) as readonly FrameLog[]
    const inner = list(frame.calls)
    let nextLog = 0
    // A log at position p was emitted after p inner calls.
    const addLogs = (before: number) => {
      for (; nextLog < logs.length && (decodeQuantity(logs[nextLog]!.position) ?? 0) <= before; nextLog++)
        addLog(logs[nextLog]!, context)
    }
    inner.forEach((call, index) => {
      addLogs(index)
      visit(call, context)
    })
    addLogs(Number.POSITIVE_INFINITY)
    if (entered !== undefined) calls.push(entered)
  }

  const addLog = (log: FrameLog, { bridgeCall, isBorrowedCode }: Context): void => {
    if (bridgeCall === undefined) return
    // Below a DELEGATECALL some tracers name the account whose code runs as the emitter.
    if (!isBorrowedCode && lower(log.address) !== bridge) return
    const known = eventKeys[lower(list(log.topics)[0])]
    if (known === undefined) return
    const { action, keyWord } = known
    const key =
      keyWord === undefined || typeof log.data !== 'string' ? undefined : uint256Word(log.data, keyWord)
    events.push({ action, key, caller: bridgeCall.caller })
  }

  visit(root, undefined)
  return { calls, events }
}

/**
 * The caller of a frame. Below a DELEGATECALL it is the context's address, whatever `from` says: some tracers print the account
 * whose code runs, or the transaction's sender. Elsewhere `from` and the context must agree. @returns undefined if they don't.
 */
function callerOf(frame: Frame, outer: Context | undefined): string | undefined {
  const printed = address(frame.from)
  const within = outer?.address
  if (within === undefined || (SYSTEM_CONTRACT.test(within) && printed !== undefined)) return printed
  return outer!.isBorrowedCode || printed === undefined || printed === within ? within : undefined
}

function toCall(frame: Frame, caller: string | undefined): BridgeCall {
  return { caller, input: lower(frame.input), value: lower(frame.value) }
}

const lower = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

function address(raw: unknown): string | undefined {
  const text = lower(raw)
  return ADDRESS.test(text) ? text : undefined
}
