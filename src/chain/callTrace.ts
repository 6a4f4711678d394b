import { uint256Word } from '../protocol/abiWords.js'
import { eventTopics } from '../protocol/eventTopics.js'
import { decodeQuantity } from './rpcBlocks.js'

/** What a bridge call does, told by its selector or by the event that it emitted. */
type BridgeAction = 'deposit' | 'claim' | 'forwardLet'

/** A successful call into the bridge. */
export interface BridgeCall {
  /** 0x + 40 lower-case digits. */
  readonly caller: string
  readonly input: string
  /** Wei sent with it. */
  readonly value: string
}

/** An event of the bridge inside a trace, with the call that made it. */
interface TracedEvent {
  readonly action: BridgeAction
  /** Deposit count or (global) index; undefined for ForwardLET. */
  readonly key: bigint | undefined
  readonly caller: string
}

export interface BridgeTrace {
  /** In the order in which they returned: of two nested calls the inner one comes first. */
  readonly calls: readonly BridgeCall[]
  /** In the order of their logs; empty when the tracer tells no logs. */
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
  readonly calls?: unknown
  readonly logs?: unknown
}

interface FrameLog {
  readonly address?: unknown
  readonly topics?: unknown
  readonly data?: unknown
  readonly position?: unknown
}

/** Position of the identifying word in the data of each event. */
const eventKeys: Readonly<
  Record<string, { readonly action: BridgeAction; readonly keyWord: number | undefined }>
> = {
  [eventTopics.BridgeEvent]: { action: 'deposit', keyWord: 7 },
  [eventTopics.ClaimEvent]: { action: 'claim', keyWord: 0 },
  [eventTopics.ClaimEventV1]: { action: 'claim', keyWord: 0 },
  [eventTopics.ForwardLET]: { action: 'forwardLet', keyWord: undefined },
}

/**
 * Calls into the bridge that took effect: a frame that failed took everything below it back. The bridge is a proxy, so
 * its code runs in DELEGATECALL frames and its caller is the sender of the CALL that entered the proxy.
 * @param root answer of `debug_traceTransaction` with callTracer.
 * @param bridge 0x + 40 lower-case digits.
 */
export function readBridgeTrace(root: unknown, bridge: string): BridgeTrace {
  const calls: BridgeCall[] = []
  const events: TracedEvent[] = []

  const visit = (raw: unknown, outer: BridgeCall | undefined): void => {
    if (typeof raw !== 'object' || raw === null) return
    const frame = raw as Frame
    if (frame.error !== undefined && frame.error !== null && frame.error !== '') return
    const type = lower(frame.type)
    const isSameContext = type === 'delegatecall' || type === 'callcode'
    const entered = type === 'call' && lower(frame.to) === bridge ? toCall(frame) : undefined
    const context = isSameContext ? outer : entered
    const logs = list(frame.logs) as readonly FrameLog[]
    const inner = list(frame.calls)
    let nextLog = 0
    // A log at position p was emitted after p inner calls.
    const tellLogs = (before: number) => {
      for (; nextLog < logs.length && (decodeQuantity(logs[nextLog]!.position) ?? 0) <= before; nextLog++)
        tellLog(logs[nextLog]!, context)
    }
    inner.forEach((call, index) => {
      tellLogs(index)
      visit(call, context)
    })
    tellLogs(Number.POSITIVE_INFINITY)
    if (entered !== undefined) calls.push(entered)
  }

  const tellLog = (log: FrameLog, call: BridgeCall | undefined): void => {
    if (call === undefined || lower(log.address) !== bridge) return
    const known = eventKeys[lower(list(log.topics)[0])]
    if (known === undefined) return
    const { action, keyWord } = known
    const key =
      keyWord === undefined || typeof log.data !== 'string' ? undefined : uint256Word(log.data, keyWord)
    events.push({ action, key, caller: call.caller })
  }

  visit(root, undefined)
  return { calls, events }
}

function toCall(frame: Frame): BridgeCall {
  return { caller: lower(frame.from), input: lower(frame.input), value: lower(frame.value) }
}

const lower = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
